"""Judgement of holders' acts by the answers before them: the last fence shown must be its own, and recent."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from shared.lock.fence import Fence, read_fence

from .epochs import Lines, Move
from .github import nonce_of, released
from .journal import Sent
from .takeovers import CERTAIN, LOOK_AGAIN, stamps
from .worlds import REQUEST_SECONDS

if TYPE_CHECKING:
    from .schedule import Schedule

SELF_FENCE = 1500.0

LOOKS_SECONDS = 2.0
"""Seconds after a refused push within which its sender has read the fence; its heartbeat goes on meanwhile."""

EFFECTS = frozenset({"adds label", "removes label", "opens a pull request for", "merges"})
"""Writes that no server refuses to a former holder."""

_ACTIVE = re.compile(r"nonce=([0-9a-f]{32}) state=active")


class Wire:
    """Data for judging a schedule's writes: who began each epoch, who acted for which, what was shown."""

    def __init__(self, schedule: Schedule, lines: Lines) -> None:
        self.schedule = schedule
        self.lines = lines
        self.began: dict[str, Move] = {}
        for line in lines.values():
            self.began |= {move.fence.nonce: move for move in line if move.begins}
        self.acting: dict[int, list[tuple[float, float, str]]] = {}
        """Times between which each process claimed, or held by an epoch."""
        for claim in schedule.journal.claims:
            self.acting.setdefault(claim.sender, []).append((claim.at, claim.ended, ""))
        for hold in schedule.journal.holds:
            self.acting.setdefault(hold.sender, []).append((hold.begun, hold.ended, hold.nonce))
        self.writes = [(sent, self._nonce_of(sent)) for sent in schedule.journal.sent]
        """Each write, with its epoch."""

    def _nonce_of(self, sent: Sent) -> str:
        """Return the epoch of a write, if its sender has begun it and not ended it by then; else nothing.

        A label and a merge name none: they are of the epoch for which their sender acts.
        """
        journal = self.schedule.journal
        if sent.name in EFFECTS:
            holds = (hold for hold in journal.holds if hold.sender == sent.sender)
            return next((hold.nonce for hold in holds if hold.begun <= sent.at <= hold.ended), "")
        if sent.name == "pushes":
            nonce = self._moves_on(sent)
        elif sent.name in {"posts", "edits"}:
            found = _ACTIVE.search(str(sent.detail))
            nonce = found[1] if found else ""
        else:
            return ""
        move = self.began.get(nonce)
        own = move is not None and move.push.sender == sent.sender and move.push.at < sent.at
        times = self.acting.get(sent.sender, ())
        acts = any(began <= sent.at <= ended and of in {"", nonce} for began, ended, of in times)
        return nonce if own and acts else ""

    def _moves_on(self, sent: Sent) -> str:
        """Return the epoch of a push that says that work got further; a stamp, a record and an end do not say so."""
        message = str(sent.detail)
        nonce = nonce_of(message)
        if released(message) or nonce not in self.began:
            return ""
        key = self.began[nonce].fence.key
        own = (move for move in self.lines[key.ref] if move.fence.nonce == nonce and move.push.sender == sent.sender)
        before = {_work(move.fence) for move in own if move.push.at < sent.at}
        fence = read_fence(key, "", message)
        return nonce if fence is not None and before and _work(fence) not in before else ""


def _work(fence: Fence) -> tuple[object, ...]:
    return fence.stage, fence.phase, fence.work_head, fence.pr, fence.paid_runs, fence.attempt


def proofs(schedule: Schedule, lines: Lines) -> Iterator[str]:
    """Yield each write by a process that was not shown its own fence for longer than the self-fence."""
    wire = Wire(schedule, lines)
    shown = _shown(schedule, lines)
    for sent, nonce in wire.writes:
        if sent.name not in EFFECTS and (not nonce or schedule.journal.identities[sent.sender].first_format):
            continue
        times = shown.get(sent.sender, [])
        index = bisect_right(times, sent.at)
        last = times[index - 1] if index else float("-inf")
        if sent.at - last >= SELF_FENCE + REQUEST_SECONDS:
            agent = schedule.journal.agents[sent.sender]
            yield f"{agent} {sent.name} {str(sent.detail)[:60]!r} {sent.at - last:.0f} s after a proof"
    yield from _in_order(schedule)
    yield from _stamped_in_time(wire)
    yield from _against_better_knowledge(wire)


def _in_order(schedule: Schedule) -> Iterator[str]:
    for look in schedule.journal.looks:
        if len(look.asked) > 1 and (look.asked[0] != "reads fence" or "comment" not in look.asked[1]):
            yield f"a look begins with: {look.asked[0]}, {look.asked[1]}"


def _shown(schedule: Schedule, lines: Lines) -> dict[int, list[float]]:
    """Return the times at which each process moved its fence, or was shown it, in their order."""
    owners = {move.fence.nonce: move.push.sender for line in lines.values() for move in line if move.begins}
    shown: dict[int, list[float]] = {}
    for line in lines.values():
        for move in line:
            shown.setdefault(move.push.sender, []).append(move.push.at)
    for seen in schedule.journal.seen:
        message = seen.value[1] if seen.name == "reads fence" and isinstance(seen.value, tuple) else ""
        if message and owners.get(nonce_of(message)) == seen.sender:
            shown.setdefault(seen.sender, []).append(seen.at)
    return {sender: sorted(times) for sender, times in shown.items()}


def _stamped_in_time(wire: Wire) -> Iterator[str]:
    """Yield each act so long after its fence's last stamp that somebody could have found it dead twice."""
    schedule = wire.schedule
    if schedule.journal.ref_acts or schedule.world.special.wrong_dates or schedule.world.special.burst:
        return
    of_epoch = {
        nonce: sorted(stamps(line, nonce))
        for line in wire.lines.values()
        for nonce in {move.fence.nonce for move in line if move.begins and move.fence.format > 1}
    }
    for sent, nonce in wire.writes:
        times = of_epoch.get(nonce, [])
        index = bisect_right(times, sent.at)
        if index and sent.at - times[index - 1] >= CERTAIN - LOOK_AGAIN:
            agent = schedule.journal.agents[sent.sender]
            yield f"{agent} {sent.name} {sent.at - times[index - 1]:.0f} s after its last stamp"


def _against_better_knowledge(wire: Wire) -> Iterator[str]:
    """Yield each write for an epoch after its process was shown another's fence or none, or was refused."""
    schedule = wire.schedule
    for nonce, move in wire.began.items():
        sender = move.push.sender
        if move.fence.format == 1 or schedule.journal.identities[sender].first_format:
            continue
        told = _told(wire, nonce, move)
        if not any(is_over for _, is_over in told):
            continue
        for sent, of in wire.writes:
            if sent.sender != sender or sent.name == "pushes" or of != nonce:
                continue
            at, is_over = max((one for one in told if one[0] <= sent.at), default=(0.0, False))
            if is_over and sent.at - at > LOOKS_SECONDS and not _hindered(schedule, sender, at, sent.at):
                agent = schedule.journal.agents[sender]
                yield f"{agent} {sent.name} at {sent.at:.1f}, {sent.at - at:.1f} s after its epoch was over"


def _told(wire: Wire, nonce: str, began: Move) -> list[tuple[float, bool]]:
    """Return the times at which an epoch's holder was told about its fence, and whether the epoch was over."""
    journal, sender, ref = wire.schedule.journal, began.push.sender, began.push.ref
    told = [
        (move.push.at, False) for move in wire.lines[ref] if move.fence.nonce == nonce and move.push.sender == sender
    ]
    for seen in journal.seen:
        if seen.sender == sender and seen.name == "reads fence" and seen.detail == ref and seen.heard > began.push.at:
            shown = nonce_of(seen.value[1]) if isinstance(seen.value, tuple) else ""
            told.append((seen.heard, shown != nonce))
    if ref.startswith("refs/ack/worker"):  # a reviewer's push moves two fences: that it was refused says less
        told += [(at, True) for at, who, of in journal.refused if who == sender and of == nonce]
    return told


def _hindered(schedule: Schedule, sender: int, since: float, until: float) -> bool:
    """Return whether the process was paused in between: it may not have received all answers by then."""
    return any(since - 1 <= at <= until for at in schedule.journal.troubled.get(sender, ()))
