"""Judging who holds by what went over the wire: take-overs, holders at a time, runs paid for at a time, old proofs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shared.lock.codec import read_ack
from shared.lock.record import Fence

from .epochs import Lines, Move
from .github import is_engine
from .journal import Hold, Seen
from .records import Push
from .worlds import REQUEST_SECONDS, World

if TYPE_CHECKING:
    from .schedule import Schedule

TIMEOUT, CERTAIN, SELF_FENCE, LOOK_AGAIN = 1800.0, 2700.0, 1500.0, 61.0
SLACK = 3.0
"""Dates are whole seconds, and a look takes some of them."""

LEAVING_SECONDS = 1.0
"""Who lets go on a person's order is free a moment before it has noticed so itself."""

OF_COMMENTS = frozenset({"reads comment", "reads the comments of"})
"""Readings that may show a sign of life where the fence shows none."""

EFFECTS = frozenset({"adds label", "removes label", "opens a pull request for", "merges"})
"""Writes that no server refuses to a holder that is none any more."""


# Take-overs


def takeovers(schedule: Schedule, lines: Lines) -> Iterator[str]:
    """Whoever begins after an epoch that was not let go of has looked twice, and found no sign of life for so long."""
    for ref, line in lines.items():
        for index, move in enumerate(line):
            if _is_takeover(schedule, line, index):
                schedule.journal.counts["take-over judged on the wire"] += 1
                yield from _judged(schedule, ref, line, move)


def _is_takeover(schedule: Schedule, line: list[Move], index: int) -> bool:
    move, agents = line[index], schedule.journal.agents
    before = move.before
    if not (move.begins or move.frees) or before is None or move.fence.format == 1 or before.free:
        return False
    began = next((one.push.sender for one in line[:index] if one.fence.nonce == before.nonce), 0)
    return agents[move.push.sender] != before.agent and began != move.push.sender


def _judged(schedule: Schedule, ref: str, line: list[Move], move: Move) -> Iterator[str]:
    push, before = move.push, move.before
    if before is None:
        return
    name = f"{ref} at {push.at:.0f}: {schedule.journal.agents[push.sender]} took over from {before.agent}"
    if before.format == 1:
        yield from _of_first_format(schedule, name, push, before, _stamped(line[: line.index(move)], before.nonce))
        return
    looks = [seen for seen in _heard(schedule, push.sender, push.sent_at) if _shows(seen, ref, push.before)]
    if not looks:
        yield f"{name} without a look at the fence"
        return
    if looks[-1].at - looks[0].at < LOOK_AGAIN - SLACK:
        yield f"{name} {looks[-1].at - looks[0].at:.0f} s after its first look"
    stamp = _stamped(line[: line.index(move)], before.nonce)
    if any(oid == push.before for at, moved, oid in schedule.journal.ref_acts if moved == ref):
        return  # put back: its stamp is of another day
    if looks[-1].at - stamp >= CERTAIN - SLACK:
        return
    if looks[-1].at - stamp < TIMEOUT - SLACK:
        yield f"{name} {looks[-1].at - stamp:.0f} s after its last stamp"
        return
    yield from _by_comments(schedule, name, push, before)


def _stamped(line: list[Move], nonce: str) -> float:
    """When an epoch last sent a fence with a new time in it: who only records a comment keeps the old one."""
    of_it = [move for move in line if move.fence.nonce == nonce and not move.frees]
    stamps = [
        one.push.sent_at for one in of_it if one.begins or one.before is None or one.before.stamped != one.fence.stamped
    ]
    return max(stamps, default=0.0)


def _by_comments(schedule: Schedule, name: str, push: Push, before: Fence) -> Iterator[str]:
    sender, until = push.sender, push.sent_at
    read = [one for one in _heard(schedule, sender, until) if one.name in OF_COMMENTS]
    if not read:
        yield f"{name} before its time was certainly over, and had read no comment"
        return
    shown = read[-1].at - schedule.world.lag - schedule.world.commit
    lives = [text.at for text in schedule.github.authors.get(before.ack_id, ()) if _of(text.body, before.nonce)]
    last = max((at for at in lives if at <= shown), default=0.0)
    if read[-1].at - last < TIMEOUT - SLACK:
        yield f"{name} {read[-1].at - last:.0f} s after an edit that it could read"


def _of_first_format(schedule: Schedule, name: str, push: Push, before: Fence, stamp: float) -> Iterator[str]:
    """Its own ACK frees it, and nothing else does but time; one of another nonce says nothing."""
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


# At a time


def two_holders(schedule: Schedule, world: World) -> Iterator[str]:
    """Where no request is lost and nothing stands still, nobody acts as a holder beside another."""
    holds = schedule.journal.holds
    for index, one in enumerate(holds):
        for other in holds[index + 1 :]:
            overlap = min(one.ended, other.ended) - max(one.begun, other.begun)
            if one.ref != other.ref or one.sender == other.sender or overlap <= LEAVING_SECONDS:
                continue
            schedule.journal.counts["two holders for a while"] += 1
            if not world.trouble and not _excused(schedule, one, other):
                yield f"{one.agent} and {other.agent} for {overlap:.1f} s"


def paid_twice(schedule: Schedule, world: World) -> Iterator[str]:
    """No two runs for one item are paid for at a time, unless an agent stood still or people moved what it rests on."""
    runs = schedule.journal.paid
    for index, one in enumerate(runs):
        for other in runs[index + 1 :]:
            overlap = min(one.ended, other.ended) - max(one.began, other.began)
            if one.ref != other.ref or one.sender == other.sender or overlap <= 0:
                continue
            schedule.journal.counts["runs paid for at a time"] += 1
            if not world.pause and not _moved_by_people(schedule):
                who = f"{schedule.journal.agents[one.sender]} and {schedule.journal.agents[other.sender]}"
                yield f"{who} pay for {overlap:.1f} s at a time"


def _moved_by_people(schedule: Schedule) -> bool:
    """Whether a person moved the ref, or copied a state directory: what a lock rests on."""
    acts = {what for _, what, _ in schedule.journal.acts}
    return bool(schedule.journal.ref_acts) or "state directory copied" in acts


def _excused(schedule: Schedule, one: Hold, other: Hold) -> bool:
    return _moved_by_people(schedule)


# Proofs


def proofs(schedule: Schedule, lines: Lines) -> Iterator[str]:
    """Nothing is written by who has not been shown its own fence for longer than the self-fence."""
    shown = _shown(schedule, lines)
    for sent in schedule.journal.sent:
        if sent.name in EFFECTS:
            last = max((at for at in shown.get(sent.sender, ()) if at <= sent.at), default=float("-inf"))
            if sent.at - last >= SELF_FENCE + REQUEST_SECONDS:
                agent = schedule.journal.agents[sent.sender]
                yield f"{agent} {sent.name} {sent.detail} {sent.at - last:.0f} s after a proof"
    for first, second in schedule.journal.looks:
        if first != "reads fence" or "comment" not in second:
            yield f"a look begins with: {first}, {second}"


def _shown(schedule: Schedule, lines: Lines) -> dict[int, list[float]]:
    """When each process moved its fence, or was shown it."""
    owners = {move.fence.nonce: move.push.sender for line in lines.values() for move in line if move.begins}
    shown: dict[int, list[float]] = {}
    for line in lines.values():
        for move in line:
            shown.setdefault(move.push.sender, []).append(move.push.at)
    for seen in schedule.journal.seen:
        if seen.name == "reads fence" and isinstance(seen.value, tuple):
            nonce = seen.value[1].partition("Nonce: ")[2][:32]
            if owners.get(nonce) == seen.sender:
                shown.setdefault(seen.sender, []).append(seen.at)
    return shown


def last_active(schedule: Schedule) -> Iterator[str]:
    """At rest no comment of this layout says that somebody is at work."""
    if schedule.finished_at < 0 or (schedule.fence is None and schedule.journal.ref_acts):
        return  # without its fence nobody knows of it any more
    accounts = {agent.identity.account.id for agent in schedule.live}
    for number, thread in schedule.github.threads.items():
        for versions in thread:
            comment = versions.now
            if comment is None or number in schedule.github.gone or comment.author.id not in accounts:
                continue
            ack = read_ack(comment)
            if ack is not None and ack.shared and not ack.opaque and ack.state == "active":
                yield f"comment {comment.id} of #{number} says since {comment.updated_at:%H:%M} that {ack.agent} works"
