"""Updates of a work branch before work on it: other people's commits are adopted, its base is merged."""

from __future__ import annotations

from shared.lock.hold import Held
from shared.scheduling.agent_contract import Rest, Step
from worker_agent.branch.external_commits import ExternalCommits
from worker_agent.branch.sync import Sync
from worker_agent.decide import NextStep, Snapshot
from worker_agent.phase_tools import PhaseTools
from worker_agent.policy import Policy
from worker_agent.ports import Forge


class BranchUpdate:
    """Updates the work branches of one repository."""

    def __init__(self, tools: PhaseTools, forge: Forge, policy: Policy) -> None:
        self._phase_commits = tools.phase_commits
        self._forge = forge
        self._policy = policy
        self._people = ExternalCommits(tools, forge.status)
        self._sync = Sync(tools, forge, policy)

    async def before(self, held: Held, seen: Snapshot) -> bool:
        """Update the branch before a paid step; return whether it changed, so that everything must be read again.

        A base that moves on all the time does not keep a branch from being worked on: a paid step follows each merge.
        """
        if held.fence.phase in {"", NextStep.RED}:  # nothing of ours is there yet
            return False
        base = await self._brought(held, seen)
        if await self._people.adopt_external(held, seen.issue, base):
            return True
        if not held.fence.pr or await self._phase_commits.history.is_synced(held.fence):
            return False
        return await self._sync.bring(held, seen.issue, base)

    async def update(self, held: Held, seen: Snapshot) -> bool:
        """Update a branch that the reviewer found unmergeable; return whether it changed."""
        base = await self._brought(held, seen)
        return await self._people.adopt_external(held, seen.issue, base) or await self._sync.bring(
            held, seen.issue, base
        )

    async def update_branch(self, held: Held, seen: Snapshot) -> Step:
        """Adopt a head that is not ours, or merge the base of one that cannot be merged.

        GitHub's view lags behind the push that has changed it: then the only step is to wait.
        """
        base = await self._brought(held, seen)
        moved = await self._people.adopt_external(held, seen.issue, base)
        if moved or (seen.out_of_step and await self._sync.bring(held, seen.issue, base)):
            return None
        return Rest("ci")

    async def _brought(self, held: Held, seen: Snapshot) -> str:
        """Fetch if a pull request is open; return its base branch, read again if it is gone."""
        await self._phase_commits.mirror.ensure()
        if not held.fence.pr:
            return self._policy.base_branch
        await self._phase_commits.renew(held.fence)
        base = seen.pull_request.base_branch if seen.pull_request else self._policy.base_branch
        if await self._phase_commits.mirror.tip(base):
            return base
        return (await self._forge.pulls.pull_request(held.fence.pr)).base_branch  # renamed, perhaps
