"""How bad the world is: the longest lags and the odds of every fault. All worlds heal at two hours."""

from __future__ import annotations

from dataclasses import dataclass, replace

HEAL = 7200.0
"""From this second on nothing fails any more."""

LIMIT = 28800.0
"""Before this second the issue must be finished."""

REQUEST_SECONDS = 10.0
"""How long a client waits for an answer."""

PAUSES = (10.0, 3180.0)
"""How long a process may stand still, in seconds."""

RESTARTS = (10.0, 600.0)
"""After how many seconds a process that crashed comes back."""

TWICE_SECONDS = 30.0
"""How far apart the two executions of one request may be."""


@dataclass(frozen=True, slots=True)
class World:
    """Seconds and odds; the odds of requests are per request, those of processes per awaited answer."""

    name: str
    lag: float = 0.8
    commit: float = 0.5
    failed: float = 0.0
    lost: float = 0.0
    reply_lost: float = 0.0
    late: float = 0.0
    late_seconds: float = 1200.0
    twice: float = 0.0
    pause: float = 0.0
    crash: float = 0.0
    skew: float = 240.0
    people: float = 0.1
    """The odds of each kind of meddling by a person."""
    fenced: bool = True
    """False: comments only, because the fence hides what the comment layer gets wrong."""
    strangers: float = 0.4
    """The odds that somebody without rights posts ACKs."""

    @property
    def trouble(self) -> float:
        """The odds that a request meets any fault."""
        return self.failed + self.lost + self.reply_lost + self.late + self.twice

    @property
    def bounded(self) -> bool:
        """Whether every comment is seen by reads that start one settle wait after its id was given."""
        return self.lag + self.commit <= 5

    def healed(self) -> World:
        """The same world after two hours."""
        return replace(
            self, lag=0.5, commit=0.0, failed=0, lost=0, reply_lost=0, late=0, twice=0, pause=0, crash=0, people=0
        )


CALM = World("calm")
NORMAL = World(
    "normal", failed=0.01, lost=0.005, reply_lost=0.005, late=0.001, twice=0.003, pause=0.001, crash=0.002, people=0.1
)
HOSTILE = World(
    "hostile",
    lag=4.0,
    commit=1.0,
    failed=0.02,
    lost=0.02,
    reply_lost=0.02,
    late=0.01,
    twice=0.01,
    pause=0.006,
    crash=0.006,
    people=0.15,
)
HARSH = replace(HOSTILE, name="harsh", lost=0.05, reply_lost=0.05, pause=0.02, crash=0.01)
LAGGY = replace(HOSTILE, name="laggy", lag=90.0, commit=10.0, pause=0.003, crash=0.003)
UNBOUNDED = replace(LAGGY, name="unbounded", lag=2400.0, commit=60.0)

SHARES = {CALM: 30, NORMAL: 40, HOSTILE: 16, HARSH: 6, LAGGY: 7, UNBOUNDED: 1}
"""How many of a hundred seeds each world gets."""

WORLDS = {world.name: world for world in SHARES}
"""The worlds by name."""

_OF_SEED = tuple(world for world, share in SHARES.items() for _ in range(share))


def world_of(seed: int) -> World:
    """The world in which a seed is run when none is named."""
    return _OF_SEED[seed * 37 % len(_OF_SEED)]
