"""The elements of a JUnit report that has been looked through, by junitparser, loaded when there is one."""

from __future__ import annotations

from collections.abc import Iterator

from junitparser import Attr, Error, Failure, JUnitXml, JUnitXmlError, Skipped, TestCase, TestSuite

from worker_agent.tdd.runners.junit import SEVERITY, Case
from worker_agent.tdd.runners.report import MESSAGE_LIMIT, Outcome

__all__ = ["JUnitXmlError", "cases"]


class _Case(TestCase):
    file = Attr()


class _Suite(TestSuite):
    testcase = _Case


def cases(data: bytes) -> tuple[Case, ...]:
    """Every test case of a report; raises what the parser raises, `JUnitXmlError` among it."""
    suites = JUnitXml.fromstring(data).iterchildren(_Suite)  # type: ignore[no-untyped-call]  # yields _Suite
    return tuple(_case(case) for suite in suites for case in suite)


def _case(case: _Case) -> Case:
    outcome, message, text = _worst(case)
    return Case(case.name or "", case.classname or "", case.file or "", outcome, message, text)


def _worst(case: _Case) -> tuple[Outcome, str, str]:
    """One outcome of possibly several: a test that failed and was then skipped has failed."""
    found = sorted(_outcomes(case), key=lambda entry: SEVERITY[entry[0]])
    return found[-1] if found else (Outcome.PASSED, "", "")


def _outcomes(case: _Case) -> Iterator[tuple[Outcome, str, str]]:
    outcomes = {Failure: Outcome.FAILED, Error: Outcome.ERROR, Skipped: Outcome.SKIPPED}
    for result in case.result:
        message, text = str(result.message or ""), str(result.text or "")
        yield outcomes[type(result)], message[:MESSAGE_LIMIT], text[-MESSAGE_LIMIT:]
