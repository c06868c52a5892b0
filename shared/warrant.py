"""What entitles to write: every write to GitHub or git takes one of these three."""

from __future__ import annotations

from dataclasses import dataclass

from shared.lock.hold import Held


@dataclass(frozen=True, slots=True)
class Operator:
    """A person at a console: `init`, `doctor`, `recover`, a story typed in."""

    reason: str

    def check(self) -> None:
        """A person's order needs no lease."""


ACK = "ack"
"""The purpose of the notices by which locks are claimed, kept and released: the only ones that may begin with ACK."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Exactly one marked comment in one thread for one purpose; writing it twice converges."""

    number: int
    purpose: str

    def check(self) -> None:
        """Notices are convergent and need no lease."""


Warrant = Held | Operator | Notice
"""Adapters call `check()` on it right before they send."""
