"""Test cases of Java programs, whichever tool ran them: their ids, and the kinds of their failures."""

from __future__ import annotations

import re
from dataclasses import replace

from worker_agent.tdd.runners import java_build
from worker_agent.tdd.runners.cases import Case
from worker_agent.tdd.runners.java_sources import JavaSources
from worker_agent.tdd.runners.junit import stable
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.report import CaseOutcome, FailureKind, TestId

_PARAMETERS = re.compile(r"([\w$]+)\s*(?:\([^()]*\)|\{[^{}]*\})(\[.*\])?")
"""`rows(int, String)[1]`, or with braces as Surefire 2 writes it: the types of parameters are no part of a name."""

_TIMEOUT = re.compile(
    r"(?:[\w.]*TestTimedOutException|[\w.]*TimeoutException: .* timed out after|test timed out after)"
)
_ASSERTED = re.compile(
    r"(?:[\w$]+\.)*\w*(?:Assert\w*|ComparisonFailure|MultipleFailuresError|SpockComparisonFailure)\b"
)
_EXCEPTION = re.compile(r"(?:[\w$]+\.)+[\w$]*(?:Exception|Error|Throwable|Failure)\b")


def placed(case: Case, module: str, sources: JavaSources) -> Case:
    """Return a case with its file, its classes by simple names, and its name without types of parameters."""
    file = sources.file_of(case.classname, module)
    parts = _PARAMETERS.fullmatch(case.name)
    name = f"{parts[1]}{parts[2] or ''}" if parts else case.name
    scope = case.classname.rpartition(".")[2].replace("$", "::")
    return replace(case, name=name or "class", classname=scope, file=file)


def identify(case: Case) -> tuple[TestId, str]:
    """Return an id like `src/test/java/pkg/XTest.java::XTest::Inner::method[1]`; an uncompiled file is its own id."""
    if case.name == case.file:
        return case.file, case.file
    return "::".join((case.file, case.classname, stable(case.name))), case.file


def explain(case: Case) -> str:
    """Return the line that names the error, then the end of the text."""
    return "\n".join(part for part in (_error(case), case.text) if part)


def classify(case: Case, project: Project) -> FailureKind:
    """Return the kind by the compiler's errors if it was not built."""
    if case.name == case.file:
        return java_build.kind(case.text, project)
    return FailureKind.TIMEOUT if _TIMEOUT.search(_error(case)) else FailureKind.ASSERTION_OR_EXCEPTION


def asserted(case: Case) -> bool:
    """Return whether it is any AssertionError: by the report's own word, unless it names another exception."""
    if case.outcome is not CaseOutcome.FAILED:
        return False
    named = (
        _EXCEPTION.match(case.error) or _EXCEPTION.match(case.text.strip()) or _EXCEPTION.match(case.message.strip())
    )
    return named is None or bool(_ASSERTED.fullmatch(named[0]))


def _error(case: Case) -> str:
    lines = [line.strip() for line in (case.text if case.name != case.file else "").splitlines() if line.strip()]
    if lines and not lines[0].startswith("at ") and (_EXCEPTION.match(lines[0]) or not case.message):
        return lines[0]
    first = case.message.strip().partition("\n")[0]
    return first or case.text.strip().partition("\n")[0]
