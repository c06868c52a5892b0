"""What happened in one schedule: counts, broken promises, and (when asked for) the story in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

SOMETIMES = (
    "takeover",
    "takeover at once after a release",
    "own ACK continued after a restart",
    "late POST adopted",
    "lost POST found by its nonce",
    "lost POST given up",
    "duplicate ACK",
    "race lost on the comment layer",
    "fence refused a claim",
    "fence refused a zombie's push",
    "own late write adopted",
    "lost reply of a push looked up",
    "self-fence fired",
    "ACK deleted by a person",
    "ACK edited by a person",
    "holder noticed a deletion",
    "holder noticed an edit",
    "spoof ignored",
    "unknown key respected",
    "orphan repaired",
    "labels repaired",
    "pull request adopted",
    "withdrawn by a person",
    "closed by a person",
    "two holders for a while",
    "crash",
    "crash that lost the state directory",
    "stop by a signal",
    "pause",
    "request executed late",
    "request executed twice",
    "reply lost",
    "worker's fence buried",
)
"""What has to happen at least 100 times in 100,000 schedules, or the checks prove nothing."""


@dataclass(slots=True)
class Hold:
    """From when to when a process believed to hold, and until when it would have believed without news."""

    ref: str
    sender: int
    agent: str
    ack_id: int
    nonce: str
    begun: float
    ended: float = float("inf")


@dataclass(slots=True)
class Effect:
    """Something that an agent began to write as the holder."""

    at: float
    sender: int
    what: str
    proof_age: float
    """Seconds since the sending of the last heartbeat that succeeded, or of the ACK."""
    nonce: str


@dataclass(slots=True)
class Claimed:
    """One try to claim: what it cost, and what went wrong on the way."""

    won: bool
    requests: int
    posts: int
    faults: int
    order: tuple[str, ...]


@dataclass(slots=True)
class Journal:
    """The record of one schedule."""

    told: list[str] | None = None
    counts: Counter[str] = field(default_factory=Counter)
    holds: list[Hold] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    claims: list[Claimed] = field(default_factory=list)
    acts: list[tuple[float, str, int]] = field(default_factory=list)
    """What people did: when, what, and to which comment."""
    troubled: dict[int, list[float]] = field(default_factory=dict)
    """When a process was paused or a request of it failed."""
    last_alive: dict[str, float] = field(default_factory=dict)
    """When an agent that is dead was last alive."""

    looks: list[tuple[str, str]] = field(default_factory=list)
    """The first two requests of every look at the lock."""
    known: set[str] = field(default_factory=set)
    """The nonces of ACKs that their agents knew to stand in the thread."""

    def say(self, at: float, who: str, what: str) -> None:
        """One line of the story."""
        if self.told is not None:
            self.told.append(f"{int(at) // 3600}:{int(at) // 60 % 60:02}:{at % 60:06.3f}  {who:<12} {what}")

    def trouble(self, at: float, sender: int) -> None:
        """Remember that a process was hindered."""
        self.troubled.setdefault(sender, []).append(at)
