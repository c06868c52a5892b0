"""One run of the tests of exactly one tree: a fresh checkout, the files put over it, and the choice of tests.

Base, head and damaged heads are run at the same path, because the names of some tests contain it.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from anyio import to_thread

from shared.git import objects
from shared.git.workspace import Workspace
from worker_agent.tdd.runners.control import Control, watched
from worker_agent.tdd.runners.runner import Selection, Suite
from worker_agent.tdd.runners.test_bench import TestBench, Tests
from worker_agent.tdd.runners.test_run import ORDINARY, RunPurpose, TestId, TestResult, TestRun

CONTROLLED_FILES = 3
"""The most test files of one run that get control tests; the first ones by name."""

_WORD = re.compile(r"[a-z]{3,12}")


@dataclass(frozen=True, slots=True)
class Overlay:
    """The changes to a checkout for one run: the content of files by path, None for a deleted one.

    Control tests are put into the files `controlled`. With `moved` the run has another directory, and with
    `clock_shift` its clock is ahead by so many seconds. The purpose makes no difference to the run.
    """

    files: Mapping[str, bytes | None] = field(default_factory=dict)
    controlled: tuple[str, ...] = ()
    moved: bool = False
    clock_shift: int | None = None
    again: int = 0
    purpose: RunPurpose = field(default=ORDINARY, compare=False)

    @property
    def digest(self) -> str:
        """A hash of the overlay; the same for equal overlays."""
        parts = (sorted(self.files.items(), key=str), self.controlled, self.moved, self.clock_shift, self.again)
        return hashlib.sha256(repr(parts).encode()).hexdigest()


NOTHING_OVER = Overlay()


@dataclass(frozen=True, slots=True)
class Execution:
    """The set-up for running one item's tests; `announced` are paths that the repository will have itself."""

    bench: TestBench
    suites: tuple[Suite, ...]
    space: Workspace
    announced: Collection[str] = ()

    async def run(
        self,
        tree: str,
        over: Overlay = NOTHING_OVER,
        selection: Selection | None = None,
        deadline_seconds: float | None = None,
    ) -> TestRun:
        """Run the tests of this commit or tree. Raises what `TestBench.run` raises."""
        runs = []
        for suite in self.suites:
            chosen = _part_of_suite(suite, selection)
            if chosen is None or chosen.files:
                runs.append(await self._suite(suite, tree, over, chosen, deadline_seconds))
        return merged(runs)

    async def _suite(
        self, suite: Suite, tree: str, over: Overlay, selection: Selection | None, deadline_seconds: float | None
    ) -> TestRun:
        root = await self.space.checkout(tree, "moved" if over.moved else "evidence")
        controls = await self._controls(suite, tree, over)
        laid = dict(over.files) | {control.path: control.content for control in controls}
        await to_thread.run_sync(_write_files, root, laid)
        scratch = self.space.root / "scratch"
        scratch.mkdir(exist_ok=True)
        announced = tuple(path.removeprefix(suite.lead) for path in self.announced)
        tests = Tests(
            suite.runner,
            suite.test_command,
            _with_controls(selection, suite, controls),
            announced,
            suite.directory,
            deadline_seconds,
            over.clock_shift,
            over.purpose,
            frozenset(name for control in controls for name in control.names),
        )
        run = await self.bench.run(tests, root, scratch)
        run = prefixed(run, suite.directory)
        for control in controls:
            run = watched(run, control)
        return run

    async def _controls(self, suite: Suite, tree: str, over: Overlay) -> list[Control]:
        """Return the control tests of one run; their names and places differ from run to run."""
        found: list[Control] = []
        for path in sorted(over.controlled):
            if not path.startswith(suite.lead) or len(found) == CONTROLLED_FILES:
                continue
            content = over.files.get(path)
            if content is None:
                (content,) = await objects.read(self.space.git, [f"{tree}:{path}"])
            if content is not None:
                control = suite.runner.control(path, content, fresh_names(content))
                found += [control] if control else []
        return found


def fresh_names(content: bytes) -> tuple[str, ...]:
    """Return names made of the words of a file, which it does not have yet."""
    text = content.decode("utf-8", "replace").lower()
    words = sorted(set(_WORD.findall(text))) or ["value", "other", "empty", "name"]
    found: set[str] = set()
    while len(found) < 6:
        name = "_".join(secrets.choice(words) for _ in range(3 + len(found) // 4))
        if name not in text:
            found.add(name)
    return tuple(sorted(found, key=lambda _: secrets.randbits(30)))


def prefixed(run: TestRun, directory: str) -> TestRun:
    """Return a run of the tests below `directory`, with files and ids as the whole repository names them."""
    if not directory:
        return run
    results = {_join(directory, test): _below_directory(result, directory) for test, result in run.results.items()}
    broken = {_join(directory, path): _below_directory(result, directory) for path, result in run.broken_files.items()}
    return replace(run, results=results, broken_files=broken)


def merged(runs: Sequence[TestRun]) -> TestRun:
    """Return the runs of several suites as one; it is finished, and controlled, if each of them is."""
    if len(runs) == 1:
        return runs[0]
    controls = {run.controlled for run in runs if run.controlled is not None}
    return TestRun(
        results={test: result for run in runs for test, result in run.results.items()},
        broken_files={path: result for run in runs for path, result in run.broken_files.items()},
        finished=all(run.finished for run in runs),
        code=max((run.code for run in runs), default=0, key=abs),
        output_tail="\n".join(run.output_tail for run in runs if not run.finished),
        timed_out=any(run.timed_out for run in runs),
        limit=next((run.limit for run in runs if run.limit), None),
        controlled=None if not controls else all(controls),
        seconds=sum(run.seconds for run in runs),
        missing=next((run.missing for run in runs if run.missing), ""),
    )


def _part_of_suite(suite: Suite, selection: Selection | None) -> Selection | None:
    """Return the part of a selection that a suite runs, by the names that it has there."""
    if selection is None:
        return None
    lead = suite.lead
    files = frozenset(path.removeprefix(lead) for path in selection.files if path.startswith(lead))
    tests = frozenset(test.removeprefix(lead) for test in selection.tests if test.startswith(lead))
    return Selection(files, tests)


def _with_controls(selection: Selection | None, suite: Suite, controls: Sequence[Control]) -> Selection | None:
    """Return the selection with the control tests, if it names single tests."""
    if selection is None or not selection.tests:
        return selection
    own = {f"{c.path.removeprefix(suite.lead)}::{name}" for c in controls for name in c.names}
    return replace(selection, tests=selection.tests | own)


def _join(directory: str, name: str) -> TestId:
    return f"{directory}/{name}" if name else directory


def _below_directory(result: TestResult, directory: str) -> TestResult:
    return replace(result, id=_join(directory, result.id), file=_join(directory, result.file) if result.file else "")


def _write_files(checkout: Path, files: Mapping[str, bytes | None]) -> None:
    """Write the engine's own files into a checkout, without following links in it."""
    root = checkout.resolve()
    for name, content in files.items():
        path = root / name
        if not path.parent.resolve().is_relative_to(root):
            continue
        if content is None:
            path.unlink(missing_ok=True)
        elif not path.is_symlink():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
