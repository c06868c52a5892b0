"""The breaker: while the git server refuses fences, nothing is claimed and nothing is posted (no I/O)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

from shared.errors import Blocked, EngineError

BY_RULE = (300.0, 3600.0)
"""First and longest wait, in seconds, where a rule or a permission refuses fences: a person has to act."""

BY_FAILURE = (60.0, 900.0)
"""The same where the server fails or does not answer."""

JITTER = 0.25
"""Waits differ by so much of themselves, so that agents that were refused together do not come back together."""


@dataclass(slots=True)
class Breaker:
    """What one process knows of one repository's git server.

    It closes the way when a push of a fence was refused, and opens it when a scratch ref could be created, moved and
    deleted. Waits grow until a fence itself was moved. `proven`: one was moved since the last refusal.
    `tell` hears each closing (why, and for how many seconds) and each opening (`""`, 0).
    """

    name: str = ""
    tell: Callable[[str, float], None] = field(default=lambda why, seconds: None)
    proven: bool = False
    why: str = ""
    _refusals: int = 0
    _until: float = 0.0

    def left(self, boot: float) -> float:
        """In how many seconds the way may be tried again; 0 while it is open or due."""
        return max(0.0, self._until - boot) if self.why else 0.0

    @property
    def closed(self) -> bool:
        """Whether the scratch ref has to be tried before anything is claimed."""
        return bool(self.why)

    def refused(self, error: EngineError, boot: float) -> None:
        """A push of a fence, or of the scratch ref, was refused or not answered."""
        first, longest = BY_RULE if isinstance(error, Blocked) else BY_FAILURE
        seconds = min(first * 2.0**self._refusals, longest) * (1 + JITTER * self._chance())
        self._refusals = min(self._refusals + 1, 32)
        self._until, self.why, self.proven = boot + seconds, str(error), False
        self.tell(self.why, seconds)

    def opened(self) -> None:
        """The scratch ref could be created, moved and deleted."""
        if self.why:
            self.why = ""
            self.tell("", 0.0)

    def moved(self) -> None:
        """A fence that was there has been moved."""
        self.proven, self._refusals = True, 0

    def _chance(self) -> float:
        digest = hashlib.sha256(f"{self.name} {self._refusals} {self._until}".encode()).digest()
        return int.from_bytes(digest[:4]) / 2**32
