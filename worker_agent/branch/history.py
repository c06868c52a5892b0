"""The history of a work branch in git: its head's relation to our commit, and its commits' authors. Writes nothing."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from shared.errors import Transient
from shared.git.history import Commit
from shared.git.merging import merge
from shared.git.mirror import Mirror
from shared.lock.fence import Fence
from worker_agent import comments
from worker_agent.decide import Head, NextStep

log = structlog.get_logger()

HISTORY_LIMIT = 500
"""Commits looked through between the base and the head of one branch."""

_PHASE, _SYNC = "\nPhase: ", "\nPhase: sync"
"""Trailers of the engine's own commits; see `comments.commit_message`."""


_UNPUSHED = frozenset({"", NextStep.RED, NextStep.GREEN, NextStep.REFACTOR, NextStep.CONFIRMED, NextStep.DECLINED})
"""Phases of a start that has not pushed its branch yet."""


class History:
    """The work branches of one repository, as its mirror has them."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror

    async def relation(self, fence: Fence, head_sha: str) -> Head:
        """Return the relation of the branch on the git server to our commit, if GitHub shows `head_sha` as its head.

        GitHub shows a push late, so git decides. A head before our commit counts as set back only if both show the
        same.
        """
        tip = await self._mirror.refresh(f"refs/heads/{comments.branch(fence)}")
        stands = await self.standing(fence, tip)
        return Head.BEHIND if stands is Head.OURS or (stands is Head.REWOUND and tip != head_sha) else stands

    async def exists(self, fence: Fence) -> bool | None:
        """Return whether the branch is on the git server: people delete branches, and early there is none.

        None if the server does not answer.
        """
        try:
            return await self._mirror.refresh(f"refs/heads/{comments.branch(fence)}") is not None
        except Transient as error:
            log.info("branch_not_looked_up", outcome="skipped", error=str(error))
            return None

    async def standing(self, fence: Fence, tip: str | None) -> Head:
        """Return the relation of a commit of the mirror to the fence's commit; None, no branch, is behind it."""
        ours = fence.work_head
        if tip is None or tip == ours:
            return Head.BEHIND if tip is None else Head.OURS
        if not await self._mirror.obtain(ours, fence.key.ref):  # on no branch any more: nothing there is built on it
            return Head.FOREIGN
        if await self._mirror.is_ancestor(ours, tip):
            return Head.AHEAD
        emptied = bool(fence.base) and await self._mirror.is_ancestor(tip, fence.base)
        if emptied and not fence.pr and fence.phase in _UNPUSHED:  # left there by an earlier start, which was merged
            return Head.BEHIND
        return Head.REWOUND if not emptied and await self._mirror.is_ancestor(tip, ours) else Head.FOREIGN

    async def fixes(self, fence: Fence) -> int:
        """Return how many CI repairs the current round has committed."""
        trailers = f"\nPhase: {NextStep.FIX}\nRound: {fence.round}"
        commits = [commit for commit in await self._commits(fence) if _is_ours(commit, fence)]
        return sum(trailers in commit.message and "Fix CI" in commit.subject for commit in commits)

    async def collides(self, fence: Fence, base_branch: str) -> bool:
        """Return whether the base branch, as it is now, cannot be merged into our commit without a conflict."""
        tip = await self._mirror.refresh(f"refs/heads/{base_branch}")
        if tip is None or await self._mirror.is_ancestor(tip, fence.work_head):
            return False
        return bool((await merge(self._mirror.git, fence.work_head, tip)).conflicts)

    async def is_synced(self, fence: Fence) -> bool:
        """Return whether our commit is itself a merge of the base."""
        return _SYNC in await self._mirror.message(fence.work_head)

    async def judged_from(self, fence: Fence, base: str) -> str:
        """Return the commit since which everything is the engine's own and has to pass the patch policy.

        That is `base`, until a person has committed to the branch: the engine must not refuse people's commits, and its
        own commits before them were judged. A merge of the base after that brings other people's changes, too.
        """
        commits = await self._commits(fence)
        if all(_is_ours(commit, fence) for commit in commits):
            return base
        return next(commit.oid for commit in commits if not _is_ours(commit, fence) or _SYNC in commit.message)

    async def is_all_ours(self, fence: Fence, tip: str, base: str) -> bool:
        """Return whether the engine made, for this issue, every commit that `tip` has and `base` lacks."""
        commits = await self._mirror.log(tip, HISTORY_LIMIT, without=base)
        return len(commits) < HISTORY_LIMIT and all(_is_ours(commit, fence) for commit in commits)

    async def _commits(self, fence: Fence) -> Sequence[Commit]:
        """Return the commits that the branch has and its base lacks, newest first."""
        if not fence.work_head or not fence.base:
            return ()
        if not await self._mirror.obtain(fence.work_head, fence.key.ref):  # what the branch has, the fence need not
            await self._mirror.refresh(f"refs/heads/{comments.branch(fence)}")
        return await self._mirror.log(fence.work_head, HISTORY_LIMIT, without=fence.base)


def _is_ours(commit: Commit, fence: Fence) -> bool:
    """Return whether the engine made a commit for this issue: a base may bring commits that it made for others."""
    return f"\nIssue: #{fence.key.number}\n" in commit.message and _PHASE in commit.message
