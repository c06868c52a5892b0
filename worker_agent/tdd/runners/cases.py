"""What a report tells of each test, before it has the name by which the engine knows it."""

from __future__ import annotations

from dataclasses import dataclass

from worker_agent.tdd.runners.report import CaseOutcome

SEVERITY = {CaseOutcome.PASSED: 0, CaseOutcome.SKIPPED: 1, CaseOutcome.ERROR: 2, CaseOutcome.FAILED: 3}
"""Which outcome counts when a test has several: a pass never hides anything."""


@dataclass(frozen=True, slots=True)
class Case:
    """One `<testcase>` as written. `message` is the attribute, `text` the end of the element's text.

    `error` is the type of what went wrong, as the runner names it.
    """

    name: str
    classname: str
    file: str
    outcome: CaseOutcome
    message: str = ""
    text: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What could be read: the cases, or the sentence that says why there are none."""

    cases: tuple[Case, ...] = ()
    problem: str = ""
