"""The reader of jest's JSON report, which vitest writes too, to raw test cases; it is made by untrusted tests."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field

from worker_agent.tdd.runners import json_lines
from worker_agent.tdd.runners.junit import ELEMENT_LIMIT
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.raw_report import Case, Report
from worker_agent.tdd.runners.test_run import MESSAGE_LIMIT, CaseOutcome

BETWEEN = " > "
"""The text between the titles of nested blocks in a test's id."""

_OUTCOMES = {"passed": CaseOutcome.PASSED, "failed": CaseOutcome.FAILED}
"""Outcomes; every other status (pending, skipped, todo, disabled) means that it did not run."""


class _Assertion(BaseModel):
    model_config = ConfigDict(strict=True)

    ancestorTitles: list[str] = []
    title: str
    status: str
    failureMessages: list[str] | None = None


class _File(BaseModel):
    model_config = ConfigDict(strict=True)

    name: str
    status: str
    message: str | None = None
    assertionResults: list[_Assertion] = []


class _Whole(BaseModel):
    model_config = ConfigDict(strict=True)

    testResults: list[_File] = Field(max_length=ELEMENT_LIMIT)
    wasInterrupted: bool = False


def read(data: bytes, project: Project) -> Report:
    """Read one report of a run of the project's tests; never raise for its content."""
    whole = json_lines.document(_Whole, data, "one of jest or vitest")
    if isinstance(whole, Report):
        return whole
    if whole.wasInterrupted:
        return Report(problem="the test run was interrupted")
    return Report(tuple(case for file in whole.testResults for case in _cases(file, project.below(file.name))))


def _cases(file: _File, path: str) -> Iterator[Case]:
    """Yield the tests of a file, or the file itself if it could not be run."""
    if file.status == "failed" and not file.assertionResults:
        text = file.message or "the file could not be run"
        yield Case(path, "", path, CaseOutcome.ERROR, text[:MESSAGE_LIMIT], text[-MESSAGE_LIMIT:])
    for found in file.assertionResults:
        messages = "\n".join(found.failureMessages or ())
        outcome = _OUTCOMES.get(found.status, CaseOutcome.SKIPPED)
        scope = BETWEEN.join(found.ancestorTitles)
        yield Case(found.title, scope, path, outcome, messages[:MESSAGE_LIMIT], messages[-MESSAGE_LIMIT:])
