"""Judging threads by what GitHub wrote down: how many comments there are, who wrote them, when they were recorded."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from shared.lock.codec import Ack, read_ack
from shared.models import Comment

from .epochs import Lines
from .github import EPOCH, is_engine
from .identity import NEW, OLD
from .records import Text

if TYPE_CHECKING:
    from .schedule import Schedule

RECORDED_SECONDS = 120.0
"""So long after it has posted a comment an agent that ends may not have recorded it."""


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
    """One comment for each kind and thread, and one more for each that was deleted or of which nobody was told."""
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
    """Comments whose agent ended or stood still before it could record them."""
    return sum(_hindered(schedule, text) for text in texts)


def _hindered(schedule: Schedule, text: Text) -> bool:
    ended = schedule.journal.ended.get(text.sender, float("inf"))
    troubled = schedule.journal.troubled.get(text.sender, ())
    return any(0 <= at - text.sent_at <= RECORDED_SECONDS for at in (ended, *troubled))


def _unseen(schedule: Schedule, texts: list[Text]) -> int:
    """Comments that were posted so soon after another one that reads may not have shown that one yet."""
    reach = schedule.world.lag + schedule.world.commit + RECORDED_SECONDS
    return sum(later.sent_at - one.at <= reach for one, later in itertools.pairwise(texts))


def _unknown(texts: list[Text]) -> int:
    """Comments of agents that could not go on with the one before, because they do not have the key that signed it."""
    keys = [found[1] if (found := _KEY.search(text.body)) else "" for text in texts]
    return sum((one, later) == (NEW.id, OLD.id) for one, later in itertools.pairwise(keys))


def losers(schedule: Schedule, lines: Lines) -> Iterator[str]:
    """Whoever writes an ACK into a comment has moved the fence to it before."""
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
"""After so many comments that were asked for in vain an agent works without one."""


def unrecorded_payments(schedule: Schedule, lines: Lines) -> Iterator[str]:
    """No run is paid for before the fence names the comment that shows who pays, unless GitHub took none."""
    for ref, line in lines.items():
        if schedule.journal.ref_acts:
            continue  # a fence that was put back names what it named then
        for move in line:
            fence, before = move.fence, move.before
            pays = before is not None and before.nonce == fence.nonce and fence.runs > before.runs
            if pays and fence.format > 1 and not fence.ack_id and fence.posted < MOST_POSTS:
                yield f"{ref} at {move.push.at:.0f}: {fence.agent} pays, and the fence names no comment"
