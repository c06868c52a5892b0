"""What a loop and an agent say to each other about items: candidates, steps and their ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from shared.errors import Blocked
from shared.lock.hold import Held
from shared.lock.lease import Lease
from shared.workflow import Role


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that may have work for this agent; `version` changes when GitHub shows a change.

    Every candidate of a smaller `rank` is tried first.
    """

    number: int
    version: str
    rank: int = 0


UNTIL_NEWS = math.inf
"""As the seconds of a `Skip`: another look is worth nothing before the item changes."""


@dataclass(frozen=True, slots=True)
class Skip:
    """Why a candidate was not claimed; it is not looked at again for `seconds` unless it changes.

    `failed` says that the claim met an error, which `reason` repeats.
    """

    reason: str
    seconds: float = 0
    failed: bool = False

    @property
    def is_lost(self) -> bool:
        """Whether another agent won the claim: the candidate may be tried again at once."""
        return self.seconds == 0 and not self.failed


@dataclass(frozen=True, slots=True)
class Rest:
    """Waiting with the lease kept: no slot is used, the next tick looks again.

    `sentence` is the error after which it waits to try again; empty for an ordinary wait.
    """

    reason: str
    until: datetime | None = None
    sentence: str = ""


class Result(StrEnum):
    """How work on an item ended."""

    HANDED_OVER = "handed over"
    FINISHED = "finished"
    FAILED = "failed"
    WITHDRAWN = "withdrawn"
    PARKED = "parked"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Ended:
    """Nothing more to do here for now; the lease is released. PARKED: a long wait has begun."""

    result: Result
    sentence: str


Step = Rest | Ended | None
"""What one step led to; None means: go on at once."""


class Agent(Protocol):
    """What the loop drives. Every method may raise `Transient`, `Blocked` or `Lost`."""

    @property
    def role(self) -> Role:
        """Which kind of agent this is."""
        ...

    @property
    def repository(self) -> str:
        """`owner/repo`."""
        ...

    async def discover(self) -> Sequence[Candidate]:
        """Everything that may have work, in the order in which to try."""
        ...

    async def claim(self, candidate: Candidate) -> Lease | Skip:
        """Look at one candidate closely and try to get it."""
        ...

    def hold(self, lease: Lease) -> AbstractAsyncContextManager[Held]:
        """The block in which the lease is kept alive."""
        ...

    async def step(self, held: Held) -> Step:
        """Observe, decide, act - once."""
        ...

    async def revoked(self, number: int) -> str | None:
        """Why a person's order ends the work on an item we hold; None when nothing does."""
        ...

    async def stop(self, held: Held, reason: str) -> None:
        """End the work on a person's order; nothing is lost."""
        ...

    async def wait(self, held: Held, sentence: str) -> None:
        """Tell people that it waits until the time in its fence, and why."""
        ...

    async def fail(self, held: Held, error: Blocked) -> None:
        """Post the sentence and hand the item to a person."""
        ...
