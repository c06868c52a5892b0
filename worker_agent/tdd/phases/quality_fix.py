"""Quality commands on committed trees, and the cleaning of a change until the binding ones find nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from shared.git import objects
from shared.git.workspace import Place
from shared.llm.port import CoderCall
from shared.pending.source import activated, path_of
from shared.text.prompts import Untrusted
from worker_agent.errors import CycleAborted
from worker_agent.failure_artifacts import below_state
from worker_agent.phase_tools import Attempt, PhaseTools
from worker_agent.tdd.judging.verdict import ErrorType
from worker_agent.tdd.phases import activation, quality
from worker_agent.tdd.setup.command_result import CommandResult
from worker_agent.work_context import WorkContext

Judge = Callable[[str], Awaitable[Sequence[str]]]
"""A function that returns the faults of a tree, tests first; empty if there are none."""

ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""Date of commits that are never pushed: the same tree is the same commit, so that nothing is paid twice."""

TRIES = 3
"""The most tries at cleaning up a change with passing tests."""

KEPT = 32
"""The most trees whose results are cached."""


@dataclass(frozen=True, slots=True)
class Clean:
    """A tree on which the binding commands find nothing, and the result of each command, for the note."""

    tree: str
    results: Mapping[str, str] = field(default_factory=dict)


class QualityFix:
    """Runs the quality commands of one repository; their findings in a change are fixed without using an attempt."""

    def __init__(self, tools: PhaseTools) -> None:
        self._tools = tools
        self._ran: dict[tuple[str, tuple[str, ...]], tuple[CommandResult, ...]] = {}

    async def commands(self, work: WorkContext) -> tuple[str, ...]:
        """Return the configured commands, or else those detected by the configuration files of the base."""
        configured = work.rules.code.quality_commands
        if configured is not None:
            return configured
        paths = await self._tools.phase_commits.mirror.paths(work.base)
        found = await objects.existing(work.space.git, work.base, quality.FILES)
        return quality.detected(paths, found.get)

    async def problems(self, work: WorkContext, start: str, tree: str) -> tuple[str, ...]:
        """Return the faults of a tree with passing tests, made of the commit `start`; empty if it is clean."""
        changed = [change.path for change in await work.space.changes(start, tree)]
        loosened = quality.loosened(changed, work.specification.files)
        return (*loosened, *quality.failures(await self._binding_runs(work, tree)))

    async def results(self, work: WorkContext, tree: str) -> dict[str, str]:
        """Return the result of each command on a tree, for the note."""
        base = await self._base_runs(work)
        return quality.noted(base, await self._binding_runs(work, tree)) if base else {}

    async def cleaned(self, work: WorkContext, start: str, tree: str, judge: Judge) -> Clean:
        """Clean up a tree made of the commit `start` with passing tests, until every binding command is clean.

        A model's result is taken only if `judge` finds no fault in it. Raises `CycleAborted` if the tree is not clean
        after the last try.
        """
        problems = await self.problems(work, start, tree)
        refused: tuple[str, ...] = ()
        for retry in range(TRIES):
            if not problems:
                break
            commit = await work.space.commit(tree, (start,), "Not cleaned up yet", ANY_TIME)
            topic = " ".join(filter(None, (work.topic, "quality")))
            turn = Attempt(round=work.held.fence.round, retry=retry)
            prompt = self._prompt(work, (*problems, quality.outputs(await self._binding_runs(work, tree))), refused)
            result = await self._tools.edit(replace(work, topic=topic), CoderCall.REFACTOR, commit, turn, prompt)
            work.held.check()
            refused = tuple(await judge(result))
            if not refused:
                tree, problems = result, await self.problems(work, start, result)
        if problems:
            sentence = f"The tests pass, but quality commands find faults after {TRIES} tries to clean up."
            error = CycleAborted(ErrorType.IMPLEMENTATION_FAILED, sentence, (*problems, *refused))
            patch = await self._tools.phase_commits.rescue(work.held.fence, work.space, start)
            if patch is not None:
                error.kept = f"`{below_state(patch)}` in the state directory of {work.held.fence.agent}"
            raise error
        return Clean(tree, await self.results(work, tree))

    async def _binding_runs(self, work: WorkContext, tree: str) -> tuple[CommandResult, ...]:
        """Run the commands that were clean on the base on this tree."""
        return await self._run(work, tree, quality.binding(await self._base_runs(work)), "evidence")

    async def _base_runs(self, work: WorkContext) -> tuple[CommandResult, ...]:
        """Run the commands on the base without a pending test's marker: what its removal leaves binds nobody."""
        return await self._run(work, await self._unmarked_base(work), await self.commands(work), "base")

    async def _unmarked_base(self, work: WorkContext) -> str:
        test = activation.pending_test(work.issue, work.held.claimant)
        files = await objects.existing(work.space.git, work.base, [path_of(test)]) if test else {}
        marked = activation.waiting(files, test)
        if marked is None or marked.bare:
            return work.base
        path = path_of(test)
        return await work.space.with_file(work.base, path, activated(files[path], marked))

    async def _run(
        self, work: WorkContext, commit_or_tree: str, commands: tuple[str, ...], into: Place
    ) -> tuple[CommandResult, ...]:
        """Run each command in the same fresh checkout, one after the other; once per tree."""
        if not commands:
            return ()
        key = (await work.space.tree_of(commit_or_tree), commands)
        if key not in self._ran:
            directory = await work.space.checkout(commit_or_tree, into)
            scratch = work.space.root / "scratch"
            scratch.mkdir(exist_ok=True)
            inside, bench = work.rules.code.working_directory, self._tools.test_runs.bench_of(work)
            found = [await bench.command(command, directory, scratch, inside) for command in commands]
            self._ran = dict(list(self._ran.items())[1 - KEPT :]) | {key: tuple(found)}
        return self._ran[key]

    def _prompt(self, work: WorkContext, found: Sequence[str], refused: Sequence[str]) -> str:
        return self._tools.prompt(
            "clean_up",
            work,
            conventions=work.conventions or "none",
            test_command=work.test_commands,
            output=Untrusted("\n".join(filter(None, found))),
            failures=Untrusted("\n".join(refused) or "none so far"),
        )
