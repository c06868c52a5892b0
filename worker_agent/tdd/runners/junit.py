"""The reader of JUnit XML to raw test cases. The reports are made by untrusted tests, so all limits are checked first.

Also names of tests without the parts that differ from run to run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.parsers import expat

from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.test_run import MESSAGE_LIMIT, SEVERITY, Case, CaseOutcome, Report

if TYPE_CHECKING:
    from xml.etree import ElementTree

REPORT_LIMIT = 50 * 2**20
"""The most bytes of a report that are read."""

ELEMENT_LIMIT = 200_000
"""The most elements in one report; more would cost more memory than a daemon may take."""

DEPTH_LIMIT = 32
"""The deepest nesting of elements; real reports need five."""

_DECLARATION = b"<?xml"
_ROOTS = frozenset({"testsuites", "testsuite"})
_OUTCOMES = {
    "failure": CaseOutcome.FAILED,
    "error": CaseOutcome.ERROR,
    "skipped": CaseOutcome.SKIPPED,
    "warning": CaseOutcome.SKIPPED,
}


class _Refused(Exception):
    """The report is not one that an honest runner writes."""


def read(data: bytes, project: Project, several: bool = False) -> Report:
    """Read one report; never raise for its content, `Report.problem` has the fault.

    With `several` the data may be more than one document, as libtest writes them.
    """
    found: list[Case] = []
    for document in _documents(data) if several else [data]:
        report = _document(document)
        if report.problem:
            return report
        found += report.cases
    return Report(tuple(replace(case, file=project.below(case.file)) if case.file else case for case in found))


def _documents(data: bytes) -> list[bytes]:
    """Return the data, split before each XML declaration."""
    head, *rest = data.split(_DECLARATION)
    return [part for part in (head, *(_DECLARATION + part for part in rest)) if part.strip()] or [data]


def _document(data: bytes) -> Report:
    from xml.etree import ElementTree  # a parser is loaded when there is a report

    if problem := inspected(data):
        return Report(problem=problem)
    try:
        root = ElementTree.fromstring(data)
    except (SyntaxError, ValueError, LookupError) as error:  # a ParseError is a SyntaxError
        return Report(problem=f"the test report is not JUnit XML: {error}")
    if root.tag not in _ROOTS:
        return Report(problem=f"the test report is not JUnit XML: its root is <{root.tag[:100]}>")
    return Report(tuple(_cases(root, "")))


def inspected(data: bytes) -> str:
    """Return the reason why data is not fit for a parser that builds a tree; empty if it is."""
    try:
        _inspect(data)
    except _Refused as refused:
        return f"the test report is refused: {refused}"
    except (expat.ExpatError, ValueError, LookupError) as error:
        return f"the test report is not XML: {error}"
    return ""


def _inspect(data: bytes) -> None:
    """Read the report once without building anything, so that bombs never reach the real parser."""
    depth = elements = 0

    def start(_name: str, _attributes: dict[str, str]) -> None:
        nonlocal depth, elements
        depth, elements = depth + 1, elements + 1
        if depth > DEPTH_LIMIT:
            raise _Refused(f"elements nest deeper than {DEPTH_LIMIT}")
        if elements > ELEMENT_LIMIT:
            raise _Refused(f"more than {ELEMENT_LIMIT} elements")

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1

    def doctype(*_declaration: object) -> None:
        raise _Refused("it declares a document type")

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = doctype
    parser.Parse(data, True)


def _cases(parent: ElementTree.Element, file: str) -> Iterator[Case]:
    """Yield the cases below an element; one without a file has that of the nearest suite with one."""
    for element in parent:
        if element.tag == "testcase":
            yield _case(element, file)
        elif element.tag in _ROOTS:
            yield from _cases(element, element.get("file") or file)


def _case(element: ElementTree.Element, file: str) -> Case:
    outcome, message, text, error = _worst(element)
    named = element.get("classname") or element.get("class") or ""
    where = (element.get("file") or file).removeprefix("file://")
    return Case(element.get("name") or "", named, where, outcome, message, text, error)


def _worst(element: ElementTree.Element) -> tuple[CaseOutcome, str, str, str]:
    """Return one outcome of possibly several: a test that failed and was then skipped has failed."""
    found = [
        (
            _OUTCOMES[result.tag],
            (result.get("message") or "")[:MESSAGE_LIMIT],
            (result.text or "")[-MESSAGE_LIMIT:],
            (result.get("type") or "")[:MESSAGE_LIMIT],
        )
        for result in element
        if result.tag in _OUTCOMES
    ]
    return max(found, key=lambda entry: SEVERITY[entry[0]]) if found else (CaseOutcome.PASSED, "", "", "")


_ADDRESS = re.compile(r"0x[0-9a-f]{6,16}\b")
_ROOM = re.compile(r"(?<![^\[\]\s'\"])[^\[\]\s'\"]*/run-[a-z0-9_]{8}/(?:tmp|home)\b")
"""The directories of a run, whose own name is random for each."""
_TEMPORARY = re.compile(r"(?:/private)?(?:/tmp|/var/tmp|/var/folders/[^/\]]+/[^/\]]+/T)(?=/)")
_DRAWN = re.compile(
    r"(?<=TMP)(?:/pytest-of-[^/\]]+/pytest-\d+|/pytest-\d+)?(?:/tmp[a-z0-9_]{8}\b|/[^/\]\s'\"-]*[A-Za-z0-9_]{6,}\b)?"
)
"""Names that pytest, `tempfile`, `mktemp` and their like create below the temporary directory."""


def stable(name: str) -> str:
    """Return a test's name without addresses of objects and temporary paths."""
    return _DRAWN.sub("", _TEMPORARY.sub("TMP", _ROOM.sub("TMP", _ADDRESS.sub("0x", name))))
