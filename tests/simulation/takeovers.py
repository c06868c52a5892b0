"""Judgement of takeovers by the requests on the wire: how long the successor looked, what it saw and respected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shared.lock.fence import Fence
from shared.models import Comment

from .epochs import Lines, Move, hidden, looked_at
from .github import is_engine
from .journal import Seen
from .records import Push
from .worlds import REQUEST_SECONDS

if TYPE_CHECKING:
    from .schedule import Schedule

TIMEOUT, CERTAIN, LOOK_AGAIN = 1800.0, 2700.0, 61.0
OPAQUE = 1200.0
"""Least seconds for which a comment counts that cannot be read, or not checked."""

SLACK = 3.0
"""Dates are whole seconds, and a look takes some of them."""

OF_COMMENTS = frozenset({"reads comment", "reads the comments of"})
"""Readings that may show a sign of life where the fence shows none."""


def takeovers(schedule: Schedule, lines: Lines) -> Iterator[str]:
    """Yield each takeover of an unreleased epoch without two looks that found no sign of life for long enough."""
    for ref, line in lines.items():
        for index, move in enumerate(line):
            if is_takeover(schedule, line, index):
                schedule.journal.counts["take-over judged on the wire"] += 1
                yield from _judged(schedule, ref, line, move)
            if move.push.before is None and move.fence.format > 1 and not _dates_are_wrong(schedule):
                yield from _without_fence(schedule, ref, line[:index], move)


def is_takeover(schedule: Schedule, line: list[Move], index: int) -> bool:
    """Return whether a move begins after, or frees, an epoch of another agent that had not released it."""
    move, agents = line[index], schedule.journal.agents
    before = move.before
    if not (move.begins or move.frees) or before is None or move.fence.format == 1 or before.free:
        return False
    began = next((one.push.sender for one in line[:index] if one.fence.nonce == before.nonce), 0)
    return agents[move.push.sender] != before.agent and began != move.push.sender


def _dates_are_wrong(schedule: Schedule) -> bool:
    special = schedule.world.special
    return bool(special.wrong_dates or special.burst)


def _judged(schedule: Schedule, ref: str, line: list[Move], move: Move) -> Iterator[str]:
    push, before = move.push, move.before
    if before is None:
        return
    name = f"{ref} at {push.at:.0f}: {schedule.journal.agents[push.sender]} took over from {before.agent}"
    stamp = stamped(line[: line.index(move)], before.nonce)
    if before.format == 1:
        yield from _of_first_format(schedule, name, push, before, stamp)
        return
    looks = [seen for seen in _heard(schedule, push.sender, push.sent_at) if _shows(seen, ref, push.before)]
    if not looks:
        yield f"{name} without a look at the fence"
        return
    put_back = any(oid == push.before for at, moved, oid in schedule.journal.ref_acts if moved == ref)
    first = looks[0].at
    if not put_back and not _dates_are_wrong(schedule):
        first = _first_that_looked_dead(schedule, push, looks, stamp)
    if looks[-1].at - first < LOOK_AGAIN - SLACK:
        yield f"{name} {looks[-1].at - first:.0f} s after the first look that could find it dead"
    if put_back or looks[-1].at - stamp >= CERTAIN - SLACK:
        return  # put back: its stamp is of another day
    if looks[-1].at - stamp < TIMEOUT - SLACK:
        yield f"{name} {looks[-1].at - stamp:.0f} s after its last stamp"
        return
    yield from _by_comments(schedule, name, push, before)


def _first_that_looked_dead(schedule: Schedule, push: Push, looks: list[Seen], stamp: float) -> float:
    """Return when the first look at this fence ended that could find it dead: some end long after they have begun."""
    since = max(looks[0].at, stamp + TIMEOUT - SLACK)
    ends = [look.ended for look in schedule.journal.looks if look.sender == push.sender and look.ended <= push.sent_at]
    heard = _heard(schedule, push.sender, push.sent_at)
    answers = [seen.heard for seen in heard if seen in looks or seen.name in OF_COMMENTS]
    return min((at for at in (*ends, *answers) if at >= since), default=looks[-1].at)


def stamped(line: list[Move], nonce: str) -> float:
    """Return when an epoch last sent a fence with a new time; a move that only records a comment keeps the old."""
    return max((at for at in stamps(line, nonce)), default=0.0)


def stamps(line: list[Move], nonce: str) -> list[float]:
    """Return the times at which an epoch sent fences with a new time in them."""
    of_it = [move for move in line if move.fence.nonce == nonce and not move.frees]
    return [
        one.push.sent_at for one in of_it if one.begins or one.before is None or one.before.stamped != one.fence.stamped
    ]


def _by_comments(schedule: Schedule, name: str, push: Push, before: Fence) -> Iterator[str]:
    sender, until = push.sender, push.sent_at
    read = [one for one in _heard(schedule, sender, until) if one.name in OF_COMMENTS]
    if not read:
        yield f"{name} before its time was certainly over, and had read no comment"
        return
    if not any(_tells_of(seen, before) for seen in read):
        yield f"{name} before its time was certainly over, and was shown no comment of it"
    shown = read[-1].at - schedule.world.lag - schedule.world.commit
    lives = [text.at for text in schedule.github.authors.get(before.ack_id, ()) if _of(text.body, before.nonce)]
    last = max((at for at in lives if at <= shown), default=0.0)
    if read[-1].at - last < TIMEOUT - SLACK:
        yield f"{name} {read[-1].at - last:.0f} s after an edit that it could read"


def _tells_of(seen: Seen, fence: Fence) -> bool:
    """Return whether an answer showed the comment of this fence."""
    comments = seen.value if isinstance(seen.value, tuple) else (seen.value,)
    shown = [one for one in comments if isinstance(one, Comment)]
    return any(one.id == fence.ack_id or f"nonce={fence.nonce}" in one.body for one in shown)


def _of_first_format(schedule: Schedule, name: str, push: Push, before: Fence, stamp: float) -> Iterator[str]:
    """Yield an error unless the epoch's own ACK freed it, or time did; an ACK of another nonce means nothing."""
    read = [one for one in _heard(schedule, push.sender, push.sent_at) if one.name in OF_COMMENTS]
    texts = schedule.github.authors.get(before.ack_id, [])
    if any(not is_engine(text.author) for text in texts) or not read:
        if not read:
            yield f"{name}, of the first format, and had read no comment"
        return
    shown = read[-1].at - schedule.world.lag - schedule.world.commit
    seen = [text for text in texts if text.at <= shown]
    gone = any(what == "ACK deleted by a person" and id == before.ack_id for _, what, id in schedule.journal.acts)
    freed = any(f"nonce={before.nonce}" in text.body and "state=active" not in text.body for text in texts)
    last = max([stamp, *(text.at for text in seen)])
    if not gone and not freed and read[-1].at - last < TIMEOUT - SLACK:
        yield f"{name}, of the first format, {read[-1].at - last:.0f} s after a sign of life"


def _of(body: str, nonce: str) -> bool:
    return f"nonce={nonce} state=active" in body


def _heard(schedule: Schedule, sender: int, until: float) -> list[Seen]:
    return [seen for seen in schedule.journal.seen if seen.sender == sender and seen.heard <= until]


def _shows(seen: Seen, ref: str, oid: str | None) -> bool:
    if seen.name != "reads fence" or seen.detail != ref:
        return False
    return isinstance(seen.value, tuple) and seen.value[0] == oid


# Where there is no fence


def _without_fence(schedule: Schedule, ref: str, earlier: list[Move], move: Move) -> Iterator[str]:
    """Yield an error if a chain begins while a comment holds the item: a live holder's, or an unreadable one."""
    journal, push = schedule.journal, move.push
    name = f"{ref} at {push.at:.0f}: {journal.agents[push.sender]} began a chain"
    seen = looked_at(schedule, move) - schedule.world.lag - schedule.world.commit - 2 * REQUEST_SECONDS
    if ref.startswith("refs/ack/worker"):
        unread = ((at, id) for at, what, id in journal.acts if what == "opaque" and id)
        at, id = next(unread, (push.at, 0))  # a later one does not name it, and so has lost to it
        touched = any(what.startswith("ACK ") and of == id for _, what, of in journal.acts)
        if at <= seen and push.sent_at - at < OPAQUE - SLACK and not touched:
            yield f"{name} {push.sent_at - at:.0f} s after comment {id}, which it cannot read"
    if not earlier or hidden(schedule):
        return
    last = max(earlier, key=lambda one: one.order)
    mine = journal.identities[push.sender].nonces
    if last.fence.format == 1 or any(
        journal.identities[one.push.sender].nonces is mine for one in earlier if one.fence.nonce == last.fence.nonce
    ):
        return
    written = [text for texts in schedule.github.authors.values() for text in texts if is_engine(text.author)]
    texts = [text for text in written if last.fence.nonce in text.body]
    lives = [text.at for text in texts if _of(text.body, last.fence.nonce) and text.at <= seen]
    over = any(not _of(text.body, last.fence.nonce) for text in texts)
    if lives and not over and push.sent_at - max(lives) < TIMEOUT - SLACK:
        yield f"{name} {push.sent_at - max(lives):.0f} s after an edit of the one before that it could read"
