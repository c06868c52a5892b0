"""The purpose of a test run, the raw cases of its report, and its results test by test: frozen values, no I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import ClassVar

TestId = str
"""The permanent name of a test: `path::Class::name` with `path` relative to the repository."""

MESSAGE_LIMIT = 4000
"""The most characters of a failure's text that are kept; the error itself is at its end."""

NO_TESTS = "no tests"
"""The words for a run of no test, or for no run at all."""


class CaseOutcome(StrEnum):
    """The outcome of one test."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"


class FailureKind(StrEnum):
    """The reason why a test did not pass, as far as its text tells."""

    ASSERTION_OR_EXCEPTION = "assertion or exception"
    FIRST_PARTY_IMPORT = "a name of this repository is missing"
    THIRD_PARTY_IMPORT = "a third-party module is missing"
    SYNTAX = "syntax error"
    MISSING_FIXTURE = "missing fixture"
    COLLECTION = "collection error"
    TIMEOUT = "timeout"
    ENDLESS = "it does not end on the base"
    LIMIT = "it passes a limit on the base"
    OTHER = "other"


ACCEPTED = frozenset(
    {FailureKind.ASSERTION_OR_EXCEPTION, FailureKind.FIRST_PARTY_IMPORT, FailureKind.ENDLESS, FailureKind.LIMIT}
)
"""The reasons for which a new test may be red."""


def worst(kinds: Collection[FailureKind]) -> FailureKind:
    """Return the kind of a unit that was not built because of several errors: the one that stands in the way most."""
    order = (FailureKind.SYNTAX, FailureKind.COLLECTION, FailureKind.THIRD_PARTY_IMPORT, FailureKind.FIRST_PARTY_IMPORT)
    return next((kind for kind in order if kind in kinds), FailureKind.COLLECTION)


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test, or one file that could not be collected. `kind` is None unless it failed.

    `asserted`: True if it failed by an assertion of its own, not by a crash of the code under test.
    """

    __test__: ClassVar[bool] = False  # pytest takes every class named Test* for tests

    id: TestId
    file: str
    outcome: CaseOutcome
    kind: FailureKind | None = None
    message: str = ""
    asserted: bool = False

    @property
    def first_line(self) -> str:
        """The line of the message that names the error; raw text made by tests."""
        return next((line.strip() for line in self.message.splitlines() if line.strip()), "")


@dataclass(frozen=True)
class TestRun:
    """One run of the whole test command.

    `broken_files` are the paths that could not be collected; a directory stands for all below it. `finished` is False
    if the run was cut short (deadline, limit, crash, no readable report): then absent tests mean nothing, and
    `output_tail` is the end of the command's output. `limit` is the limit that it passed, as in `memory (more than 4.0
    GiB)`. `controlled`: True if control tests were reported as they must be; None if there were none. `seconds` is the
    duration of the command. `missing` names the program that is not on this machine, if that kept the command from
    running.
    """

    __test__: ClassVar[bool] = False  # see TestResult

    results: Mapping[TestId, TestResult] = field(default_factory=dict)
    broken_files: Mapping[str, TestResult] = field(default_factory=dict)
    finished: bool = True
    code: int = 0
    output_tail: str = ""
    timed_out: bool = False
    limit: str | None = None
    controlled: bool | None = None
    seconds: float = 0.0
    missing: str = ""

    @cached_property
    def passed(self) -> frozenset[TestId]:
        """The tests that passed."""
        return frozenset(r.id for r in self.results.values() if r.outcome is CaseOutcome.PASSED)

    @cached_property
    def failed(self) -> frozenset[TestId]:
        """The tests that failed or ended in an error; broken files are not among them."""
        return frozenset(r.id for r in self.results.values() if r.outcome in {CaseOutcome.FAILED, CaseOutcome.ERROR})

    def broken(self, path: str) -> TestResult | None:
        """Return the error because of which `path`, or a directory above it, could not be collected; None for none."""
        parts = path.split("/")
        prefixes = ("/".join(parts[:end]) for end in range(len(parts), 0, -1))
        return next((self.broken_files[prefix] for prefix in prefixes if prefix in self.broken_files), None)

    def digest(self) -> str:
        """Return the SHA-256 (hex) of the sorted ids of the passing tests."""
        return hashlib.sha256("\n".join(sorted(self.passed)).encode("utf-8", "surrogateescape")).hexdigest()

    def one_line(self) -> str:
        """Return the result for people, for example `12 passed, 1 failed, 2 files not collected`."""
        skipped = sum(r.outcome is CaseOutcome.SKIPPED for r in self.results.values())
        counts = {"passed": len(self.passed), "failed": len(self.failed), "skipped": skipped}
        parts = [f"{count} {word}" for word, count in counts.items() if count]
        if broken := len(self.broken_files):
            parts.append(f"{broken} file{'s' * (broken > 1)} not collected")
        if not self.finished:
            parts.append(self._why_not_finished())
        return ", ".join(parts) or NO_TESTS

    def _why_not_finished(self) -> str:
        if self.limit is not None:
            return f"tests failed: limit {self.limit}"
        return "stopped at the deadline" if self.timed_out else f"not finished (exit code {self.code})"


SEVERITY = {CaseOutcome.PASSED: 0, CaseOutcome.SKIPPED: 1, CaseOutcome.ERROR: 2, CaseOutcome.FAILED: 3}
"""Rank of outcomes: if a test has several, the highest counts, so that a pass never hides a failure."""


@dataclass(frozen=True, slots=True)
class Case:
    """One `<testcase>` as written. `message` is the attribute, `text` the end of the element's text.

    `error` is the type of the error, as the runner names it.
    """

    name: str
    classname: str
    file: str
    outcome: CaseOutcome
    message: str = ""
    text: str = ""
    error: str = ""

    @property
    def failed(self) -> bool:
        """True for a failure and for an error."""
        return self.outcome in {CaseOutcome.FAILED, CaseOutcome.ERROR}


@dataclass(frozen=True, slots=True)
class Report:
    """The content of a report: the cases, or the sentence with the reason why there are none."""

    cases: tuple[Case, ...] = ()
    problem: str = ""


class PurposeKind(StrEnum):
    """The purpose of a run; an ordinary one has none. docs/observability.md lists the words."""

    ORDINARY = ""
    DAMAGE = "damage"
    """The code was changed to see whether the tests notice: failing tests are the wanted result."""
    EXPECTATIONS = "expectations"
    """The expectations of the tests were changed: they have to fail."""
    TAKEN_BACK = "taken back"
    """Files of the change have their base version, or parts of them are removed."""
    OLD_TESTS = "old tests"
    """The base's tests on the code of the change."""
    ELSEWHERE = "elsewhere"
    """A run in another directory and order, at another time."""
    AGAIN = "again"
    """Failed tests run once more, to tell chance from fault."""


@dataclass(frozen=True, slots=True)
class RunPurpose:
    """The purpose of one run: the `number`-th of at most `of` such runs, 0 if their number is unknown."""

    kind: PurposeKind = PurposeKind.ORDINARY
    number: int = 0
    of: int = 0


ORDINARY = RunPurpose()
