"""JUnit XML written by anybody: read, or refused with a sentence; never a traceback."""

from __future__ import annotations

import pytest

from worker_agent.tdd.runners import junit
from worker_agent.tdd.runners.junit import Case
from worker_agent.tdd.runners.report import MESSAGE_LIMIT, Outcome


def _suite(cases: str) -> bytes:
    return f'<?xml version="1.0"?><testsuites><testsuite name="x">{cases}</testsuite></testsuites>'.encode()


@pytest.mark.parametrize(
    ("inner", "outcome", "message", "text"),
    [
        ("", Outcome.PASSED, "", ""),
        ('<failure message="m">t</failure>', Outcome.FAILED, "m", "t"),
        ("<failure/>", Outcome.FAILED, "", ""),
        ('<error message="m">t</error>', Outcome.ERROR, "m", "t"),
        ('<skipped message="later" type="pytest.skip">t</skipped>', Outcome.SKIPPED, "later", "t"),
        ("<system-out>printed</system-out>", Outcome.PASSED, "", ""),
        ('<skipped/><error message="e"/><failure message="f"/>', Outcome.FAILED, "f", ""),
        ('<failure message="f"/><error message="teardown"/>', Outcome.FAILED, "f", ""),
        ('<error message="e"/><skipped/>', Outcome.ERROR, "e", ""),
        ("<failure><![CDATA[<!DOCTYPE html><b>]]></failure>", Outcome.FAILED, "", "<!DOCTYPE html><b>"),
    ],
)
def test_a_case_has_the_worst_of_its_outcomes(inner: str, outcome: Outcome, message: str, text: str) -> None:
    report = junit.read(_suite(f'<testcase classname="c" name="n" file="f.py">{inner}</testcase>'))
    assert report == junit.Report((Case("n", "c", "f.py", outcome, message, text),))


def test_suites_may_nest_and_a_lone_suite_may_be_the_root() -> None:
    data = b'<testsuite><testcase name="a"/><testsuite><testcase name="b" classname="c"/></testsuite></testsuite>'
    assert [case.name for case in junit.read(data).cases] == ["a", "b"]


def test_long_texts_keep_the_start_of_the_message_and_the_end_of_the_text() -> None:
    long = "a" * MESSAGE_LIMIT + "z" * MESSAGE_LIMIT
    (case,) = junit.read(_suite(f'<testcase name="n"><failure message="{long}">{long}</failure></testcase>')).cases
    assert (set(case.message), set(case.text)) == ({"a"}, {"z"})
    assert len(case.message) == len(case.text) == MESSAGE_LIMIT


BOMB = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<testsuites><testsuite><testcase name="&b;"/></testsuite></testsuites>"""
EXTERNAL = b'<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><testsuites>&f;</testsuites>'


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (BOMB, "the test report is refused: it declares a document type"),
        (EXTERNAL, "the test report is refused: it declares a document type"),
        (BOMB.decode().encode("utf-16"), "the test report is refused: it declares a document type"),
        (b"<a>" * 40, "the test report is refused: elements nest deeper than 32"),
        (b"", "the test report is not JUnit XML: "),
        (b"1 passed in 0.1s\n", "the test report is not JUnit XML: "),
        (b"\x00\xff\xfe", "the test report is not JUnit XML: "),
        (_suite('<testcase name="a"/>')[:-20], "the test report is not JUnit XML: "),
        (b'<?xml version="1.0" encoding="no-such"?><testsuites/>', "the test report is not JUnit XML: "),
        (b"<html><body/></html>", "the test report is not JUnit XML: "),
        (b"<testsuites>&undefined;</testsuites>", "the test report is not JUnit XML: "),
        (b'<testsuites xmlns="urn:x"><testsuite/></testsuites>', "the test report is not JUnit XML: "),
    ],
)
def test_anything_else_is_refused_with_a_sentence(data: bytes, problem: str) -> None:
    report = junit.read(data)
    assert report.cases == ()
    assert report.problem.startswith(problem)


def test_a_huge_report_is_refused_before_it_is_parsed() -> None:
    assert "larger than 50 MB" in junit.read(b" " * (junit.REPORT_LIMIT + 1)).problem


def test_too_many_elements_are_refused() -> None:
    flood = b"<testsuites>" + b"<x/>" * junit.ELEMENT_LIMIT + b"</testsuites>"
    assert f"more than {junit.ELEMENT_LIMIT} elements" in junit.read(flood).problem
