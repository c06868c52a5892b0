"""Holding a lease: the proof that writes need, its heartbeat, and how it ends."""

from __future__ import annotations

from dataclasses import dataclass, field

from shared.errors import Lost
from shared.lock.codec import Ack, Fence
from shared.lock.port import Port

_SEAL = object()


@dataclass(slots=True)
class Held:
    """The proof of a lease; only `hold` makes one. Check it after every await that precedes an effect."""

    port: Port
    ack: Ack
    fence: Fence
    deadline: float
    seal: object = field(repr=False)
    lost: str = ""

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise TypeError("only shared.lock.hold.hold makes a Held")

    def check(self) -> None:
        """Raise `Lost` unless the lease certainly still holds."""
        check(self)


def check(held: Held) -> None:
    """Raise `Lost` when the lease was lost or its self-fence deadline (boot clock) has passed."""
    if not held.lost and held.port.boot() >= held.deadline:
        held.lost = "no heartbeat succeeded in time"
    if held.lost:
        raise Lost(held.lost)
