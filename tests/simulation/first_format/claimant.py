"""Who claims: one agent of one repository, and the times that it keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from shared.text.comment_signatures import Keyring

from .codec import Ack


@dataclass(frozen=True, slots=True)
class LockTimes:
    """How long things last, in seconds; the defaults are the protocol's."""

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
        """Whether `fresh` made it, in this life or an earlier one of the same agent id."""
        ...

    def forget(self, nonce: str) -> None:
        """The ACK that carried it is finished."""
        ...


@dataclass(frozen=True, slots=True)
class Shortage:
    """Why work that costs money cannot begin, and when it can; `until` None: when a person makes room."""

    sentence: str
    until: datetime | None


class Purse(Protocol):
    """Whether there is money for a run."""

    async def shortage(self, number: int) -> Shortage | None:
        """Why no run for this item could be paid for now; None when one could."""
        ...


@dataclass(frozen=True, slots=True)
class Claimant:
    """Who claims: one agent of one repository. Without a `budget_check` nothing that it begins costs money.

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
    """Whether this agent wrote an ACK, in this life or an earlier one."""
    return not ack.opaque and ack.agent == claimant.agent and claimant.nonces.mine(ack.nonce)
