"""GitHub's points of a minute: how often a process may poll, and when its next request may go out.

An account may spend 900 points a minute. A read is one, a write five; GitHub does not say whether an answer 304 counts,
so it counts here. What an account has spent is told by no answer, only by a refusal.
https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Sequence

from shared.clock import Clock
from shared.github.waits import report_wait

POINTS_PER_MINUTE = 900
WRITE_POINTS = 5

POLLS_FRACTION = 0.5
"""Fraction of the points that polls may use; the others are for the work that they lead to."""

URGENT_RESERVE = 0.1
"""Fraction of the points that only urgent reads (of an item in work) may use."""

WRITES_FRACTION = 0.5
"""Fraction of the points beyond which writes keep no read from going out: they do not wait for points themselves."""

MINUTE = 60.0
"""Seconds in which points are counted."""

MANY = 3
"""Number of other agents of an account on this machine from which on they read each other's lists."""

SHARED_FRACTION = 1 / 3
"""Fraction of the poll interval for which a list that another agent has read will do."""

SHARED_MOST_SECONDS = 10.0
"""Most seconds for which it will do: a look may have come early, because a slot is free."""

LOOK_SECONDS = 5.0
"""Seconds after which a waiting read looks again: the share may have become larger."""

CALM_SECONDS = 600.0
"""Seconds without a refusal after which a process that GitHub refused doubles its pace again."""

SLOWEST = 8.0
"""Largest factor by which refusals slow a process down."""


class Points:
    """The points of one account, as far as this process spends them.

    Half of them are shared by the number of wanted polls with `neighbours`, the other agents of the account that
    it knows of; the other half, for work, is the same for each agent. Of agents on other machines a refusal tells:
    after it this process takes half, until GitHub has not refused anything for a while.
    """

    def __init__(self, clock: Clock, *, share: float = 1.0, off: bool = False) -> None:
        """`share` is the fraction of the account's points to divide with `neighbours`; `off` is for servers without."""
        self._clock, self._share, self._off = clock, share, off
        self._polls: dict[str, float] = {}
        self._spent: deque[tuple[float, int, int]] = deque()
        self._reads = self._writes = 0
        self._slowness, self._refused_at = 1.0, 0.0
        self.divides_share = True
        """False if `share` is this process's own, whatever `neighbours` poll."""
        self._shortest = math.inf
        self.reads_neighbours = True
        """False if each poll has to ask GitHub itself, because somebody else tells when there is news."""
        self.neighbours: Callable[[], Sequence[float]] = tuple
        """Returns how many polls a minute each of the account's other agents is configured for."""
        self.limited = False
        """True since an answer of the server stated limits; GitHub Enterprise Server may have none."""

    def join(self, agent: str, polls: float) -> None:
        """Note for how many polls a minute an agent of this process is configured."""
        self._polls[agent] = polls

    def leave(self, agent: str) -> None:
        """Note that an agent of this process polls no more."""
        self._polls.pop(agent, None)

    @property
    def agents(self) -> Collection[str]:
        """The agents of this process that spend these points."""
        return self._polls.keys()

    @property
    def polls(self) -> float:
        """Number of polls a minute for which this process is configured, counted for each agent."""
        return sum(self._polls.values())

    def interval(self, wanted: float) -> float:
        """Return the seconds between two polls of a repository: `wanted`, or more if the points do not suffice.

        After a refusal they are fewer; whoever needs a small part of them is polled as often as before.
        """
        self._shortest = min(self._shortest, wanted)
        if self._off or not self.limited:
            return wanted
        per_minute = POINTS_PER_MINUTE * POLLS_FRACTION * self._share
        return wanted * max(1.0, (self.polls + sum(self._sharing())) / per_minute * self._slow())

    def shared_seconds(self) -> float:
        """Return for how many seconds a list that another agent of the account has read will do; 0 for not at all.

        Many agents together then look no less often than one alone, and each change is seen, and charged, less often.
        """
        if not (self.reads_neighbours and self.limited) or math.isinf(self._shortest) or len(self.neighbours()) < MANY:
            return 0.0
        return min(self._shortest * SHARED_FRACTION, SHARED_MOST_SECONDS)

    async def read(self, *, urgent: bool) -> None:
        """Wait until one read may go out, and count it. Nothing is reserved while waiting."""
        while (delay := self._delay(urgent=urgent)) > 0:
            report_wait()
            await self._clock.sleep(min(delay, LOOK_SECONDS))
        self._spend(reads=1)

    def wrote(self) -> None:
        """Count a write, which waits for limits of its own."""
        self._spend(writes=WRITE_POINTS)

    def refused(self) -> None:
        """Note that GitHub refused a read for the sake of its points. Refusals of one minute count once."""
        now = self._clock.boot()
        if self._slowness == 1.0 or now - self._refused_at >= MINUTE:
            self._slowness, self._refused_at = min(2 * self._slow(), SLOWEST), now

    def _delay(self, *, urgent: bool) -> float:
        """Return the seconds until a read may be sent; 0 if it may be at once."""
        self._forget()
        if self._off or not self.limited or not self._reads:
            return 0.0
        allowed = self._allowed(urgent=urgent)
        if self._reads + min(self._writes, allowed * WRITES_FRACTION) + 1 <= allowed:
            return 0.0
        return self._spent[0][0] + MINUTE - self._clock.boot()

    def _allowed(self, *, urgent: bool) -> float:
        """Return the points of a minute that this process may spend."""
        agents, own, others = max(1, len(self._polls)), self.polls or 1.0, self._sharing()
        polls, work = own / (own + sum(others)), agents / (agents + len(others))
        part = self._share * (POLLS_FRACTION * polls + (1 - POLLS_FRACTION) * work) / self._slow()
        return POINTS_PER_MINUTE * part * (1.0 if urgent else 1.0 - URGENT_RESERVE)

    def _sharing(self) -> Sequence[float]:
        return self.neighbours() if self.divides_share else ()

    def _spend(self, *, reads: int = 0, writes: int = 0) -> None:
        self._forget()
        self._spent.append((self._clock.boot(), reads, writes))
        self._reads, self._writes = self._reads + reads, self._writes + writes

    def _forget(self) -> None:
        while self._spent and self._spent[0][0] + MINUTE <= self._clock.boot():
            _, reads, writes = self._spent.popleft()
            self._reads, self._writes = self._reads - reads, self._writes - writes

    def _slow(self) -> float:
        """Return the factor of slowness that is left of GitHub's last refusal."""
        calm = (self._clock.boot() - self._refused_at) // CALM_SECONDS
        return 1.0 if calm > SLOWEST else max(1.0, self._slowness / 2.0**calm)
