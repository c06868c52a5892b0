"""Merges of the base branch into a work branch: by git, tested, and with one try by a coder to resolve conflicts.

Never a rebase, never a forced push. A merge uses no attempt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from shared.git import objects
from shared.git.merging import Conflict, Merged, has_markers, merge
from shared.git.notes import CommitKind, Note
from shared.git.patch_policy import PatchRefused
from shared.llm.port import CoderCall
from shared.lock.fence import FenceChange
from shared.lock.hold import Held
from shared.models import Issue
from shared.text import excerpt
from shared.workflow import Stage
from shared.workflow.labels import Flag
from worker_agent import comments, decide
from worker_agent.branch.comments import in_step
from worker_agent.errors import BaseGone, ConflictUnresolved
from worker_agent.phase_commits import PhaseCommit
from worker_agent.phase_tools import Attempt, PhaseTools
from worker_agent.policy import Policy
from worker_agent.ports import Forge
from worker_agent.tdd.judging.verdict import listed, output, result_text
from worker_agent.tdd.proof.old_tests import later_losses
from worker_agent.tdd.runners.test_run import TestRun
from worker_agent.work_context import WorkContext

log = structlog.get_logger()

DIFF_BYTES = 12_000
"""The most bytes of this branch's change that the prompt quotes."""


@dataclass(frozen=True, slots=True)
class _Meeting:
    """A branch and a base that moved on; `work.base` is the base's new head, `own` the branch's changed paths."""

    work: WorkContext
    ours: str
    base_branch: str
    merged: Merged
    own: Collection[str]

    @property
    def theirs(self) -> str:
        return self.work.base


class Sync:
    """Brings work branches in step with their base."""

    def __init__(self, tools: PhaseTools, forge: Forge, policy: Policy) -> None:
        self._tools = tools
        self._forge = forge
        self._policy = policy

    async def bring(self, held: Held, issue: Issue, base_branch: str) -> bool:
        """Merge the base, as it was last fetched, if the branch lacks it; return whether there was anything to merge.

        Raises `MergeFailed` if git fails without a conflict, `BaseGone`, and `ConflictUnresolved` if the one try to
        resolve it has failed: then the branch is unchanged.
        """
        phase_commits = self._tools.phase_commits
        tip = await phase_commits.mirror.tip(base_branch)
        if tip is None:
            raise BaseGone(base_branch)
        if await phase_commits.mirror.is_ancestor(tip, held.fence.work_head):
            return False
        meeting = await self._meet(held, issue, base_branch, tip)
        tree, problems = meeting.merged.tree, tuple(described(meeting.merged.conflicts))
        if not problems:
            run, problems = await self._test_merge(meeting, tree)
        if problems:
            tree, run = await self._resolve_conflict(held, meeting, problems)
            had_conflict = self._policy.names.of(Flag.HAD_CONFLICT)
            await self._forge.labels.add(held.fence.pr, [had_conflict], held)  # first: none is pushed without it
        await self._record(held, meeting, tree, run)
        log.info("base_merged", outcome="completed", base=meeting.theirs, problems=len(problems))
        await self._forge.status.show(issue.number, in_step(held.fence, base_branch, problems), held)
        return True

    async def _meet(self, held: Held, issue: Issue, base_branch: str, tip: str) -> _Meeting:
        work, ours = await self._tools.open(held, issue), held.fence.work_head
        await work.space.bring(tip)
        paths = {change.path for change in await work.space.changes(work.base, ours)}
        merged = await merge(work.space.git, ours, tip)
        return _Meeting(replace(work, base=tip), ours, base_branch, merged, paths)

    async def _test_merge(self, m: _Meeting, tree: str) -> tuple[TestRun, tuple[str, ...]]:
        """Return the run of a merged tree, and the tests that passed on either side and fail there."""
        ours = await self._tools.test_runs.of(m.work, m.ours, since=m.ours)
        base = await self._tools.test_runs.of_base(m.work, m.theirs)
        merged = await self._tools.test_runs.of(m.work, tree, since=m.merged.tree)
        return merged, newly_failing(ours, base, merged, m.own)

    async def _resolve_conflict(self, held: Held, m: _Meeting, problems: tuple[str, ...]) -> tuple[str, TestRun]:
        """Let a coder try once to resolve the conflict; return the finished tree and its run."""
        space, fence = m.work.space, held.fence
        start = await space.commit(m.merged.tree, (m.ours, m.theirs), "Merge, unfinished", held.server_now())
        prompt = self._tools.prompt(
            "resolve_conflict",
            m.work,
            base=f"{m.base_branch} at {m.theirs}",
            conflicts="\n".join(described(m.merged.conflicts)) or "Nothing by text: git could merge every file.",
            problems="none are known" if m.merged.conflicts else "\n".join(problems),
            diff=excerpt(await space.diff(fence.base, m.ours), DIFF_BYTES),
        )
        tree = await self._tools.edit(m.work, CoderCall.RESOLVE_CONFLICT, start, Attempt(round=fence.round), prompt)
        held.check()
        run, left = await self._check_resolution(m, tree)
        if left:
            sides = (f"{m.base_branch} ({m.theirs[:12]})", f"{comments.branch(fence)} ({m.ours[:12]})")
            raise ConflictUnresolved(sides, problems, left)
        return tree, run

    async def _check_resolution(self, m: _Meeting, tree: str) -> tuple[TestRun, tuple[str, ...]]:
        """Return the run of a resolution, and its problems."""
        refused = await self._resolution_problems(m, tree)
        if refused:
            return TestRun(finished=False), refused
        try:
            return await self._test_merge(m, tree)
        except PatchRefused as refusal:
            return TestRun(finished=False), (str(refusal),)

    async def _resolution_problems(self, m: _Meeting, tree: str) -> tuple[str, ...]:
        """Return the problems of a resolution that are found before it is run; the patch policy judges the rest."""
        wanted = m.work.specification
        colliding = {conflict.path for conflict in m.merged.conflicts}
        paths = sorted(colliding | {change.path for change in await m.work.space.changes(m.merged.tree, tree)})
        before, after = [await objects.existing(m.work.space.git, one, paths) for one in (m.merged.tree, tree)]
        free = {*wanted.may_change, *colliding}
        return (*unresolved(m.merged.conflicts, before, after), *later_losses(before, after, free))

    async def _record(self, held: Held, m: _Meeting, tree: str, run: TestRun) -> None:
        fence = held.fence
        answers = fence.phase in {decide.NextStep.FEEDBACK, decide.NextStep.TEXT}
        to = FenceChange(phase=fence.phase) if answers else FenceChange(stage=Stage.TESTING, phase=decide.NextStep.CI)
        cost = self._tools.take_spent(m.work.issue.number)
        note = Note(
            issue=m.work.issue.number,
            cycle=1,
            phase=CommitKind.SYNC,
            next_phase=to.phase or "",
            base=m.theirs,
            test_result=run.one_line(),
            exit_code=run.code,
            attempts=fence.attempt,
            cost_usd=cost.usd,
            cost_source=cost.source,
        )
        subject = f"Merge {m.base_branch} into {comments.branch(fence)}"
        phased = PhaseCommit(tree, m.ours, subject, note, merged=m.theirs, since=m.merged.tree)
        await self._tools.phase_commits.record(m.work, phased, to)


def newly_failing(ours: TestRun, base: TestRun, merged: TestRun, own_files: Collection[str]) -> tuple[str, ...]:
    """Return a line for each test that passed on either side and fails after the merge.

    Tests that the base itself breaks, moves or removes do not count, unless they are in `own_files`, the paths that our
    branch has changed. A run that did not finish proves nothing, and is reported with its output.
    """
    if not merged.finished:
        return output(merged)
    missing = sorted((ours.passed | base.passed) - merged.passed)
    gone = [test for test in missing if test in base.passed or ours.results[test].file in own_files]
    return listed(
        result_text(merged.results[test]) if test in merged.results else f"{test}: did not run" for test in gone
    )


def unresolved(
    conflicts: Sequence[Conflict], before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> tuple[str, ...]:
    """Return a line for each file that still has conflict markers, in conflict or changed while resolving one.

    `before` and `after` hold the files as git merged them and as they were left, by path, as far as they exist. A file
    outside of the conflict with such lines that nobody touched is a text about git.
    """
    paths = {conflict.path for conflict in conflicts} | {path for path in after if after[path] != before.get(path)}
    return tuple(f"{path}: conflict markers are left." for path in sorted(paths) if has_markers(after.get(path, b"")))


def described(conflicts: Sequence[Conflict]) -> Iterator[str]:
    """Yield each conflict as a line for people and coders."""
    return (f"{conflict.path} ({_KINDS[conflict.kind]})" for conflict in conflicts)


_KINDS = {
    "UU": "changed on both sides",
    "AA": "added on both sides",
    "DD": "moved or deleted on both sides",
    "AU": "added or moved by this branch",
    "UA": "added or moved by the base",
    "DU": "deleted by this branch, changed by the base",
    "UD": "changed by this branch, deleted by the base",
}
