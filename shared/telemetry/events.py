"""Events as frozen values: their kinds, one event, a query, and the port that records them (no I/O)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Protocol

from shared.workflow import Role


class EventKind(StrEnum):
    """The kind of an event. docs/observability.md lists the data of each."""

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
    """One event, at GitHub's time (the agent's own before GitHub has answered for the first time).

    `issue` and `pull` are numbers, 0 if there is none; `run` is the ACK of the lease under which it
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
        """Return the event as one JSON object."""
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
    """The destination of events."""

    def record(self, event: Event) -> None:
        """Record one event: at once, and without ever raising."""
        ...

    @property
    def dropped(self) -> int:
        """Number of events dropped so far, because they could not be written and the queue was full."""
        ...

    def close(self, seconds: float) -> None:
        """Write the queued events, within `seconds`; a later event starts the log again."""
        ...


@dataclass(frozen=True, slots=True)
class Query:
    """A filter for events. Empty fields match all; `issue` includes the pull requests that belong to it."""

    repository: str = ""
    issue: int = 0
    run: str = ""
    phase: str = ""
    agent: str = ""
    kind: str = ""
    since: datetime | None = None
    until: datetime | None = None
    after: int = 0
    """Place in the log after which events are wanted."""
