"""The claimant: one agent of one repository, and the times that it keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from shared.lock.breaker import FenceCircuitBreaker
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.text.comment_signatures import Keyring


@dataclass(frozen=True, slots=True)
class LockTimes:
    """Durations of the lock in seconds; the defaults are the protocol's."""

    timeout: float = 1800
    self_fence: float = 1500
    heartbeat: float = 300
    settle: float = 5

    @property
    def certain(self) -> float:
        """Seconds after the last stamp until an epoch is dead, whatever its comment: a live holder stamps before."""
        return 1.5 * self.timeout

    @property
    def stamp(self) -> float:
        """Age in seconds at which a stamp is renewed: a heartbeat and a self-fence later it is short of `certain`."""
        return self.certain - self.self_fence - self.heartbeat - self.timeout / 30

    @property
    def look_again(self) -> float:
        """Seconds between the first look that finds an epoch dead and the one that counts."""
        return self.timeout / 30 + 1


class Nonces(Protocol):
    """The nonces of this agent's own ACKs; they survive a restart."""

    def fresh(self) -> str:
        """Return a new nonce (32 hex digits), stored before it is returned."""
        ...

    def mine(self, nonce: str) -> bool:
        """Return whether `fresh` made it, in this process or an earlier one of the same agent id."""
        ...

    def forget(self, nonce: str) -> None:
        """Forget the nonce of a finished ACK."""
        ...


@dataclass(frozen=True, slots=True)
class EndedComment:
    """The end of an epoch as this process has told it in its comment: the epoch's nonce, and the text's revision."""

    nonce: str
    revision: int


@dataclass(frozen=True, slots=True)
class Claimant:
    """The claimant: one agent of one repository."""

    agent: str
    accounts: frozenset[int]
    """Ids of the engine's accounts."""
    keys: Keyring
    nonces: Nonces
    times: LockTimes = LockTimes()
    other_accounts: frozenset[int] = frozenset()
    """Those of `accounts` that other agents use."""
    delay: Callable[[], float] = lambda: 0.0
    """Returns the seconds until the account may write: its share of GitHub's limits may be used up."""
    doing: Callable[[Fence], str] = lambda fence: ""
    """Tells people what an epoch begins with."""
    read_up_to: Callable[[int], int] = lambda number: 0
    """Returns the highest comment id of a thread that this process has read."""
    breaker: FenceCircuitBreaker = field(default_factory=FenceCircuitBreaker)
    suspects: dict[str, tuple[str, float]] = field(default_factory=dict)
    """Epochs that one look found dead, by ref: the commit of the fence, and the boot time of that look."""
    holding: set[ItemKey] = field(default_factory=set)
    """Items held just now."""
    ended_comments: dict[str, EndedComment] = field(default_factory=dict)
    """Ref -> the last end that this process has told."""
    final_comments: dict[str, str] = field(default_factory=dict)
    """Ref -> the nonce of an epoch whose comment no late edit can change any more."""


def is_mine(agent: str, nonce: str, claimant: Claimant) -> bool:
    """Return whether this agent made an epoch or an ACK, in this process or an earlier one."""
    return agent == claimant.agent and claimant.nonces.mine(nonce)
