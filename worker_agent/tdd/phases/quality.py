"""Quality commands: those that a project has, those that bind, and the cleaning of a change until they find nothing."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePosixPath

from shared.git import objects
from shared.git.workspace import Place
from shared.llm.port import CoderCall
from shared.newest import Newest
from shared.pending.source import activated, path_of
from shared.text import excerpt, printable
from shared.text.prompts import Untrusted
from worker_agent.errors import CycleAborted
from worker_agent.failure_artifacts import below_state
from worker_agent.phase_tools import Attempt, PhaseTools
from worker_agent.tdd.judging.verdict import ErrorType
from worker_agent.tdd.phases import activation
from worker_agent.tdd.runners.runner import Read
from worker_agent.tdd.setup.confined_command import CommandResult
from worker_agent.work_context import WorkContext

OUTPUT_BYTES = 4000
"""The most bytes of one command's output that a prompt quotes."""

NOT_BINDING = "not clean on the base, so it does not bind"

Judge = Callable[[str], Awaitable[Sequence[str]]]
"""A function that returns the faults of a tree, tests first; empty if there are none."""

ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""Date of commits that are never pushed: the same tree is the same commit, so that nothing is paid twice."""

TRIES = 3
"""The most tries at cleaning up a change with passing tests."""

KEPT = 32
"""The most trees whose results are cached."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A linter or type checker, the files by which a project configures it, and sections with the same effect."""

    command: str
    files: str
    sections: Mapping[str, str]


TOOLS: tuple[Tool, ...] = (
    Tool("ruff check .", r"\.?ruff\.toml", {"pyproject.toml": r"^\[tool\.ruff\b"}),
    Tool("mypy .", r"\.?mypy\.ini", {"pyproject.toml": r"^\[tool\.mypy\b", "setup.cfg": r"^\[mypy\b"}),
    Tool("eslint .", r"eslint\.config\.[cm]?[jt]s|\.eslintrc(\..+)?", {"package.json": r'"eslintConfig"\s*:'}),
    Tool("tsc --noEmit", r"tsconfig\.json", {}),
    Tool("go vet ./...", r"go\.mod", {}),
    Tool("cargo clippy --quiet --offline -- -D warnings", r"\.?clippy\.toml|Cargo\.toml", {}),
)
"""The known tools in the order in which they are run; a new one is one line here."""

FILES = tuple(sorted({name for tool in TOOLS for name in tool.sections}))
"""The files that are searched for such sections."""


def detected(paths: Collection[str], read: Read) -> tuple[str, ...]:
    """Return the commands of the tools that a repository with these `paths` configures in its top directory."""
    top = [path for path in paths if "/" not in path]
    return tuple(tool.command for tool in TOOLS if _is_used(tool, top, read))


def _is_used(tool: Tool, top: Collection[str], read: Read) -> bool:
    if any(re.fullmatch(tool.files, name) for name in top):
        return True
    found = ((read(name), section) for name, section in tool.sections.items() if name in top)
    return any(re.search(section, (text or b"").decode("utf-8", "replace"), re.MULTILINE) for text, section in found)


def loosened(changed: Iterable[str], planned: Collection[str]) -> tuple[str, ...]:
    """Return a sentence for each tool configuration that a change touches without the specification's permission."""
    names = "|".join(tool.files for tool in TOOLS)
    return tuple(
        f"{path}: the configuration of quality commands must stay as it is."
        for path in changed
        if path not in planned and re.fullmatch(names, PurePosixPath(path).name)
    )


def binding(base: Iterable[CommandResult]) -> tuple[str, ...]:
    """Return the commands that were clean on the base: only these are binding."""
    return tuple(ran.command for ran in base if ran.clean)


def noted(base: Sequence[CommandResult], head: Sequence[CommandResult]) -> dict[str, str]:
    """Map each command to its result on the head, for the note; a command that is not binding to that fact."""
    ended = {ran.command: ran.ending for ran in head}
    return {ran.command: ended.get(ran.command, NOT_BINDING) for ran in base}


def outputs(runs: Iterable[CommandResult]) -> str:
    """Return the output of the commands that are not clean, for a prompt."""
    return "\n\n".join(
        f"$ {ran.command}\n({ran.ending})\n{excerpt(printable(ran.output_tail).strip(), OUTPUT_BYTES)}"
        for ran in runs
        if not ran.clean
    )


def failures(runs: Iterable[CommandResult]) -> tuple[str, ...]:
    """Return a line for each command that is not clean, with the end of its output."""
    return tuple(f"`{ran.command}`: {ran.ending}: {_last_line(ran.output_tail)}" for ran in runs if not ran.clean)


def _last_line(output: str) -> str:
    return next((line.strip() for line in reversed(printable(output).splitlines()) if line.strip()), "no output")


@dataclass(frozen=True, slots=True)
class Clean:
    """A tree on which the binding commands find nothing, and the result of each command, for the note."""

    tree: str
    results: Mapping[str, str]


class QualityFix:
    """Runs the quality commands of one repository; their findings in a change are fixed without using an attempt."""

    def __init__(self, tools: PhaseTools) -> None:
        self._tools = tools
        self._ran: Newest[tuple[str, tuple[str, ...]], tuple[CommandResult, ...]] = Newest(KEPT)

    async def commands(self, work: WorkContext) -> tuple[str, ...]:
        """Return the configured commands, or else those detected by the configuration files of the base."""
        configured = work.rules.code.quality_commands
        if configured is not None:
            return configured
        paths = await self._tools.phase_commits.mirror.paths(work.base)
        found = await objects.existing(work.space.git, work.base, FILES)
        return detected(paths, found.get)

    async def problems(self, work: WorkContext, start: str, tree: str) -> tuple[str, ...]:
        """Return the faults of a tree with passing tests, made of the commit `start`; empty if it is clean."""
        changed = [change.path for change in await work.space.changes(start, tree)]
        wrong = loosened(changed, work.specification.files)
        return (*wrong, *failures(await self._binding_runs(work, tree)))

    async def results(self, work: WorkContext, tree: str) -> dict[str, str]:
        """Return the result of each command on a tree, for the note."""
        base = await self._base_runs(work)
        return noted(base, await self._binding_runs(work, tree)) if base else {}

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
            prompt = self._prompt(work, (*problems, outputs(await self._binding_runs(work, tree))), refused)
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
        return await self._run(work, tree, binding(await self._base_runs(work)), "evidence")

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
            self._ran[key] = tuple([await bench.command(command, directory, scratch, inside) for command in commands])
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
