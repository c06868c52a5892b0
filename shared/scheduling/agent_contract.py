"""The contract between a loop and an agent: candidates, results of steps, ends of work, and the `Agent` itself."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from shared.errors import Blocked
from shared.lock.hold import Held
from shared.lock.lease import Lease
from shared.workflow import Role


class CandidateKind(StrEnum):
    """The reason why a candidate is looked at."""

    WORK = "work"
    """It is listed as the agent's own work."""
    COMMENT = "comment"
    """Somebody has commented on an item at rest."""
    START_SIGNAL = "start signal"
    """It shows an assignment or a label that asks for work."""
    TRIAGE = "triage"
    """It may get a triage proposal."""
    TRIAGE_ANSWER = "triage answer"
    """Somebody may have answered its triage proposal."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that may have work for this agent; `version` is only compared: it changes when GitHub shows a change.

    Every candidate of a smaller `rank` is tried first.
    """

    number: int
    version: str
    rank: int = 0
    kind: CandidateKind = CandidateKind.WORK
    pull_request: int = 0
    """Number of the listed pull request that led to this issue; 0 if there is none."""
    updated_at: datetime | None = None
    """GitHub's time of the listed item's last change, for agents that read it."""

    @property
    def state(self) -> tuple[CandidateKind, str]:
        """The kind and the version: the candidate is looked at again when one of them changes."""
        return self.kind, self.version


UNTIL_NEWS = math.inf
"""Value of `Skip.seconds`: do not look again before the item changes."""


@dataclass(frozen=True, slots=True)
class Skip:
    """Reason why a candidate was not claimed; it is not looked at again for `seconds` unless it changes.

    `failed` is true if the claim met an error, which `reason` repeats.
    """

    reason: str
    seconds: float = 0
    failed: bool = False

    @property
    def is_lost(self) -> bool:
        """True if another agent won the claim: the candidate may be tried again at once."""
        return self.seconds == 0 and not self.failed


Claim = Callable[[], Awaitable[Lease | Skip]]
"""Makes the claim of a candidate that was read: writes its lock; a `Skip` means that another agent was faster."""


@dataclass(frozen=True, slots=True)
class Rest:
    """A wait with the lease kept: no slot is used, the next tick looks again.

    `sentence` is the error after which the item waits for a retry; empty for an ordinary wait.
    """

    reason: str
    until: datetime | None = None
    sentence: str = ""


class Result(StrEnum):
    """The outcome of the work on an item."""

    HANDED_OVER = "handed over"
    FINISHED = "finished"
    FAILED = "failed"
    WITHDRAWN = "withdrawn"
    PARKED = "parked"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Ended:
    """End of the work on an item for now; the lease is released. PARKED: a long wait has begun."""

    result: Result
    sentence: str


Step = Rest | Ended | None
"""Result of one step; None means: take the next step at once."""


class Agent(Protocol):
    """The agent as the loop drives it. Every method may raise `Transient`, `Blocked` or `Lost`."""

    @property
    def role(self) -> Role:
        """The agent's role."""
        ...

    @property
    def repository(self) -> str:
        """`owner/repo`."""
        ...

    async def discover(self) -> Sequence[Candidate]:
        """Return all items that may have work, in the order in which to try them."""
        ...

    async def prepare(self, candidate: Candidate) -> Claim | Skip:
        """Look at one candidate closely; return the claim that may be made of it. Writes no lock."""
        ...

    def hold(self, lease: Lease) -> AbstractAsyncContextManager[Held]:
        """Return the block in which the lease is kept alive."""
        ...

    async def step(self, held: Held) -> Step:
        """Observe, decide, act - once."""
        ...

    async def revoked(self, number: int) -> str | None:
        """Return the person's order that ends the work on an item we hold, as a reason; None if there is none."""
        ...

    async def stop(self, held: Held, reason: str) -> None:
        """End the work on a person's order, without loss of work."""
        ...

    async def wait(self, held: Held, sentence: str) -> None:
        """Tell people that the item waits until the time in its fence, and the reason."""
        ...

    async def fail(self, held: Held, error: Blocked) -> None:
        """Post the sentence and hand the item to a person."""
        ...
