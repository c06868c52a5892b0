"""What happened, as frozen values: the kinds of events, one event, and the port that takes it (no I/O)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Protocol

from shared.workflow import Role


class EventKind(StrEnum):
    """What an event tells. docs/observability.md lists the data of each."""

    CLAIM = "claim"
    ENDED = "ended"
    PHASE = "phase"
    LOCK = "lock"
    LABEL = "label"
    LLM_CALL = "llm_call"
    TEST_RUN = "test_run"
    CI = "ci"
    REVIEW = "review"
    APPROVAL = "approval"
    COMMAND = "command"
    ESCALATION = "escalation"
    ITERATION = "iteration"
    RETRY = "retry"
    AGENT = "agent"
    PHASE_SLOW = "phase_slow"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, at GitHub's time (an agent's own before GitHub has answered for the first time).

    `issue` and `pull` are numbers, 0 where there is none; `run` is the ACK of the lease under which it
    happened, empty outside of one. `uid` makes writing an event twice the same as writing it once.
    """

    at: datetime
    agent: str
    role: Role
    repository: str
    kind: EventKind
    issue: int = 0
    pull: int = 0
    run: str = ""
    phase: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    uid: str = field(default_factory=lambda: secrets.token_hex(12))

    def document(self) -> dict[str, Any]:
        """The event as one JSON object."""
        return {
            "at": self.at.astimezone(UTC).isoformat(timespec="milliseconds"),
            "agent": self.agent,
            "role": str(self.role),
            "repository": self.repository,
            "kind": str(self.kind),
            "issue": self.issue or None,
            "pull": self.pull or None,
            "run": self.run or None,
            "phase": self.phase or None,
            "data": dict(self.data),
            "uid": self.uid,
        }


class EventLog(Protocol):
    """Where events go."""

    def record(self, event: Event) -> None:
        """Take one event over: at once, and without ever raising."""
        ...

    @property
    def dropped(self) -> int:
        """How many events were given up so far, because they could not be written and there was no more room."""
        ...

    def close(self, seconds: float) -> None:
        """Write what is still to be written, within so many seconds; later events begin again."""
        ...


@dataclass(frozen=True, slots=True)
class Query:
    """Which events are asked for. Empty means all; `issue` includes the pull requests that belong to it."""

    repository: str = ""
    issue: int = 0
    run: str = ""
    phase: str = ""
    agent: str = ""
    kind: str = ""
    since: datetime | None = None
    until: datetime | None = None
    after: int = 0
    """Only those that were written after the one of this place in the trail."""
