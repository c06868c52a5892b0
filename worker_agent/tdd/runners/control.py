"""Control tests: the engine's own among a file's tests, some that must pass and some that must fail.

A run that reports one of them otherwise, or not at all, was manipulated by the code under test.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind, TestResult, TestRun


@dataclass(frozen=True, slots=True)
class Control:
    """One test file with control tests in it: its path, its whole text, and the names of those tests.

    A name is the part after the last `::` of the test's id.
    """

    path: str
    content: bytes
    failing: frozenset[str]
    passing: frozenset[str] = frozenset()

    @classmethod
    def of(cls, path: str, content: bytes, names: Sequence[str]) -> Control:
        """Return a file with control tests of these names: the first two have to pass, all others to fail."""
        return cls(path, content, failing=frozenset(names[2:]), passing=frozenset(names[:2]))

    @property
    def names(self) -> frozenset[str]:
        """The names of all control tests."""
        return self.failing | self.passing


def watched(run: TestRun, control: Control) -> TestRun:
    """Return the run without control tests, and whether each of them, those of other files included, ended as it must.

    A file that others import has its tests reported as theirs; those are left out and say nothing. `controlled` stays
    None if they prove nothing: not collected, skipped, or stopped by an error that all tests of their file share. The
    exit code is that of the run without them: 0 if nothing else has failed.
    """
    laid = [result for result in run.results.values() if name(result) in control.names]
    results = {name(result): result for result in laid if result.file == control.path}
    rest = {test: result for test, result in run.results.items() if name(result) not in control.names}
    clean = replace(run, results=rest)
    alone = any(result.outcome in _RED for result in laid) and not (clean.failed or clean.broken_files)
    works = any(result.file == control.path and result.outcome is CaseOutcome.PASSED for result in rest.values())
    honest = {run.controlled, _honest(results, control, works)} - {None}
    return replace(clean, controlled=all(honest) if honest else None, code=0 if alone and run.code > 0 else run.code)


_RED = frozenset({CaseOutcome.FAILED, CaseOutcome.ERROR})


def _honest(results: Mapping[str, TestResult], control: Control, works: bool) -> bool | None:
    """Return whether control tests ended as they must; `works`: another test passed, so common needs are met.

    A passing control that never ran, because an earlier test ended everything (a panic), says nothing: None.
    """
    outcomes = {test: result.outcome for test, result in results.items()}
    if any(outcomes.get(test) is CaseOutcome.PASSED for test in control.failing):
        return False
    spoilt = [results[test] for test in control.passing if outcomes.get(test) in _RED]
    if any(result.asserted or (works and result.kind is not FailureKind.OTHER) for result in spoilt):
        return False
    as_they_must = all(outcomes.get(test) in _RED for test in control.failing)
    return True if as_they_must and all(outcomes.get(test) is CaseOutcome.PASSED for test in control.passing) else None


def name(result: TestResult) -> str:
    """Return the part after the last `::` of a test's id."""
    return result.id.rpartition("::")[2]


def expression(templates: Sequence[str], first: str, last: str, passes: bool) -> tuple[str, int]:
    """Return a control test's expression by one of the `templates`, and a number that it equals, or does not equal."""
    number = 40 + secrets.randbelow(90)
    left = secrets.choice(templates).format(
        number=number, a=first, b=last, rest=number + 1 - len(first), less=number - 1
    )
    return left, number + 1 if passes else number + secrets.choice((2, 3, 10))


def fill(template: str, name: str, ending: str = "Value", **more: str) -> str:
    """Return a control test's body with words of its `name` as `a` and `b`, a `number`, and the next one as `more`."""
    words = name.split("_")
    number = 3 + secrets.randbelow(90)
    return template.format(a=f"{words[0]}{ending}", b=words[-1], number=number, more=number + 1, **more)


def insert_texts(content: bytes, laid: Iterable[tuple[int, str]]) -> bytes:
    """Return the file with texts inserted at offsets; of several for the same offset the last listed comes first."""
    text = content
    for at, part in sorted(laid, key=lambda entry: -entry[0]):
        lead = "\n" if at == len(content) and content and not content.endswith(b"\n") else ""
        text = text[:at] + f"{lead}{part}".encode() + text[at:]
    return text


def insert_indented(content: bytes, at: int, text: str, indent: bytes) -> bytes:
    """Return the file with a text before what begins at an offset, which is indented by `indent` already."""
    return content[:at] + indent.join(text.encode().splitlines(keepends=True)) + b"\n" + indent + content[at:]
