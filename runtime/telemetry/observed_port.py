"""Emits the lock's events: every move of a fence becomes the events that it stands for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar, cast

from shared.errors import UnknownOutcome
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.lock.port import AdvanceFence, Operation, Port, PostComment, ReadFence, Reply
from shared.newest import Newest
from shared.telemetry.event_recorder import EventRecorder
from shared.telemetry.events import EventKind
from shared.workflow import Role, Stage

T = TypeVar("T")

MOST_FENCES = 256
"""Maximum number of fences that are remembered, to see what changed; whoever moves another one has read it before."""

APPROVALS = {Role.PLANNER: "plan", Role.WORKER: "refactoring", Role.REVIEWER: "merge"}
"""Role that asks -> what people are asked to approve."""


class ObservedPort:
    """Passes everything on, and records what it did; satisfies `shared.lock.port.Port`."""

    def __init__(self, port: Port, event_recorder: EventRecorder) -> None:
        self._port, self._recorder = port, event_recorder
        self.sleep, self.now, self.boot = port.sleep, port.now, port.boot
        self._known: Newest[ItemKey, Fence | None] = Newest(MOST_FENCES)
        self._unsure: Newest[ItemKey, Fence] = Newest(MOST_FENCES)

    async def request(self, operation: Operation[T]) -> Reply[T]:
        """Carry out one operation."""
        try:
            reply = await self._port.request(operation)
        except UnknownOutcome:
            if isinstance(operation, AdvanceFence):
                self._unsure[operation.fence.key] = operation.fence
            raise
        self._tell(operation, reply)
        return reply

    def _tell(self, operation: Operation[Any], reply: Reply[Any]) -> None:
        match operation:
            case ReadFence(key):
                self._note_read(key, cast("Fence | None", reply.value))
            case AdvanceFence(fence) if reply.value is None:
                self._recorder.tell(EventKind.LOCK, fence, event="refused")
            case AdvanceFence(fence):
                self._record_move(fence)
                if operation.other is not None:
                    self._recorder.tell(
                        EventKind.PHASE, operation.other, stage=operation.other.stage, event="concluded"
                    )
            case PostComment(number):
                self._recorder.tell(EventKind.LOCK, event="asked", number=number)
            case _:
                return

    def _note_read(self, key: ItemKey, found: Fence | None) -> None:
        """Note what is there now; a move whose reply was lost is recorded when it turns out to have happened."""
        hoped = self._unsure.pop(key, None)
        if hoped is not None and found is not None and found.nonce == hoped.nonce:
            self._record_move(hoped)
        self._known[key] = found

    def _record_move(self, fence: Fence) -> None:
        before = self._known.get(fence.key)
        for kind, data in moves(before, fence):
            self._recorder.tell(kind, fence, **data)
        self._known[fence.key] = fence


def moves(before: Fence | None, after: Fence) -> Iterator[tuple[EventKind, dict[str, Any]]]:
    """Yield the events that it means that an item's fence went from one value to the next (pure)."""
    stage, phase = (before.stage, before.phase) if before else (Stage.NEW, "")
    if before is None or before.nonce != after.nonce:
        yield EventKind.LOCK, {"event": "won", "before": before.agent if before else None}
        yield (
            EventKind.CLAIM,
            {"stage": after.stage, "attempt": after.attempt, "round": after.round, "first": before is None},
        )
    if (stage, phase) != (after.stage, after.phase):
        yield (
            EventKind.PHASE,
            {"was": phase or stage, "stage": after.stage, "attempt": after.attempt, "round": after.round},
        )
    if before is not None and (after.attempt, after.round) > (before.attempt, before.round):
        yield EventKind.ITERATION, {"attempt": after.attempt, "round": after.round}
    yield from _retries(before, after)
    yield from _approvals(stage, before, after)
    if after.free and (before is None or not before.free or before.nonce != after.nonce):
        yield EventKind.LOCK, {"event": "released"}


def _retries(before: Fence | None, after: Fence) -> Iterator[tuple[EventKind, dict[str, Any]]]:
    failures = before.failures if before else ""
    if before is None or failures == after.failures:
        return
    if after.failures:
        wait = after.wait
        until = {"reason": wait.reason, "until": wait.until.isoformat()} if wait else {}
        yield EventKind.RETRY, {"state": "failed", "failures": after.failures, **until}
    else:
        yield EventKind.RETRY, {"state": "succeeded", "phase": before.phase or str(before.stage)}


def _approvals(stage: Stage, before: Fence | None, after: Fence) -> Iterator[tuple[EventKind, dict[str, Any]]]:
    asked, asks = stage is Stage.AWAITING_APPROVAL, after.stage is Stage.AWAITING_APPROVAL
    subject = APPROVALS[after.key.kind]
    if asks and not asked:
        yield EventKind.APPROVAL, {"what": subject, "state": "requested"}
    known, by = _approver(before), _approver(after)
    if by and by != known:
        yield EventKind.APPROVAL, {"what": subject, "state": "granted", "by": by}
    elif asked and not asks:
        done = after.stage in {Stage.TESTING, Stage.SPECIFIED}
        granted = done and not known
        if granted or not done:
            yield EventKind.APPROVAL, {"what": subject, "state": "granted" if granted else "sent back"}


def _approver(fence: Fence | None) -> str:
    """Return who has approved something; a command, such as `/retry`, stands in the same place and approves nothing."""
    return "" if fence is None or fence.approved_by.startswith("/") else fence.approved_by
