"""The permits for writes: every write to GitHub or git takes one of these four."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from shared.errors import Transient
from shared.lock.hold import Held


@dataclass(frozen=True, slots=True)
class OperatorPermit:
    """A person's order at a console: `init`, `doctor`, `recover`, a story typed in."""

    reason: str

    def check(self) -> None:
        """Do nothing: a person's order needs no lease."""


ACK = "ack"
"""Purpose of the notices by which locks are claimed, kept and released: the only ones that may begin with ACK."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Exactly one marked comment in one thread for one purpose; writing it twice converges.

    `sending` is called when it goes out: a write may have waited long for its turn.
    """

    number: int
    purpose: str
    sending: Callable[[], None] | None = field(default=None, compare=False)

    def check(self) -> None:
        """Call `sending`; notices are convergent and need no lease."""
        if self.sending is not None:
            self.sending()


@dataclass(frozen=True, slots=True)
class RegisterPermit:
    """A line in a register, won by compare-and-swap: its writer may create what it names, until a boot time."""

    what: str
    until: float
    boot: Callable[[], float]

    def check(self) -> None:
        """Raise `Transient` if it is too late: by then another agent may do it."""
        if self.boot() >= self.until:
            raise Transient(f"'{self.what}' was entered too long ago to be created now.")


WritePermit = Held | OperatorPermit | Notice | RegisterPermit
"""Any of the permits; adapters call `check()` on it right before they send."""
