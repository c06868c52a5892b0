"""The branch of an issue's earlier start: moved out of the way if it is the engine's, else left alone.

A squash or a rebase leaves a branch whose commits the base does not have, and so does a pull request that was closed.
"""

from __future__ import annotations

import structlog

from shared.errors import NotAllowed
from shared.git.set_aside import updates_to_move_aside
from shared.github.base_branch import BaseBranch
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from worker_agent import comments
from worker_agent.branch.comments import started_anew
from worker_agent.phase_commits import PhaseCommits
from worker_agent.ports import Forge

log = structlog.get_logger()


class PreviousBranch:
    """Moves the branches of earlier starts in one repository."""

    def __init__(self, phase_commits: PhaseCommits, forge: Forge, base: BaseBranch) -> None:
        self._phase_commits = phase_commits
        self._forge = forge
        self._base = base

    async def set_aside(self, held: Held) -> bool:
        """Rename the branch; return False if it is a person's, or the server does not allow it.

        It moves together with the fence, and only from the head that was seen: commits pushed meanwhile stay where they
        are.
        """
        fence, branch = held.fence, comments.branch(held.fence)
        await self._phase_commits.renew(fence)
        tip = await self._phase_commits.tip(fence)
        if tip is None:
            return True
        if not await self._is_ours(held, branch, tip):
            return False
        kept, updates = await updates_to_move_aside(self._phase_commits.mirror, branch, fence.key.number, tip)
        try:
            await advance(held, FenceChange(), updates=updates)
        except NotAllowed as refused:
            log.warning("branch_not_moved", outcome="skipped", branch=branch, error=str(refused))
            return False
        await self._phase_commits.renew(held.fence)
        log.info("branch_set_aside", outcome="completed", branch=branch, kept=kept, sha=tip)
        await self._forge.status.show(fence.key.number, started_anew(held.fence, kept), held)
        return True

    async def _is_ours(self, held: Held, branch: str, tip: str) -> bool:
        """Return whether one of its pull requests ended at this head, or only the engine has committed to it."""
        found = await self._forge.pulls.of_branch(branch)
        if any(pull.open for pull in found):
            return False
        base = await self._base.head_or_none(self._phase_commits.mirror.tip)
        ended = any(pull.head_sha == tip for pull in found)
        return ended or (base is not None and await self._phase_commits.history.is_all_ours(held.fence, tip, base))
