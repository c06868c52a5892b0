"""Emits events of what people and agents say to each other: commands recorded, decisions asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Self

from runtime.telemetry.observed_port import APPROVALS
from shared.escalation.delivery import Escalation
from shared.escalation.notifier import Sink
from shared.github.status import StatusBoard
from shared.lock.write_permit import WritePermit
from shared.telemetry.event_recorder import EventRecorder
from shared.telemetry.events import EventKind
from shared.workflow import Role

MOST_RECORDED = 1024
"""Maximum number of occasions that are remembered, so that each is recorded once."""


class ObservedStatus(StatusBoard):
    """Records an event for each command, with what became of it."""

    _recorder: EventRecorder

    def observed_by(self, event_recorder: EventRecorder) -> Self:
        """Return the same board, which from now on records in `event_recorder`."""
        self._recorder = event_recorder
        return self

    async def note(
        self,
        number: int,
        permit: WritePermit,
        *,
        commands: Sequence[Mapping[str, Any]] = (),
        ignored: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Record commands and what was ignored."""
        await super().note(number, permit, commands=commands, ignored=ignored)
        for one in commands:
            self._recorder.tell(EventKind.COMMAND, number=number, **{str(name): value for name, value in one.items()})


class ObservedSink:
    """Records the decisions that are asked for and those that nobody made in time; others record the rest."""

    def __init__(self, sink: Sink, event_recorder: EventRecorder, role: Role) -> None:
        self._sink, self._recorder, self._role = sink, event_recorder, role
        self._recorded: deque[str] = deque(maxlen=MOST_RECORDED)

    def put(self, escalation: Escalation) -> None:
        """Pass it on."""
        self._sink.put(escalation)
        # A plan and a refactoring are asked for by a move of the fence; that a merge is, nothing else shows.
        merge = escalation.kind == "approval" and self._role is Role.REVIEWER
        late = escalation.kind == "overdue" and escalation.category == "approval"
        state = "timed_out" if late else "requested" if merge else ""
        if state and escalation.id not in self._recorded:
            self._recorded.append(escalation.id)
            self._recorder.tell(EventKind.APPROVAL, number=escalation.number, what=APPROVALS[self._role], state=state)
