"""The verdicts of the judge: frozen values whose details are short enough for a prompt and a comment (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from shared.text import excerpt, one_line, printable
from worker_agent.tdd.runners.test_run import TestId, TestResult, TestRun

DETAILS = 20
"""The most lines of one verdict; the others are counted."""

LINE_CHARS = 300
"""The most characters of one line."""

OUTPUT_BYTES = 2000
"""The most bytes of a command's output that a verdict quotes."""


class ErrorType(StrEnum):
    """The kind of error in a cycle; each has its own strategy and its own number of retries."""

    NO_TEST_WRITTEN = "NO_TEST_WRITTEN"
    COMPILATION_ERROR = "COMPILATION_ERROR"
    TEST_UNEXPECTED_PASS = "TEST_UNEXPECTED_PASS"
    TEST_UNEXPECTED_FAIL = "TEST_UNEXPECTED_FAIL"
    IMPLEMENTATION_FAILED = "IMPLEMENTATION_FAILED"
    REGRESSION = "REGRESSION"
    DUPLICATE_TEST = "DUPLICATE_TEST"
    API_RATE_LIMIT = "API_RATE_LIMIT"
    NETWORK_TIMEOUT = "NETWORK_TIMEOUT"
    WORKFLOW_ABORTED = "WORKFLOW_ABORTED"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision on whether the cycle may go on; if not, the reasons, in sentences without control characters."""

    error: ErrorType | None = None
    details: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True if nothing speaks against going on."""
        return self.error is None


@dataclass(frozen=True, slots=True)
class RedVerdict(Verdict):
    """The verdict on new tests.

    `red`: new tests (or whole new files) that do not pass; `passing`: new ones that do; `duplicates`: repeats;
    `vacuous`: new ones that would pass whatever the code does. A verdict that is not ok can still be worth going on
    with, see `worth_implementing`.
    """

    red: tuple[TestId, ...] = ()
    passing: tuple[TestId, ...] = ()
    duplicates: tuple[TestId, ...] = ()
    vacuous: tuple[TestId, ...] = ()

    @property
    def skip(self) -> tuple[TestId, ...]:
        """The tests to set aside as problematic."""
        return tuple(sorted({*self.passing, *self.duplicates, *self.vacuous}))

    @property
    def worth_implementing(self) -> bool:
        """True if the verdict is ok, or will be if the tests in `skip` are set aside."""
        return bool(self.red) and self.error in {None, ErrorType.TEST_UNEXPECTED_PASS, ErrorType.DUPLICATE_TEST}


@dataclass(frozen=True, slots=True)
class GreenVerdict(Verdict):
    """The verdict on the head. `proven`: new tests, red on the base and green now; the others list faults."""

    proven: tuple[TestId, ...] = ()
    failing: tuple[TestId, ...] = ()
    regressions: tuple[TestId, ...] = ()


def listed(entries: Iterable[str]) -> tuple[str, ...]:
    """Return at most `DETAILS` lines, each cut and cleaned, and a count of the rest."""
    pending = iter(entries)
    shown = tuple(one_line(entry, LINE_CHARS) for entry in islice(pending, DETAILS))
    rest = sum(1 for _ in pending)
    return (*shown, f"... and {rest} more") if rest else shown


def result_text(result: TestResult) -> str:
    """Return `path::test: outcome, and the line that names the error`."""
    return f"{result.id}: {result.kind or result.outcome}: {result.first_line}".removesuffix(": ")


def output(run: TestRun) -> tuple[str, ...]:
    """Return the end of a run: its result, and the last part of its output."""
    tail = excerpt(printable(run.output_tail).strip(), OUTPUT_BYTES)
    return (f"The test command ended with: {run.one_line()}.", *((tail,) if tail else ()))
