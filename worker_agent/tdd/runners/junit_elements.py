"""The elements of a JUnit report that has been inspected, at whatever depth its program nests them."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from worker_agent.tdd.runners.raw_report import SEVERITY, Case
from worker_agent.tdd.runners.test_run import MESSAGE_LIMIT, CaseOutcome

_ROOTS = frozenset({"testsuites", "testsuite"})
_OUTCOMES = {
    "failure": CaseOutcome.FAILED,
    "error": CaseOutcome.ERROR,
    "skipped": CaseOutcome.SKIPPED,
    "warning": CaseOutcome.SKIPPED,
}


class NotJUnitXml(ValueError):
    """The root is no element of JUnit."""


def cases(data: bytes) -> tuple[Case, ...]:
    """Return every test case of a report; raise `ParseError` and `NotJUnitXml`."""
    root = ElementTree.fromstring(data)  # entities and depth were looked at before
    if root.tag not in _ROOTS:
        raise NotJUnitXml(f"its root is <{root.tag[:100]}>")
    return tuple(_cases(root, ""))


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
