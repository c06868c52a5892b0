"""Updates of a work branch before work on it: other people's commits are adopted, its base is merged.

Commits of others are kept, tested, and built upon; never overwritten.
"""

from __future__ import annotations

from dataclasses import replace

import structlog

from shared.git.notes import CommitKind, Note, NoteError
from shared.lock.fence import Fence, FenceChange
from shared.lock.hold import Held
from shared.models import Issue
from shared.scheduling.agent_contract import Rest, Step
from shared.workflow import Event, Stage, Track, move
from worker_agent import comments
from worker_agent.branch.comments import adopted
from worker_agent.branch.sync import Sync, newly_failing
from worker_agent.decide import Head, NextStep, Snapshot
from worker_agent.errors import BranchTaken
from worker_agent.phase_tools import PhaseTools
from worker_agent.policy import Policy
from worker_agent.ports import Forge

log = structlog.get_logger()


class BranchUpdate:
    """Updates the work branches of one repository."""

    def __init__(self, tools: PhaseTools, forge: Forge, policy: Policy) -> None:
        self._tools = tools
        self._phase_commits = tools.phase_commits
        self._forge = forge
        self._policy = policy
        self._sync = Sync(tools, forge, policy)

    async def before(self, held: Held, seen: Snapshot) -> bool:
        """Update the branch before a paid step; return whether it changed, so that everything must be read again.

        A base that moves on all the time does not keep a branch from being worked on: a paid step follows each merge.
        """
        if held.fence.phase in {"", NextStep.RED}:  # nothing of ours is there yet
            return False
        base = await self._brought(held, seen)
        if await self._adopt_external(held, seen.issue, base):
            return True
        if not held.fence.pr or await self._phase_commits.history.is_synced(held.fence):
            return False
        return await self._sync.bring(held, seen.issue, base)

    async def update(self, held: Held, seen: Snapshot) -> bool:
        """Update a branch that the reviewer found unmergeable; return whether it changed."""
        base = await self._brought(held, seen)
        return await self._adopt_external(held, seen.issue, base) or await self._sync.bring(held, seen.issue, base)

    async def update_branch(self, held: Held, seen: Snapshot) -> Step:
        """Adopt a head that is not ours, or merge the base of one that cannot be merged.

        GitHub's view lags behind the push that has changed it: then the only step is to wait.
        """
        base = await self._brought(held, seen)
        moved = await self._adopt_external(held, seen.issue, base)
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

    async def _adopt_external(self, held: Held, issue: Issue, base_branch: str) -> bool:
        """Adopt external commits on the branch as it was last fetched; return whether the fence's commit changed.

        Raises `BranchTaken` if the branch's head cannot continue our work.
        """
        fence = held.fence
        tip = await self._phase_commits.tip(fence)
        stands = await self._phase_commits.history.standing(fence, tip)
        if tip is None or stands is Head.BEHIND or (stands is Head.OURS and await self._is_based(fence)):
            return False
        if stands is Head.FOREIGN:
            raise BranchTaken(comments.branch(fence), fence.work_head, tip)
        if stands is Head.REWOUND and not fence.pr:  # ours has never been there: it goes on top of theirs
            return False
        await self._adopt(held, issue, tip, base_branch)
        return True

    async def _adopt(self, held: Held, issue: Issue, tip: str, base_branch: str) -> None:
        """Make `tip` the commit from which this item continues, with a note of its test results."""
        work, ours = await self._tools.open(held, issue), held.fence.work_head
        await work.space.bring(tip)
        base = await self._base(held.fence, tip, base_branch)
        before = await self._tools.test_runs.of(work, ours)
        after = await self._tools.test_runs.of(replace(work, base=base), tip, since=tip)
        own = {change.path for change in await work.space.changes(work.base, ours)}
        missing = newly_failing(before, before, after, own)
        held.check()
        note = replace(_note(held, base, missing), test_result=after.one_line(), exit_code=after.code)
        under = (await self._phase_commits.notes(work.space, held.fence)).get(ours)
        if under is not None and not held.fence.pr:  # the cycle that is under way stays the same
            note = replace(note, cycle=under.cycle, current_test=under.current_test, base=under.base)
        to = replace(_next(held.fence), work_head=tip, base=base)
        await self._phase_commits.amend(work, note, to)
        log.info("branch_adopted", outcome="completed", ours=ours, theirs=tip, lost=len(missing))
        await self._forge.status.show(issue.number, adopted(held.fence, ours, missing), held)

    async def _is_based(self, fence: Fence) -> bool:
        """Return whether our commit is built on the fence's base; a head that a person has put there may not be."""
        return not fence.pr or await self._phase_commits.mirror.is_ancestor(fence.base, fence.work_head)

    async def _base(self, fence: Fence, tip: str, base_branch: str) -> str:
        """Return the base commit that `tip` is built on, as a person may have merged it; never an older one.

        Without a pull request it is the fence's base, on which the tests have to be red.
        """
        newest = await self._phase_commits.mirror.tip(base_branch) if fence.pr else None
        common = await self._phase_commits.mirror.merge_base(newest, tip) if newest else None
        if common is None or await self._phase_commits.mirror.is_ancestor(common, fence.base):
            return fence.base
        return common


def _next(fence: Fence) -> FenceChange:
    """Return the next step: a CI repair waits for CI's result on the new head, every other phase continues on it."""
    if fence.stage is Stage.IMPLEMENTING and fence.phase == NextStep.FIX:
        stage = move(Track.PULL_REQUEST, fence.stage, Event.TESTS_PASSED).to
        return FenceChange(stage=stage, phase=NextStep.CI)
    return FenceChange()


def _note(held: Held, base: str, missing: tuple[str, ...]) -> Note:
    error = None
    if missing:
        message = "Tests that passed before somebody else's commits do not pass any more."
        error = NoteError("REGRESSION", message, "\n".join(missing), timestamp=held.server_now().isoformat())
    fence = held.fence
    return Note(
        issue=fence.key.number,
        cycle=1,
        phase=CommitKind.SYNC,
        next_phase=_next(fence).of(fence).phase,
        base=base,
        attempts=fence.attempt,
        cost_usd=0.0,
        cost_source="",
        error=error,
    )
