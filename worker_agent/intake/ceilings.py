"""The ceilings on issues in work and pull requests under review, over all the engine's agents, by their fences.

There is no coordinator: an agent that is about to begin an issue reads the fences first. Agents that begin in the same
second may exceed a ceiling by one each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from shared.git.ports import Fences
from shared.lock.codec import FENCE_NAMESPACE
from shared.lock.fence import Fence, read_fences
from shared.scheduling.account_work import AccountWork
from shared.scheduling.agent_contract import Skip
from shared.workflow import Role, Stage
from worker_agent.decide import WORKING

AGAIN_SECONDS = 60.0
"""Seconds until an issue that a ceiling keeps back is looked at again."""

UNDER_REVIEW = WORKING | {Stage.REVIEWING}
"""Stages of an issue whose pull request, once there is one, waits for the engine or for its review."""

_PREFIX = f"{FENCE_NAMESPACE}/{Role.WORKER}/"


@dataclass(frozen=True, slots=True)
class Ceilings:
    """The most issues and pull requests at once; None for no limit."""

    in_work: int | None = None
    open_pull_requests: int | None = None

    def reached(self, others: Iterable[Fence]) -> str:
        """Return one sentence with the ceiling that `others` reach; empty if more may begin."""
        fences = tuple(others)
        working = sum(fence.stage in WORKING for fence in fences)
        proposed = sum(bool(fence.pr) and fence.stage in UNDER_REVIEW for fence in fences)
        if self.in_work is not None and working >= self.in_work:
            return f"{working} issues are in work, as many as `ceilings.in_work` allows"
        if self.open_pull_requests is not None and proposed >= self.open_pull_requests:
            return f"{proposed} pull requests are open, as many as `ceilings.open_pull_requests` allows"
        return ""


@dataclass(frozen=True, slots=True)
class AccountCeiling:
    """The most issues that an account may have in work over all repositories of the process."""

    most: int
    account: int
    repository: str
    work: AccountWork


class CeilingCheck:
    """The check before new work: reads the fences from the git server, only if a ceiling is configured."""

    def __init__(self, ceilings: Ceilings, fences: Fences, of_account: AccountCeiling | None = None) -> None:
        self._ceilings = ceilings
        self._fences = fences
        self._of_account = of_account
        if of_account is not None:
            of_account.work.join(of_account.repository, self._count_own)

    async def skip(self, number: int) -> Skip | None:
        """Return the reason why issue `number` may not begin now; None if it may. Raises `Transient`."""
        if self._ceilings == Ceilings() and self._of_account is None:
            return None
        others = [fence for fence in await self._read() if fence.key.number != number]
        why = self._ceilings.reached(others) or await self._reached_by_account(others)
        return Skip(why, AGAIN_SECONDS) if why else None

    async def _reached_by_account(self, others: Iterable[Fence]) -> str:
        if (limit := self._of_account) is None:
            return ""
        working = await limit.work.items_in_work(
            limit.repository, await self._count_working(others, limit.account), limit.most
        )
        if working < limit.most:
            return ""
        return f"this account has {working} issues in work, as many as `in_work_per_account` allows"

    async def _count_own(self) -> int:
        if self._of_account is None:
            return 0
        return await self._count_working(await self._read(), self._of_account.account)

    async def _read(self) -> tuple[Fence, ...]:
        return tuple(read_fences(Role.WORKER, await self._fences.read_all(_PREFIX)))

    async def _count_working(self, fences: Iterable[Fence], account: int) -> int:
        """Return how many of these are in work under `account`: a fence names the agent, its commit the account."""
        agents = {one.agent for one in await self._fences.traces() if one.account == account}
        return sum(fence.stage in WORKING and fence.agent in agents for fence in fences)
