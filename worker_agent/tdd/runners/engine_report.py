"""The report of the engine's own reporters, to raw test cases; tests in the same process may have forged it.

One JSON document: `{"cases": [{"file", "scope", "name", "outcome", "error", "message", "text"}], "ended": true}`. A
reporter of the engine's own is put next to the report of one run, for programs without a suitable one.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from worker_agent.tdd.runners import json_lines
from worker_agent.tdd.runners.junit import ELEMENT_LIMIT
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.raw_report import Case, Report
from worker_agent.tdd.runners.runner import Invocation
from worker_agent.tdd.runners.test_run import MESSAGE_LIMIT, CaseOutcome


class _Case(BaseModel):
    model_config = ConfigDict(strict=True)

    file: str
    scope: list[str] = []
    name: str
    outcome: str
    error: str = ""
    message: str = ""
    text: str = ""


class _Whole(BaseModel):
    model_config = ConfigDict(strict=True)

    cases: list[_Case] = Field(max_length=ELEMENT_LIMIT)
    ended: bool


def read(data: bytes, project: Project, between: str) -> Report:
    """Read one report; `between` joins the names of a test's scopes. Never raises for its content."""
    whole = json_lines.document(_Whole, data, "that of the engine's reporter")
    if isinstance(whole, Report):
        return whole
    try:
        cases = tuple(_case(case, project, between) for case in whole.cases)
    except ValueError as error:
        return Report(problem=f"the test report is not JSON: {error}")
    return Report(cases) if whole.ended else Report(problem="the test run did not come to its end")


def _case(case: _Case, project: Project, between: str) -> Case:
    file = project.below(case.file.removeprefix("file://")) if case.file else ""
    name = file if case.name == case.file else case.name
    message, text = case.message[:MESSAGE_LIMIT], case.text[-MESSAGE_LIMIT:]
    return Case(
        name, between.join(case.scope), file, CaseOutcome(case.outcome), message, text, case.error[:MESSAGE_LIMIT]
    )


def write_reporter(call: Invocation, name: str, text: str) -> Path:
    """Write a file into the run's own directory, outside the checkout; return its path."""
    path = call.report.parent / name
    path.write_text(text)
    return path
