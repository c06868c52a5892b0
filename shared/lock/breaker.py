"""The circuit breaker: while the git server refuses fences, nothing is claimed and nothing is posted (no I/O)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

from shared.errors import Blocked, EngineError

BY_RULE = (300.0, 3600.0)
"""First and longest wait, in seconds, if a rule or a permission refuses fences: a person has to act."""

BY_FAILURE = (60.0, 900.0)
"""First and longest wait, in seconds, if the server fails or does not answer."""

JITTER = 0.25
"""Fraction by which waits differ, so that agents that were refused together do not come back together."""


@dataclass(slots=True)
class FenceCircuitBreaker:
    """The circuit breaker of one process for one repository's git server.

    It opens when a push of a fence was refused: nothing is claimed. It closes when a scratch ref could be created,
    moved and deleted: claims are allowed again. Waits grow until a fence itself was moved. `proven`: one was moved
    since the last refusal. `tell` receives each opening (why, and for how many seconds) and each closing (`""`, 0).
    """

    name: str = ""
    tell: Callable[[str, float], None] = field(default=lambda why, seconds: None)
    proven: bool = False
    why: str = ""
    _refusals: int = 0
    _until: float = 0.0

    def remaining_seconds(self, boot: float) -> float:
        """Return the seconds until the next try; 0 while claims are allowed or a try is due."""
        return max(0.0, self._until - boot) if self.why else 0.0

    @property
    def is_open(self) -> bool:
        """True if the scratch ref has to be tried before anything is claimed."""
        return bool(self.why)

    def trip(self, error: EngineError, boot: float) -> None:
        """Open, or stay open for longer: a push of a fence, or of the scratch ref, was refused or not answered."""
        first, longest = BY_RULE if isinstance(error, Blocked) else BY_FAILURE
        seconds = min(first * 2.0**self._refusals, longest) * (1 + JITTER * self._chance())
        self._refusals = min(self._refusals + 1, 32)
        self._until, self.why, self.proven = boot + seconds, str(error), False
        self.tell(self.why, seconds)

    def close(self) -> None:
        """Close: the scratch ref could be created, moved and deleted."""
        if self.why:
            self.why = ""
            self.tell("", 0.0)

    def moved(self) -> None:
        """Note that an existing fence has been moved."""
        self.proven, self._refusals = True, 0

    def _chance(self) -> float:
        digest = hashlib.sha256(f"{self.name} {self._refusals} {self._until}".encode()).digest()
        return int.from_bytes(digest[:4]) / 2**32
