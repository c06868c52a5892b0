"""Judgement of threads by GitHub's records: how many comments there are, who wrote them, when they were recorded."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from shared.lock.codec import Ack
from shared.lock.comment import read_ack
from shared.models import Comment

from .epochs import Lines, Move
from .github import EPOCH, is_engine
from .identity import NEW, OLD
from .people import NONCE
from .records import Text

if TYPE_CHECKING:
    from .schedule import Schedule

RECORDED_SECONDS = 120.0
"""Seconds after its post of a comment in which an agent that ends may not have recorded it."""


_ACTIVE = re.compile(r"epoch=([0-9]+) nonce=([0-9a-f]{32}) state=active")
"""The epoch that a text shows as active."""

_KEY = re.compile(r"\bmac=([0-9a-f]{8})\.")
"""The key by which a comment is signed."""


def _ack(id: int, text: Text, number: int) -> Ack | None:
    return read_ack(Comment(id, number, text.author, text.body, EPOCH, EPOCH)) if is_engine(text.author) else None


def _posted(schedule: Schedule) -> Iterator[tuple[int, Text, Ack]]:
    """Every comment of the present layout that was posted: thread, first text, ACK."""
    for number, thread in schedule.github.threads.items():
        for versions in thread:
            id = versions.first.id if versions.first is not None else 0
            text = schedule.github.authors[id][0]
            ack = _ack(id, text, number)
            if ack is not None and ack.shared and not ack.opaque:
                yield number, text, ack


def too_many(schedule: Schedule) -> Iterator[str]:
    """Yield comments beyond one for each kind and thread, and one more for each that was deleted or lost its answer."""
    made: dict[tuple[int, str], list[Text]] = {}
    for number, text, ack in _posted(schedule):
        made.setdefault((number, ack.key.kind), []).append(text)
    acts = [what for _, what, _ in schedule.journal.acts]
    more = acts.count("ACK deleted by a person") + acts.count("ACK edited by a person")
    more += len(schedule.journal.unheard_posts) + acts.count("opaque")
    for (number, kind), texts in made.items():
        schedule.journal.counts["comments of the lock"] += len(texts)
        allowed = 1 + more + _unrecorded(schedule, texts) + _unseen(schedule, texts)
        allowed += len({text.author.id for text in texts}) - 1
        allowed += _unknown(texts)
        if len(texts) > allowed:
            yield f"#{number} has {len(texts)} comments of the {kind}, {allowed} can be explained"


def _unrecorded(schedule: Schedule, texts: list[Text]) -> int:
    """Return the number of comments whose agent ended or was paused before it could record them."""
    return sum(_hindered(schedule, text) for text in texts)


def _hindered(schedule: Schedule, text: Text) -> bool:
    ended = schedule.journal.ended.get(text.sender, float("inf"))
    troubled = schedule.journal.troubled.get(text.sender, ())
    return any(0 <= at - text.sent_at <= RECORDED_SECONDS for at in (ended, *troubled))


def _unseen(schedule: Schedule, texts: list[Text]) -> int:
    """Return the number of comments posted so soon after another that reads may not have shown that one yet."""
    reach = schedule.world.lag + schedule.world.commit + RECORDED_SECONDS
    return sum(later.sent_at - one.at <= reach for one, later in itertools.pairwise(texts))


def key_that_signed(text: Text) -> str:
    """The id of the key that signed a text; empty for none."""
    return found[1] if (found := _KEY.search(text.body)) else ""


def _unknown(texts: list[Text]) -> int:
    """Return the number of comments of agents without the key that signed the comment before."""
    keys = [key_that_signed(text) for text in texts]
    return sum((one, later) == (NEW.id, OLD.id) for one, later in itertools.pairwise(keys))


def losers(schedule: Schedule, lines: Lines) -> Iterator[str]:
    """Yield each ACK that was written into a comment before the fence was moved to it."""
    began = {move.fence.nonce: move.push for line in lines.values() for move in reversed(line) if move.begins}
    for number, thread in schedule.github.threads.items():
        for id in (versions.first.id for versions in thread if versions.first is not None):
            for text in schedule.github.authors[id]:
                ack = _ack(id, text, number)
                if text.sender and ack is not None and ack.shared and not ack.opaque and ack.state == "active":
                    push = began.get(ack.nonce)
                    if push is None or push.at > text.sent_at:
                        yield f"{schedule.journal.agents[text.sender]} wrote into comment {id} without the fence"


MOST_POSTS = 2
"""Posts in vain after which an agent works without a comment."""


def unrecorded_payments(schedule: Schedule, lines: Lines) -> Iterator[str]:
    """Yield each paid run before the fence names the comment that shows who pays, unless GitHub took none."""
    for ref, line in lines.items():
        if schedule.journal.ref_acts:
            continue  # a fence that was put back names what it named then
        for move in line:
            fence, before = move.fence, move.before
            pays = before is not None and before.nonce == fence.nonce and fence.paid_runs > before.paid_runs
            if fence.posted > MOST_POSTS:
                yield f"{ref} at {move.push.at:.0f}: a comment is asked for the {fence.posted}th time"
            if pays and fence.format > 1 and not fence.ack_id and fence.posted < MOST_POSTS:
                yield f"{ref} at {move.push.at:.0f}: {fence.agent} pays, and the fence names no comment"


def unrecorded_posts(schedule: Schedule, lines: Lines) -> Iterator[str]:
    """Yield each post before the fence says so: the successor must know how many posts were made in vain."""
    moves: dict[str, list[Move]] = {}
    for line in lines.values():
        for move in line:
            moves.setdefault(move.fence.nonce, []).append(move)
    for sent in schedule.journal.sent:
        found = _ACTIVE.search(str(sent.detail)) if sent.name == "posts" else None
        before = [move for move in moves.get(found[2], ()) if move.push.at <= sent.at] if found else []
        if before and before[-1].push.sender == sent.sender and not before[-1].fence.posted:
            yield f"{schedule.journal.agents[sent.sender]} posts at {sent.at:.0f}, and its fence does not say so"


def overwritten_epochs(schedule: Schedule) -> Iterator[str]:
    """Yield each write over a higher epoch by an agent that has read that the higher one has begun."""
    read: dict[tuple[int, object], list[tuple[float, int]]] = {}
    for seen in schedule.journal.seen:
        comment = seen.value if seen.name == "reads comment" else None
        if isinstance(comment, Comment) and is_engine(comment.author) and (found := _ACTIVE.search(comment.body)):
            read.setdefault((seen.sender, comment.id), []).append((seen.heard, int(found[1])))
    for id, texts in schedule.github.authors.items():
        for text in texts:
            found = _ACTIVE.search(text.body)
            known = read.get((text.sender, id), ()) if found and _holds(schedule, text, found[2]) else ()
            if found and any(heard < text.sent_at and epoch > int(found[1]) for heard, epoch in known):
                agent = schedule.journal.agents[text.sender]
                yield f"{agent} wrote epoch {found[1]} into comment {id} over a higher one"


def _holds(schedule: Schedule, text: Text, nonce: str) -> bool:
    """Return whether its sender claimed or held as that epoch; a mere record of a command leaves the lock as read."""
    holds, claims = schedule.journal.holds, schedule.journal.claims
    times = [(hold.begun, hold.ended) for hold in holds if hold.sender == text.sender and hold.nonce == nonce]
    times += [(claim.at, claim.ended) for claim in claims if claim.sender == text.sender]
    return any(begun <= text.sent_at <= ended for begun, ended in times)


def untidied(schedule: Schedule, lines: Lines) -> Iterator[str]:
    """Yield each comment that still says "active" after its agent took over a comment that its fence did not name."""
    journal = schedule.journal
    if schedule.world.special.own_edits or len({one.keys for one in journal.identities.values()}) > 1:
        return
    for ref, line in lines.items():
        for move in line:
            push, fence = move.push, move.fence
            texts = schedule.github.authors.get(fence.ack_id, ())
            named = move.before is None or move.before.ack_id == fence.ack_id
            if named or fence.format == 1 or move.begins or not texts or fence.nonce in texts[0].body:
                continue
            if journal.identities[push.sender].first_format or _hindered_in(schedule, push.sender, push.sent_at):
                continue
            yield from _left_active(schedule, ref, move)


def _left_active(schedule: Schedule, ref: str, move: Move) -> Iterator[str]:
    push = move.push
    read = [
        seen
        for seen in schedule.journal.seen
        if seen.sender == push.sender and seen.name == "reads the comments of" and seen.heard <= push.sent_at
    ]
    for comment in read[-1].value if read and isinstance(read[-1].value, tuple) else ():
        if comment.id == move.fence.ack_id or not is_engine(comment.author):
            continue
        ack = read_ack(comment)
        if ack is None or ack.opaque or ack.state != "active" or ack.key.ref != ref or ack.nonce.startswith(NONCE):
            continue
        texts = schedule.github.authors[comment.id]
        if (
            schedule.github.is_there(comment.id)
            and all(is_engine(text.author) for text in texts)
            and not any(text.sender == push.sender and text.at >= push.at for text in texts)
        ):
            yield f"{ref} at {push.at:.0f}: comment {comment.id} goes on saying that {ack.agent} is at work"


def _hindered_in(schedule: Schedule, sender: int, since: float) -> bool:
    """Return whether a process ended or was paused so soon that it may not have come to it."""
    until = since + RECORDED_SECONDS
    ended = schedule.journal.ended.get(sender, float("inf")) <= until
    return ended or any(since <= at <= until for at in schedule.journal.troubled.get(sender, ()))
