"""The effects of people's commands on an item that nobody works on: fence, labels, pull request, branch.

The fence moves first and the labels follow it, so that a crash in between is finished by `Recovery.show`; with
a stop it moves last, so that the order itself finishes it.
The same for a comment and for `workflow-engine recover`; the next claim by any agent goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from shared.commands.command_rules import Effect, reviewed_again
from shared.errors import Transient
from shared.git.names import work_branch
from shared.git.ports import Mirror
from shared.git.set_aside import updates_to_move_aside
from shared.github.ports import LabelBoard, Pulls
from shared.lock.fence import Fence, FenceChange
from shared.lock.port import AdvanceFence, Port, ReadFence, RefUpdate
from shared.lock.write_permit import OperatorPermit
from shared.lock.writes import swap
from shared.models import Issue, PullRequest
from shared.specification import body_sha256
from shared.workflow import HALTED, TERMINAL, UNLABELLED, Role, Stage
from shared.workflow.labels import Flag, Labels, overcome

ANSWERS = frozenset({"feedback", "text", "answer", "rounds"})
"""The worker's phases that answer comments on a pull request; from every other one CI is read anew."""


@dataclass(frozen=True, slots=True)
class Case:
    """The item of a command. `fence` is that of the agent whose stage it is; the command was given in `thread`."""

    thread: Issue
    fence: Fence | None
    issue: Issue | None = None
    pull_request: PullRequest | None = None
    attempts: int = 0
    """Number of implementations that may be tried; 0 where there are none, as in a review."""
    backend: str = ""
    """The coder of the next attempts; empty for the configured one."""

    @property
    def under_way(self) -> PullRequest | None:
        """The pull request, while it is open."""
        return self.pull_request if self.pull_request is not None and self.pull_request.open else None


class Recovery:
    """Carries out commands. Every effect is convergent; nothing is done to an item that an agent holds."""

    def __init__(self, labels: LabelBoard, pulls: Pulls, branches: Mirror, port: Port, names: Labels) -> None:
        self._labels = labels
        self._pulls = pulls
        self._branches = branches
        self._port = port
        self.names = names

    async def carry_out(self, effect: Effect, case: Case, permit: OperatorPermit) -> str:
        """Carry out `effect`; return a sentence that says what was done. Raises `Transient`, `Blocked`."""
        match effect:
            case Effect.START:
                return await self._begin(case, permit)
            case Effect.PAUSE:
                await self._labels.add(case.thread.number, [self.names.of(Flag.PAUSED)], permit)
                return f"paused: `{self.names.of(Flag.PAUSED)}` is set"
            case Effect.RESUME:
                return await self._resume(case, permit)
            case Effect.STOP:
                return await self._stop(case, permit)
            case Effect.RETRY | Effect.RESET_ATTEMPTS:
                return await self._retry(case, permit, afresh=effect is Effect.RESET_ATTEMPTS)
            case Effect.SPEC_REVIEW:
                return await self._spec_review(case, permit)
            case Effect.CLOSE_AND_RESET:
                return await self._reset(case, permit)
            case Effect.DECIDE:  # pragma: no branch - the agent that asked reads it itself
                return "read by the agent that asked for it"

    async def show(self, case: Case, permit: OperatorPermit) -> None:
        """Set the labels by a fence that a command has moved."""
        fence = case.fence
        if fence is None or fence.stage in UNLABELLED:
            return
        if fence.key.kind is not Role.WORKER:
            await self._label(case.thread, fence.stage, permit)
            return
        if case.under_way is not None:
            await self._label(case.under_way, Stage.CHANGES_REQUESTED, permit, case.issue)
        if case.issue is not None:  # last: by the label of the issue the rest is found after a crash
            stage = Stage.REVIEWING if case.under_way else fence.stage
            await self._label(case.issue, stage, permit, case.issue)

    async def _label(
        self, item: Issue | PullRequest, stage: Stage, permit: OperatorPermit, issue: Issue | None = None
    ) -> None:
        """Show a stage, and take off the flags that its command overcomes; `issue` is the one that is worked on."""
        known = self.names.read(item.labels).flags
        ended = overcome(self.names.read(issue.labels).flags if issue is not None else frozenset())
        gone = tuple(flag for flag in (*ended, Flag.PAUSED) if flag in known)
        await self._labels.show(item.number, stage, permit, known=item.labels, flags_off=gone)

    async def _resume(self, case: Case, permit: OperatorPermit) -> str:
        """Take off the pause flag, which may stand on the issue or on its pull request."""
        paused, taken = self.names.of(Flag.PAUSED), False
        for item in _each_once(case.thread, case.issue, case.pull_request):
            for label in sorted(item.labels):
                if label.casefold() == paused.casefold():
                    await self._labels.remove(item.number, label, permit)
                    taken = True
        return "it goes on" if taken else "it was not paused"

    async def _stop(self, case: Case, permit: OperatorPermit) -> str:
        """Take off the labels first: once the fence says that it has ended, a repeated order would be refused."""
        for stage in sorted(self.names.read(case.thread.labels).stages):
            await self._labels.remove(case.thread.number, self.names.of(stage), permit)
        if case.fence is not None and case.fence.stage not in TERMINAL:
            await self._move(case.fence, FenceChange(stage=Stage.WITHDRAWN, wait=None))
        return "stopped; the branch is kept"

    async def _retry(self, case: Case, permit: OperatorPermit, *, afresh: bool) -> str:
        fence = case.fence
        if fence is None:
            return await self._begin(case, permit)
        if fence.stage not in HALTED | TERMINAL:
            return await self._end_wait(fence, case.backend)
        if fence.key.kind is Role.WORKER and case.under_way is None and fence.pr:
            return await self._reset(case, permit)  # its pull request has ended, and its branch would be in the way
        attempt = 0 if afresh else min(fence.attempt, max(case.attempts - 1, 0))
        change, rounds = _renewing_change(case, fence, attempt, permit), ""
        if afresh and fence.key.kind is Role.REVIEWER:
            change, rounds = replace(change, round=0), " with all rounds again"
        moved = await self._move(fence, change)
        await self.show(replace(case, fence=moved), permit)
        left = f" with {case.attempts - attempt} of {case.attempts} attempts" if case.attempts else ""
        return f"it goes on{rounds}{left}{f' and {case.backend}' if case.backend else ''}"

    async def _begin(self, case: Case, permit: OperatorPermit) -> str:
        """Set the first label: nothing was recorded of the item, so it can only begin."""
        stage = Stage.REVIEWING if case.thread.is_pull_request else Stage.READY
        await self._label(case.thread, stage, permit)
        return f"it begins: `{self.names.of(stage)}` is set"

    async def _end_wait(self, fence: Fence, backend: str) -> str:
        if fence.wait is None and fence.backend == backend:
            return "it is being worked on; nothing waits"
        await self._move(fence, FenceChange(wait=None, failures="", backend=backend))
        return f"it goes on with {backend}" if backend else "it waits no longer"

    async def _spec_review(self, case: Case, permit: OperatorPermit) -> str:
        if case.fence is not None and case.fence.key.kind is Role.WORKER:
            await self._move(case.fence, FenceChange(stage=Stage.FAILED, phase="", wait=None))
        closed = await self._close(case, permit)
        item, flag = case.issue or case.thread, Flag.SPEC_REVIEW_NEEDED
        await self._labels.show(item.number, Stage.FAILED, permit, known=item.labels, flags_on=(flag,))
        of, where = ("its text", "") if item.number == case.thread.number else (f"the text of #{item.number}", " there")
        return f"{closed}it waits until {of} is corrected; then `/close-and-reset`{where} starts over"

    async def _reset(self, case: Case, permit: OperatorPermit) -> str:
        """Start over from the current base, as if never begun; the old branch is kept under another name."""
        fence, kept = case.fence, ""
        closed = await self._close(case, permit)
        if fence is not None:
            kept, updates = await self._set_aside(fence)
            blank = replace(_clearing_change(case, permit), phase="", attempt=0, round=0, pr=0, base="", work_head="")
            case = replace(case, fence=await self._move(fence, blank, updates), pull_request=None)
            await self.show(case, permit)
        else:
            await self._begin(case, permit)
        return f"{closed}{kept}it starts over from the current base"

    async def _close(self, case: Case, permit: OperatorPermit) -> str:
        if case.under_way is None:
            return ""
        await self._pulls.close(case.under_way.number, permit)
        return f"#{case.under_way.number} is closed, "

    async def _set_aside(self, fence: Fence) -> tuple[str, tuple[RefUpdate, ...]]:
        """Return a note and the ref updates that move the work branch aside with the fence; empty without a branch."""
        branch = fence.branch or work_branch(fence.key.number)
        tip = await self._branches.refresh(f"refs/heads/{branch}")
        if tip is None:
            return "", ()
        kept, updates = await updates_to_move_aside(self._branches, branch, fence.key.number, tip)
        return f"its branch is kept as `{kept}`, ", updates

    async def _move(self, fence: Fence, change: FenceChange, updates: tuple[RefUpdate, ...] = ()) -> Fence:
        """Compare-and-swap from the fence as it was seen; raises `Transient` if somebody else has moved it."""
        reply = await self._port.request(ReadFence(fence.key))
        moved = None
        if reply.value is not None and reply.value.oid == fence.oid:
            new = replace(change.of(fence), released=fence.nonce, at=reply.at.replace(microsecond=0), oid="")
            moved = await swap(self._port, AdvanceFence(new, fence.oid, updates=updates))
        if moved is None:
            raise Transient(f"{fence.key.ref} has just been moved by an agent; looking again.")
        return moved


def _renewing_change(case: Case, fence: Fence, attempt: int, permit: OperatorPermit) -> FenceChange:
    """Return the change of a fence whose agent is to go on where it stopped."""
    change = replace(_clearing_change(case, permit), attempt=attempt)
    match fence.key.kind:
        case Role.PLANNER:
            afresh = replace(change, stage=Stage.PLANNING, phase="draft", attempt=fence.attempt + 1, round=0)
            return replace(afresh, approved_by="")  # of the new plan nobody has yet
        case Role.REVIEWER:
            return replace(change, stage=Stage.REVIEWING, phase=reviewed_again(fence.work_head), attempt=0)
        case _:
            halted_in_ci = fence.stage is Stage.CI_FAILED or fence.phase not in ANSWERS
            return replace(change, phase="" if halted_in_ci and case.under_way is not None else fence.phase)


def _clearing_change(case: Case, permit: OperatorPermit) -> FenceChange:
    """Return the change to go on with the text just read; `TextUnchanged` checks that the command was about it."""
    text = "" if case.issue is None else body_sha256(case.issue.title, case.issue.body)
    return FenceChange(
        stage=Stage.READY,
        wait=None,
        paid_runs=0,
        failures="",
        next_role="",
        body_sha256=text,
        backend=case.backend,
        approved_by=permit.reason,
    )


def _each_once(*items: Issue | PullRequest | None) -> Iterable[Issue | PullRequest]:
    """Return each item once."""
    return {item.number: item for item in items if item is not None}.values()
