"""The next cycle and the one under way, from the item's notes: every machine reads the same.

Also the acceptance criteria that still need a cycle, and the criterion of a phase commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from shared.git.notes import CommitKind, Note
from shared.lock.fence import FenceChange
from shared.lock.hold import Held
from shared.models import Issue
from shared.specification import Criterion
from shared.workflow import Event, Stage, Track, move
from worker_agent import comments, decide
from worker_agent.branch.history import HISTORY_LIMIT
from worker_agent.errors import BranchExists
from worker_agent.phase_tools import PhaseTools
from worker_agent.tdd.phases import skipped_criteria
from worker_agent.work_context import WorkContext


async def open_first(tools: PhaseTools, held: Held, issue: Issue) -> WorkContext:
    """Return an item's work for its first phase. Raises `BranchExists` if others have its branch already."""
    work = await tools.open(held, issue)
    if not held.fence.work_head and not await tools.phase_commits.is_branch_free(held.fence, work.base):
        raise BranchExists(comments.branch(held.fence))
    return work


async def phases(tools: PhaseTools, work: WorkContext) -> tuple[tuple[str, Note], ...]:
    """Return the item's phase commits up to the fence's, oldest first, each with its note."""
    fence = work.held.fence
    if not fence.work_head:
        return ()
    notes = await tools.phase_commits.notes(work.space, fence)
    history = await tools.phase_commits.mirror.log(fence.work_head, HISTORY_LIMIT)
    return tuple((commit.oid, notes[commit.oid]) for commit in reversed(history) if commit.oid in notes)


async def upcoming(tools: PhaseTools, work: WorkContext) -> tuple[WorkContext, ...]:
    """Return the cycles that are still to be done, the next one first; the whole specification is one cycle."""
    criteria = work.specification.criteria
    done = tuple(note for _, note in await phases(tools, work))
    aside = skipped_criteria.recorded(work.held.fence)
    begun = bool(aside) or any(note.current_test for note in done)
    if not is_split(tools.policy.code.cycles, criteria, begun=begun):
        return (work,)
    start, first = work.held.fence.work_head or work.base, 1 + len(settled(done) | aside.keys())
    return tuple(
        replace(work, base=start, criterion=criterion, cycle=first + index, topic=criterion.id)
        for index, criterion in enumerate(c for c in pending(criteria, done) if c.id not in aside)
    )


async def tests(tools: PhaseTools, work: WorkContext) -> str:
    """Return the commit with the tests of the current cycle: the fence's, unless others have committed upon it."""
    red = [commit for commit, note in await phases(tools, work) if note.phase is CommitKind.RED]
    return red[-1] if red else work.held.fence.work_head


async def under_way(tools: PhaseTools, work: WorkContext) -> WorkContext:
    """Return the cycle whose tests are the fence's commit: its criterion, and the base where they were red."""
    note = dict(await phases(tools, work)).get(work.held.fence.work_head)
    if note is None or note.phase not in {CommitKind.RED, CommitKind.SYNC}:
        return work
    criterion = of_id(work.specification.criteria, note.current_test)
    return replace(work, base=note.base, criterion=criterion, cycle=note.cycle, topic=note.current_test)


async def afterwards(tools: PhaseTools, work: WorkContext, note: Note | None = None) -> FenceChange:
    """Return the fence's change after a green cycle (with this note): the next criterion, a refactoring, or CI."""
    if note is not None and work.criterion is not None:
        done = [earlier for _, earlier in await phases(tools, work)]
        if pending(work.specification.criteria, [*done, note]):
            return FenceChange(phase=decide.NextStep.RED, attempt=0)
    if tools.policy.code.refactor != "off":
        return FenceChange(phase=decide.NextStep.REFACTOR)
    return to_ci()


def to_ci() -> FenceChange:
    """Return the fence's change for a commit that is published as a pull request."""
    stage = move(Track.SPECIFICATION, Stage.IMPLEMENTING, Event.TESTS_PASSED).to
    return FenceChange(stage=stage, phase=decide.NextStep.CI)


def settled(notes: Iterable[Note]) -> frozenset[str]:
    """Return the ids of the criteria that are green or set aside."""
    notes = tuple(notes)
    green = {note.current_test for note in notes if note.phase is CommitKind.GREEN and note.current_test}
    return frozenset(green).union(*(note.set_aside for note in notes))


def pending(criteria: Sequence[Criterion], notes: Iterable[Note]) -> tuple[Criterion, ...]:
    """Return the criteria that still need a cycle of their own, in the order of the specification."""
    done = settled(notes)
    return tuple(criterion for criterion in criteria if criterion.id not in done)


def is_split(mode: str, criteria: Sequence[Criterion], *, begun: bool) -> bool:
    """Return whether each cycle is about one criterion: if configured, or `begun` under another configuration."""
    return begun or (mode == "per-criterion" and len(criteria) > 1)


def of_id(criteria: Sequence[Criterion], id: str) -> Criterion | None:
    """Return the criterion with this id; None if there is none."""
    return next((criterion for criterion in criteria if criterion.id == id), None)
