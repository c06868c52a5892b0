"""The control test: one that must fail, laid beside the new tests, so that a run that makes failures green shows it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from worker_agent.tdd.runners.report import Outcome, TestId, TestRun


@dataclass(frozen=True, slots=True)
class Control:
    """A test file of the engine's own: its path in the checkout and its text; `word` names its tests."""

    path: str
    word: str
    text: str


def beside(near: str, word: str) -> str:
    """A path in the directory of the test file `near`, named so that the same runner collects it.

    `word` is a random one: whoever changes results cannot know which test is the control.
    """
    file = PurePosixPath(near)
    stem, suffix = file.name.partition(".")[0], "".join(file.suffixes)
    if stem.startswith("test_"):
        return str(file.with_name(f"test_{word}{suffix}"))
    ending = next((end for end in ("_test", "_spec") if stem.endswith(end)), "")
    return str(file.with_name(f"{word}{ending}{suffix}"))


def neighbour(files: Collection[str]) -> str:
    """The test file beside which a control is laid, or nothing when none of them is one."""
    usable = [path for path in sorted(files) if PurePosixPath(path).stem not in {"conftest", "__init__"}]
    named = [path for path in usable if "test" in PurePosixPath(path).name or "spec" in PurePosixPath(path).name]
    return next(iter(named), "")


def watched(run: TestRun, control: Control | None) -> TestRun:
    """The run without the control, and whether that was reported as it must be: failed.

    `controlled` stays None when it was not collected: then it proves nothing.
    """
    if control is None:
        return run
    own = [found for found in run.results.values() if found.file == control.path and control.word in _name(found.id)]
    rest = {test: result for test, result in run.results.items() if result.file != control.path}
    broken = {path: result for path, result in run.broken_files.items() if path != control.path}
    honest = all(result.outcome is Outcome.FAILED for result in own) if own else None
    return replace(run, results=rest, broken_files=broken, controlled=honest)


def _name(test: TestId) -> str:
    return test.partition("::")[2]
