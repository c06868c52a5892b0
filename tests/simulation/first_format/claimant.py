"""The claimant: one agent of one repository, and its times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from shared.text.comment_signatures import Keyring

from .codec import Ack


@dataclass(frozen=True, slots=True)
class LockTimes:
    """Times of the lock, in seconds; the defaults are the protocol's."""

    timeout: float = 1800
    self_fence: float = 1500
    heartbeat: float = 300
    settle: float = 5


class Nonces(Protocol):
    """The nonces of this agent's own ACKs; they survive a restart."""

    def fresh(self) -> str:
        """A new nonce (32 hex digits), remembered before it is returned."""
        ...

    def mine(self, nonce: str) -> bool:
        """Return whether `fresh` made it, in this life or an earlier one of the same agent id."""
        ...

    def forget(self, nonce: str) -> None:
        """Forget the nonce of an ACK that is finished."""
        ...


@dataclass(frozen=True, slots=True)
class Shortage:
    """Reason why paid work cannot begin, and the time when it can; `until` None: when a person makes room."""

    sentence: str
    until: datetime | None


class Purse(Protocol):
    """Check of the budget for a run."""

    async def shortage(self, number: int) -> Shortage | None:
        """Return why no run for this item could be paid for now; None when one could."""
        ...


@dataclass(frozen=True, slots=True)
class Claimant:
    """One agent of one repository that claims. Without a `budget_check` its work costs nothing.

    `accounts` are the engine's, of which other agents sign in with `siblings`. `delay` says in how many seconds the
    account may write: its share of GitHub's limits may be used up.
    """

    agent: str
    accounts: frozenset[int]
    keys: Keyring
    nonces: Nonces
    terms: LockTimes = LockTimes()
    budget_check: Purse | None = None
    siblings: frozenset[int] = frozenset()
    delay: Callable[[], float] = lambda: 0.0


def is_mine(ack: Ack, claimant: Claimant) -> bool:
    """Return whether this agent wrote an ACK, in this life or an earlier one."""
    return not ack.opaque and ack.agent == claimant.agent and claimant.nonces.mine(ack.nonce)
