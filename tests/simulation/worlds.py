"""The worlds: the longest lags, the odds of every fault, and the specialities of each. All heal at two hours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

HEAL = 7200.0
"""Second from which on nothing fails any more."""

LIMIT = 28800.0
"""Second before which the issue must be finished."""

REQUEST_SECONDS = 10.0
"""Seconds that a client waits for an answer."""

PAUSES = (10.0, 3180.0)
"""Seconds for which a process may be paused."""

RESTARTS = (10.0, 600.0)
"""Seconds after which a process that crashed comes back."""

TWICE_SECONDS = 30.0
"""Most seconds between the two executions of one request."""


@dataclass(frozen=True, slots=True)
class Special:
    """Specialities of a world; none, as a rule. Drawn times lie in the first two hours."""

    rule: str = ""
    """Pushes that a rule of the git server refuses for a while: "all" of fences, or "updates" (not creations)."""
    outage: str = ""
    """Requests that the git server answers with 503 for an hour: "git" as a whole, or "pushes"."""
    limited: bool = False
    """Comments are refused for minutes at a time: the account has used up its content limit."""
    expires: bool = False
    """A process's token is refused for a while."""
    wrong_dates: float = 0.0
    """The odds that an answer is dated up to an hour wrong."""
    burst: bool = False
    """Once, for at most eight minutes, all answers are dated wrong by the same."""
    odd_edits: float = 0.0
    """The odds that an edit of a comment is carried out late, or twice."""
    ref_deleted: float = 0.0
    """The odds that a person deletes the fence's ref."""
    ref_put_back: float = 0.0
    """The odds that a person puts an older value of the fence's ref back."""
    copied: bool = False
    """A state directory is copied while its agent is at work, and a second agent is started on the copy."""
    parks: bool = False
    """An agent lets go between two phases, so that an item is claimed several times."""
    in_step: bool = False
    """All agents poll at the same moments."""
    transferred: float = 0.0
    """The odds that a person transfers the issue, which is gone then."""
    one_thread: bool = False
    """Worker and reviewer lock on the same thread."""
    own_edits: bool = False
    """Every agent has an account of its own, and may not edit what another one's wrote."""
    long_runs: bool = False
    """Paid runs take longer than a lock lasts without a sign of life."""
    quick: float = 0.0
    """Seconds after which an agent looks again at what it has skipped, instead of minutes."""
    old_agents: int = 0
    """Agents of the first format."""


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
    strangers: float = 0.4
    """The odds that somebody without rights posts ACKs."""
    special: Special = Special()

    @property
    def trouble(self) -> float:
        """The odds that a request meets any fault."""
        return self.failed + self.lost + self.reply_lost + self.late + self.twice

    @property
    def bounded(self) -> bool:
        """True if every comment is seen by reads that start one settle wait after its id was given."""
        return self.lag + self.commit <= 5

    def healed(self) -> World:
        """The same world after two hours."""
        return replace(
            self,
            lag=0.5,
            commit=0.0,
            failed=0,
            lost=0,
            reply_lost=0,
            late=0,
            twice=0,
            pause=0,
            crash=0,
            people=0,
            special=replace(self.special, wrong_dates=0, odd_edits=0),
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

STEADY = replace(HOSTILE, name="steady", pause=0.0)


def _special(name: str, *, base: World = NORMAL, **special: Any) -> World:
    return replace(base, name=name, special=Special(**special))


_UNHURRIED = replace(NORMAL, pause=0.0)

SPECIALS = (
    _special("rule-all", rule="all"),
    _special("rule-updates", rule="updates"),
    _special("outage-git", outage="git"),
    _special("outage-pushes", outage="pushes", long_runs=True),
    _special("limited", limited=True),
    _special("expired", expires=True),
    _special("wrong-dates", base=_UNHURRIED, wrong_dates=0.02),
    _special("date-burst", base=_UNHURRIED, burst=True),
    _special("odd-edits", odd_edits=0.3, outage="pushes", long_runs=True),
    _special("ref-deleted", ref_deleted=0.8),
    _special("ref-put-back", ref_put_back=0.8),
    _special("copied", copied=True),
    _special("parked", base=replace(HOSTILE, pause=0.003), parks=True),
    _special("in-step", in_step=True, parks=True),
    _special("transferred", transferred=0.8),
    _special("one-thread", one_thread=True),
    _special("own-edits", own_edits=True, long_runs=True),
    _special("quick", base=HOSTILE, quick=20.0),
    _special("sluggish", base=replace(NORMAL, pause=0.08)),
    _special("mixed", base=replace(NORMAL, crash=0.006), old_agents=2, parks=True, odd_edits=0.1),
)
"""Worlds that each have one thing of their own."""

SHARES = (
    {CALM: 20, NORMAL: 28, HOSTILE: 10, HARSH: 4, STEADY: 8, LAGGY: 5, UNBOUNDED: 1}
    | dict.fromkeys(SPECIALS[:-1], 1)
    | {SPECIALS[-1]: 5}
)
"""Number of a hundred seeds that each world gets."""

WORLDS = {world.name: world for world in SHARES}
"""The worlds by name."""

_OF_SEED = tuple(world for world, share in SHARES.items() for _ in range(share))


def world_of(seed: int) -> World:
    """The world in which a seed is run when none is named."""
    return _OF_SEED[seed * 37 % len(_OF_SEED)]
