"""Changes to a pull request that is open already: CI repairs and answers to a review."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from shared.ci import logs as ci_logs
from shared.ci.triage import Failure
from shared.git import objects
from shared.git.notes import CommitKind, Note, NoteError
from shared.git.patch_policy import WORKFLOW
from shared.github.ports import Checks
from shared.llm.port import CoderCall
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from shared.models import CheckOutcome, Issue
from shared.text import change_summary, excerpt
from shared.text.prompts import Untrusted
from shared.workflow import Event, Stage, Track, move
from worker_agent import decide
from worker_agent.attempt_history import CI_RED
from worker_agent.errors import CycleAborted
from worker_agent.feedback import answers
from worker_agent.feedback.items import Item
from worker_agent.feedback.rounds import Rounds
from worker_agent.phase_commits import PhaseCommit
from worker_agent.phase_tools import Attempt, PhaseTools
from worker_agent.tdd.judging.judge import judge_kept
from worker_agent.tdd.judging.verdict import ErrorType
from worker_agent.tdd.phases.quality import Clean, QualityFix
from worker_agent.tdd.proof.old_tests import later_losses
from worker_agent.tdd.renewed_evidence import RenewedEvidence
from worker_agent.tdd.runners.test_run import TestRun
from worker_agent.work_context import WorkContext

_Prompt = Callable[[Sequence[str]], str]

LOG_BYTES = 12_000
"""The most bytes of the failing jobs' logs that a prompt quotes, tail first."""

UNCHANGED = "Nothing was changed."

TRIES = 3
"""The most tries of one repair whose result breaks tests."""

_PATH = f"({WORKFLOW.pattern})"

_BLAMED = (
    re.compile(rf"Invalid workflow file: {_PATH}"),
    re.compile(rf"{_PATH} \(Line: \d+, Col: \d+\):"),
    re.compile(rf"^{_PATH}:\d+: failure:"),
    re.compile(rf"##\[error\].*{_PATH}"),
)
"""GitHub's messages that blame a workflow file: an invalid file, an annotation, an error of the step itself."""

_NOT_STARTED = re.compile(r"^startup_failure\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _RequestedChange:
    """One requested change; `then` is the phase after its push, `items` the remarks that it answers.

    `renewed`: the issue's text was edited since the change was made, which may require no change at all. `why` is the
    error of the commit before.
    """

    call: CoderCall
    first: Attempt
    subject: str
    prompt: _Prompt
    then: decide.NextStep = decide.NextStep.CI
    items: tuple[Item, ...] = ()
    renewed: bool = False
    why: NoteError | None = None

    def explains(self, text: str) -> bool:
        """Return whether these words of the coder justify that it changed nothing."""
        return answers.explains(self.items, text) or (self.renewed and not self.items and bool(text.strip()))


class Repairs:
    """One more change on top of a green commit; every test that passed there must still pass."""

    def __init__(
        self,
        tools: PhaseTools,
        checks: Checks,
        rounds: Rounds,
        quality_fix: QualityFix,
        *,
        may_edit_workflows: bool = False,
    ) -> None:
        """`may_edit_workflows`: a repair may change a CI workflow file if that file is the cause of the failure."""
        self._tools = tools
        self._quality_fix = quality_fix
        self._evidence = RenewedEvidence(tools)
        self._may_edit_workflows = may_edit_workflows
        self._checks = checks
        self._rounds = rounds

    async def fix_ci(self, held: Held, issue: Issue, fixes: int) -> None:
        """Repair the failures of the current head's checks."""
        work = await self._tools.open(held, issue)
        failed = [c for c in await self._checks.of(held.fence.work_head) if c.outcome is CheckOutcome.FAILED]
        red = await ci_logs.failures(self._checks, failed, LOG_BYTES)
        said = ci_logs.outputs(red)
        if self._may_edit_workflows:
            paths = await self._tools.phase_commits.mirror.paths(held.fence.work_head)
            work = replace(work, allowed=blamed(said, paths))
        diff = excerpt(await work.space.diff(work.base, held.fence.work_head), LOG_BYTES)
        rule = editable(work.allowed)

        def prompt(problems: Sequence[str]) -> str:
            return self._tools.prompt(
                "fix_ci",
                work,
                log=Untrusted(said),
                failures=Untrusted(_as_list(problems)),
                diff=Untrusted(diff),
                github=rule,
            )

        first = Attempt(attempt=fixes + 1, round=held.fence.round)
        why = _red_before(first, red, held)
        await self._change(
            held, work, _RequestedChange(CoderCall.FIX_CI, first, f"Fix CI for {issue.title}", prompt, why=why)
        )

    async def address_review(self, held: Held, issue: Issue) -> None:
        """Work on every open remark; the answers to them are stored in the commit's note.

        If nothing was said and the issue's text is the same, CI is read anew and no coder is paid.
        """
        items, renewed = await self._rounds.round_items(held), held.fence.phase == decide.NextStep.TEXT
        if not items and not renewed:
            await self.read_ci(held)
            return
        work = await self._tools.open(held, issue)
        findings = answers.findings(items, renewed=renewed)

        def prompt(problems: Sequence[str]) -> str:
            text = findings if not problems else f"{findings}\n\nYour last change was refused:\n{_as_list(problems)}"
            return self._tools.prompt(
                "address_review", work, findings=Untrusted(text), conventions=work.conventions or "none"
            )

        first = Attempt(round=held.fence.round)
        subject = f"Address review of {issue.title}"
        requested = _RequestedChange(
            CoderCall.IMPLEMENT, first, subject, prompt, decide.NextStep.ANSWER, items, renewed
        )
        await self._change(held, work, requested)

    async def read_ci(self, held: Held) -> None:
        """Accept the branch as it is: move on to CI, which opens its pull request or reads its checks."""
        stage = move(Track.PULL_REQUEST, held.fence.stage, Event.TESTS_PASSED).to
        await advance(held, FenceChange(stage=stage, phase=decide.NextStep.CI))

    async def _change(self, held: Held, work: WorkContext, requested: _RequestedChange) -> None:
        """Ask for a change and test it, again with the problems of the last try; then commit it for CI.

        If the coder explains for everything why it changes nothing, that is accepted: the commit is empty.
        """
        start = held.fence.work_head
        before = await self._tools.test_runs.of(work, start)
        problems: tuple[str, ...] = ()
        for retry in range(TRIES):
            turn = Attempt(requested.first.attempt, requested.first.round, retry)
            tree = await self._tools.edit(work, requested.call, start, turn, requested.prompt(problems))
            held.check()
            said = self._tools.closing_text(held, tree)
            changed = {change.path for change in await work.space.changes(start, tree)}
            problems = await self._weakened_tests(work, start, tree, changed)
            if not changed and not requested.explains(said):
                problems = (UNCHANGED,)
            if not problems:
                after = await self._tools.test_runs.of(work, tree)
                problems = judge_kept(before, after, may_change=work.specification.may_change).details
            if not problems:
                given = answers.answers(requested.items, said, changed=bool(changed))
                summary = "" if requested.items else change_summary.of_coder(said)
                note = replace(_note(held, work), answers=given, error=requested.why, summary=summary)
                return await self._record(held, work, requested, tree, before, note)
        raise CycleAborted(ErrorType.REGRESSION, f"{TRIES} changes in a row broke what worked.", problems)

    async def _record(
        self, held: Held, work: WorkContext, requested: _RequestedChange, tree: str, before: TestRun, note: Note
    ) -> None:
        """Commit the passing change with its answers and evidence; quality commands may change it before that."""
        clean = await self._clean(work, tree, before)
        after = await self._tools.test_runs.of(work, clean.tree)
        note = replace(note, test_result=after.one_line())
        if clean.tree != await work.space.tree_of(held.fence.work_head):
            note = await self._evidence.added(work, clean.tree, note)
        cost = self._tools.take_spent(work.issue.number)
        note = replace(note, cost_usd=cost.usd, cost_source=cost.source, quality=clean.results)
        stage = move(Track.PULL_REQUEST, Stage.IMPLEMENTING, Event.TESTS_PASSED).to
        phased = PhaseCommit(clean.tree, held.fence.work_head, requested.subject, note)
        to = FenceChange(stage=stage, phase=requested.then)
        await self._tools.phase_commits.record(work, phased, to)

    async def _clean(self, work: WorkContext, tree: str, before: TestRun) -> Clean:
        """Return a change whose tests pass after the quality commands have run."""
        start, may_change = work.held.fence.work_head, work.specification.may_change

        async def wrong(made: str) -> Sequence[str]:
            changed = {change.path for change in await work.space.changes(start, made)}
            weakened = await self._weakened_tests(work, start, made, changed)
            if weakened:
                return weakened
            return judge_kept(before, await self._tools.test_runs.of(work, made), may_change=may_change).details

        return await self._quality_fix.cleaned(work, start, tree, wrong)

    async def _weakened_tests(
        self, work: WorkContext, start: str, tree: str, changed: Collection[str]
    ) -> tuple[str, ...]:
        """Return the problems of a change that are found without running a test: tests that became weaker."""
        paths = sorted(changed)
        before, after = [await objects.existing(work.space.git, one, paths) for one in (start, tree)]
        return later_losses(before, after, work.specification.may_change)


def _red_before(turn: Attempt, red: Sequence[Failure], held: Held) -> NoteError:
    """Return the CI failure of the commit that a repair begins with, for the next person if no repair helps."""
    of = f" of round {turn.round}" if turn.round else ""
    what = f"CI was red before repair {turn.attempt}{of}"
    return NoteError(CI_RED, what, ci_logs.brief(red), timestamp=held.server_now().isoformat())


def _as_list(problems: Sequence[str]) -> str:
    return "\n".join(f"- {problem}" for problem in problems) or "none so far"


def _note(held: Held, work: WorkContext) -> Note:
    return Note(
        issue=work.issue.number,
        cycle=1,
        phase=CommitKind.FIX,
        next_phase=decide.NextStep.CI,
        base=work.base,
        attempts=held.fence.attempt,
    )


def blamed(message: str, paths: Collection[str]) -> frozenset[str]:
    """Return the workflow files among `paths`, those of the failing commit, that CI's `message` names as the
    cause.

    If a run could not be started at all and its words name no file, the only workflow is the cause, if there is just
    one. Output of a command is no blame, but a command that imitates GitHub's messages cannot be told from them: a
    person merges each such change.
    """
    known = {path for path in paths if WORKFLOW.fullmatch(path)}
    found = {name for line in message.splitlines() for pattern in _BLAMED for name in pattern.findall(line)} & known
    return frozenset(known if not found and len(known) == 1 and _NOT_STARTED.search(message) else found)


def editable(allowed: Collection[str]) -> str:
    """Return the part of `.github/` that may not be touched, for a prompt."""
    if not allowed:
        return "`.github/`"
    return f"`.github/` (but for {', '.join(f'`{path}`' for path in sorted(allowed))}, which CI names as the cause)"
