"""Events of one schedule: counts, broken promises, and (when asked for) the story in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from .identity import Identity

SOMETIMES = (
    "takeover",
    "takeover at once after a release",
    "take-over judged on the wire",
    "own epoch gone on with after a restart",
    "own late push gone on with",
    "lost POST found by its nonce",
    "claim given up after its fence had moved",
    "duplicate ACK",
    "fence refused a claim",
    "fence refused a zombie's push",
    "own late write adopted",
    "lost reply of a push looked up",
    "self-fence fired",
    "ACK deleted by a person",
    "ACK edited by a person",
    "holder noticed a deletion",
    "holder noticed an edit",
    "holder noticed a takeover",
    "comment respected where there is no fence",
    "end told by a sweep",
    "both ended in one push",
    "command recorded without holding",
    "spoof ignored",
    "orphan repaired",
    "labels repaired",
    "pull request adopted",
    "withdrawn by a person",
    "closed by a person",
    "transferred by a person",
    "ref deleted by a person",
    "ref put back by a person",
    "state directory copied",
    "two holders for a while",
    "runs paid for at a time",
    "crash",
    "crash that lost the state directory",
    "stop by a signal",
    "pause",
    "request executed late",
    "request executed twice",
    "edit carried out late or twice",
    "reply lost",
    "token refused",
    "push refused by a rule",
    "git server that was down",
    "comment refused by a limit",
    "text refused as too long",
    "answer dated wrong",
    "epoch of the first format",
    "epoch begun after one of the first format",
    "worker's fence buried",
)
"""Events that must happen at least 100 times in 100,000 schedules, or the checks prove nothing."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One answer about a lock or an item: when the server gave it, when which process heard it, and its content."""

    at: float
    heard: float
    sender: int
    name: str
    detail: object
    value: object


@dataclass(frozen=True, slots=True)
class Sent:
    """One write on its way: when, by which process."""

    at: float
    sender: int
    name: str
    detail: object


@dataclass(slots=True)
class PaidRun:
    """One paid run: the fence, the process, and the times of its beginning and end."""

    ref: str
    sender: int
    nonce: str
    began: float
    ended: float = float("inf")


@dataclass(slots=True)
class Hold:
    """The span in which a process acted as the holder."""

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
    nonce: str


@dataclass(slots=True)
class Claimed:
    """One attempt to claim: when and by which process, its requests, and the faults on the way."""

    at: float
    sender: int
    won: bool
    requests: int
    posts: int
    faults: int
    order: tuple[str, ...]
    ended: float = 0.0


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a lock: by which process, from when until when, and its requests."""

    began: float
    ended: float
    sender: int
    asked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Loss:
    """The end of a lease as its holder tells it: when, by which process, which epoch under which comment, and why."""

    at: float
    sender: int
    ref: str
    nonce: str
    ack_id: int
    why: str


@dataclass(slots=True)
class Journal:
    """The record of one schedule."""

    told: list[str] | None = None
    counts: Counter[str] = field(default_factory=Counter)
    holds: list[Hold] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    claims: list[Claimed] = field(default_factory=list)
    acts: list[tuple[float, str, int]] = field(default_factory=list)
    """Acts of people: the time, the act, and the comment."""
    ref_acts: list[tuple[float, str, str | None]] = field(default_factory=list)
    """Moves of a fence's ref by people: the time, the ref, and its new value (None: deleted)."""
    troubled: dict[int, list[float]] = field(default_factory=dict)
    """Times at which a process was paused or a request of it failed."""
    pauses: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    """Pauses of a process: beginning and end."""
    last_alive: dict[str, float] = field(default_factory=dict)
    """Time at which an agent that is dead was last alive."""

    looks: list[Look] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    refused: list[tuple[float, int, str]] = field(default_factory=list)
    """Pushes that the git server refused: when the answer was heard, by which process, of which epoch."""
    known: set[str] = field(default_factory=set)
    """The nonces of ACKs that their agents knew to stand in the thread."""

    seen: list[Seen] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    paid: list[PaidRun] = field(default_factory=list)
    unheard_posts: list[float] = field(default_factory=list)
    """Times of comments that were posted without an answer to their sender."""
    agents: dict[int, str] = field(default_factory=dict)
    """Agent of each process."""
    identities: dict[int, Identity] = field(default_factory=dict)
    """State directory, keys and account of each process."""
    started: dict[int, float] = field(default_factory=dict)
    """Time at which a process started."""
    ended: dict[int, float] = field(default_factory=dict)
    """Time at which a process ended."""

    def say(self, at: float, who: str, what: str) -> None:
        """Add one line to the story."""
        if self.told is not None:
            self.told.append(f"{int(at) // 3600}:{int(at) // 60 % 60:02}:{at % 60:06.3f}  {who:<12} {what}")

    def trouble(self, at: float, sender: int) -> None:
        """Note that a process was paused or a request of it failed."""
        self.troubled.setdefault(sender, []).append(at)
