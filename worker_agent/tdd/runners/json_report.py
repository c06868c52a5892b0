"""The readers of reports in JSON, which untrusted tests may have forged: whole documents, or objects among lines.

Documents are jest's, which vitest writes too, and those of the engine's own reporters, for programs without a suitable
one: `{"cases": [{"file", "scope", "name", "outcome", "error", "message", "text"}], "ended": true}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from worker_agent.tdd.runners.junit import ELEMENT_LIMIT
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation
from worker_agent.tdd.runners.test_run import MESSAGE_LIMIT, Case, CaseOutcome, Report

M = TypeVar("M", bound=BaseModel)

_LINE_END = re.compile(r"\r?\n")


def lines(data: bytes) -> list[str]:
    """Return the lines of output. Other separators (U+2028, form feed) may be inside a JSON string as they are."""
    found = _LINE_END.split(data.decode("utf-8", "replace"))
    return found if found[-1] else found[:-1]


def json_object(line: str) -> dict[str, Any]:
    """Return the object that a line consists of; {} for every other line."""
    if not line.startswith("{"):
        return {}
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def document(model: type[M], data: bytes, whose: str) -> M | Report:
    """Return a report that is one JSON document, as `model`; if it is no such document, a report with the fault.

    `whose` names the expected document, as in `RSpec's`.
    """
    try:
        return model.model_validate(json.loads(data.decode("utf-8", "replace")))
    except ValidationError as error:
        return Report(problem=f"the test report is not {whose}: {error.errors()[0]['msg']}")
    except (ValueError, RecursionError) as error:
        return Report(problem=f"the test report is not JSON: {error}")


class StrictModel(BaseModel):
    """A part of a document, whose values have exactly the given types."""

    model_config = ConfigDict(strict=True)


class _EngineCase(StrictModel):
    file: str
    scope: list[str] = []
    name: str
    outcome: str
    error: str = ""
    message: str = ""
    text: str = ""


class _EngineReport(StrictModel):
    cases: list[_EngineCase] = Field(max_length=ELEMENT_LIMIT)
    ended: bool


def read_engine(data: bytes, project: Project, between: str) -> Report:
    """Read one report of an own reporter; never raise for its content. `between` joins the names of a test's scopes."""
    whole = document(_EngineReport, data, "that of the engine's reporter")
    if isinstance(whole, Report):
        return whole
    try:
        cases = tuple(_engine_case(case, project, between) for case in whole.cases)
    except ValueError as error:
        return Report(problem=f"the test report is not JSON: {error}")
    return Report(cases) if whole.ended else Report(problem="the test run did not come to its end")


def _engine_case(case: _EngineCase, project: Project, between: str) -> Case:
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


BETWEEN = " > "
"""The text between the titles of nested blocks in a test's id."""

_OUTCOMES = {"passed": CaseOutcome.PASSED, "failed": CaseOutcome.FAILED}
"""Outcomes; every other status (pending, skipped, todo, disabled) means that it did not run."""


class _Assertion(StrictModel):
    ancestorTitles: list[str] = []
    title: str
    status: str
    failureMessages: list[str] | None = None


class _File(StrictModel):
    name: str
    status: str
    message: str | None = None
    assertionResults: list[_Assertion] = []


class _JestReport(StrictModel):
    testResults: list[_File] = Field(max_length=ELEMENT_LIMIT)
    wasInterrupted: bool = False


def read_jest(data: bytes, project: Project) -> Report:
    """Read one report of jest or vitest; never raise for its content."""
    whole = document(_JestReport, data, "one of jest or vitest")
    if isinstance(whole, Report):
        return whole
    if whole.wasInterrupted:
        return Report(problem="the test run was interrupted")
    return Report(tuple(case for file in whole.testResults for case in _jest_cases(file, project.below(file.name))))


def _jest_cases(file: _File, path: str) -> Iterator[Case]:
    """Yield the tests of a file, or the file itself if it could not be run."""
    if file.status == "failed" and not file.assertionResults:
        text = file.message or "the file could not be run"
        yield Case(path, "", path, CaseOutcome.ERROR, text[:MESSAGE_LIMIT], text[-MESSAGE_LIMIT:])
    for found in file.assertionResults:
        messages = "\n".join(found.failureMessages or ())
        outcome = _OUTCOMES.get(found.status, CaseOutcome.SKIPPED)
        scope = BETWEEN.join(found.ancestorTitles)
        yield Case(found.title, scope, path, outcome, messages[:MESSAGE_LIMIT], messages[-MESSAGE_LIMIT:])
