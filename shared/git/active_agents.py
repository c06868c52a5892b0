"""The agents at work under one account: read from fences that are fetched anyway, and this process's share of limits.

GitHub limits accounts, and processes cannot see each other; but an agent at work moves fences, whose commits name it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta

import structlog

from shared.clock import Clock
from shared.git.fences import AgentSeen, Fences
from shared.lock.codec import FENCE_NAMESPACE
from shared.lock.write_permit import WritePermit

log = structlog.get_logger()

SEEN = timedelta(hours=1)
"""Time for which an agent counts after it last moved a fence: a phase, its waits included, is shorter."""

STEADY_SECONDS = 1200.0
"""Seconds (two sweeps) for which a larger share must be there before it is used; a smaller one is used at once."""

LEAST = 0.05
"""Smallest share: with less an agent could not keep its lease, and GitHub's refusals divide what is too little."""


def alive(traces: Iterable[AgentSeen], account: int, now: datetime) -> dict[str, float]:
    """Return the agents that have moved a fence under `account` within the hour before server time `now`.

    Each with the seconds for which it still counts.
    """
    found: dict[str, float] = {}
    for one in traces:
        left = (SEEN - (now - one.at)).total_seconds()
        if one.account == account and left > 0:
            found[one.agent] = max(left, found.get(one.agent, 0.0))
    return found


def part(own_agents: Collection[str], agents: Collection[str]) -> float:
    """Return the share of an account's limits that a process with `own_agents` may use beside all `agents` at work.

    Agents that are idle write nothing and count for nothing, but a process is always one agent to itself.
    """
    ours = max(1, len(set(own_agents) & set(agents)))
    return max(LEAST, ours / (ours + len(set(agents) - set(own_agents))))


class Presence:
    """The agents seen at work under one process's account, over all its repositories, and the share that it may use."""

    def __init__(self, clock: Clock, use: Callable[[float], None]) -> None:
        """`use` is called with each new share."""
        self._clock, self._use = clock, use
        self._own: set[str] = set()
        self._until: dict[str, dict[str, float]] = {}
        """Repository -> agent -> boot time until which it counts: some repositories are never swept again."""
        self._larger_since: float | None = None
        self.share = 1.0

    def join(self, agent: str) -> None:
        """Add an agent of this process that writes under the account too."""
        self._own.add(agent)

    @property
    def others(self) -> int:
        """Number of agents of other processes that were seen."""
        return len(self._seen_agents() - self._own)

    def _seen_agents(self) -> frozenset[str]:
        now = self._clock.boot()
        return frozenset(agent for each in self._until.values() for agent, until in each.items() if now < until)

    def note(self, repository: str, agents: Mapping[str, float]) -> None:
        """Note the agents that a sweep of one repository's fences has seen, as `alive` returns them."""
        now = self._clock.boot()
        self._until[repository] = {agent: now + seconds for agent, seconds in agents.items()}
        wanted = part(self._own, self._seen_agents())
        if wanted <= self.share:
            self._larger_since = None
        elif self._larger_since is None:
            self._larger_since = self._clock.boot()
            return
        elif self._clock.boot() - self._larger_since < STEADY_SECONDS:
            return
        self._larger_since = None
        if wanted != self.share:
            self.share = wanted
            log.info("share_changed", share=round(wanted, 3), other_agents=self.others)
            self._use(wanted)


class ActiveAgents:
    """The list of fences that a sweep reads; each reading also reports the agents that work there."""

    def __init__(
        self,
        fences: Fences,
        account: int,
        server_time: Callable[[], datetime],
        note: Callable[[Mapping[str, float]], None],
    ) -> None:
        self._fences, self._account, self._server_time, self._note = fences, account, server_time, note

    async def read_all(self, prefix: str = f"{FENCE_NAMESPACE}/") -> dict[str, tuple[str, str]]:
        """Return the fences below `prefix`; those of every kind are fetched, by the same one fetch."""
        found = await self._fences.read_all()
        self._note(alive(await self._fences.traces(), self._account, self._server_time()))
        return {ref: fence for ref, fence in found.items() if ref.startswith(prefix)}

    async def remove(self, ref: str, expected: str, permit: WritePermit) -> bool:
        """Delete a fence that is no longer needed."""
        return await self._fences.remove(ref, expected, permit)
