"""The cases of a report, before they have the ids by which the engine knows tests."""

from __future__ import annotations

from dataclasses import dataclass

from worker_agent.tdd.runners.test_run import CaseOutcome

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
