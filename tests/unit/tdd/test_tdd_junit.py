"""JUnit XML written by anybody: read, or refused with a sentence; never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker_agent.tdd.runners import junit
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.pytest_runner import PytestRunner
from worker_agent.tdd.runners.report_runner import ReportRunner
from worker_agent.tdd.runners.test_run import MESSAGE_LIMIT, Case, CaseOutcome, FailureKind, Report

PROJECT = Project.of(Path("/w"), ["tests/SumTest.php", "src/test/java/com/acme/CalcTest.java", "tests/test_sum.py"])
RUNNER = ReportRunner("*.xml")


def _suite(cases: str) -> bytes:
    return f'<?xml version="1.0"?><testsuites><testsuite name="x">{cases}</testsuite></testsuites>'.encode()


@pytest.mark.parametrize(
    ("inner", "outcome", "message", "text"),
    [
        ("", CaseOutcome.PASSED, "", ""),
        ('<failure message="m">t</failure>', CaseOutcome.FAILED, "m", "t"),
        ("<failure/>", CaseOutcome.FAILED, "", ""),
        ('<error message="m">t</error>', CaseOutcome.ERROR, "m", "t"),
        ('<skipped message="later" type="pytest.skip">t</skipped>', CaseOutcome.SKIPPED, "later", "t"),
        ("<system-out>printed</system-out>", CaseOutcome.PASSED, "", ""),
        ('<skipped/><error message="e"/><failure message="f"/>', CaseOutcome.FAILED, "f", ""),
        ('<failure message="f"/><error message="teardown"/>', CaseOutcome.FAILED, "f", ""),
        ('<error message="e"/><skipped/>', CaseOutcome.ERROR, "e", ""),
        ("<failure><![CDATA[<!DOCTYPE html><b>]]></failure>", CaseOutcome.FAILED, "", "<!DOCTYPE html><b>"),
    ],
)
def test_a_case_has_the_worst_of_its_outcomes(inner: str, outcome: CaseOutcome, message: str, text: str) -> None:
    report = junit.read(_suite(f'<testcase classname="c" name="n" file="f.py">{inner}</testcase>'), PROJECT)
    error = "pytest.skip" if "type=" in inner else ""
    assert report == Report((Case("n", "c", "f.py", outcome, message, text, error),))


def test_suites_may_nest_and_a_lone_suite_may_be_the_root() -> None:
    data = b'<testsuite><testcase name="a"/><testsuite><testcase name="b" classname="c"/></testsuite></testsuite>'
    assert [case.name for case in junit.read(data, PROJECT).cases] == ["a", "b"]


def test_long_texts_keep_the_start_of_the_message_and_the_end_of_the_text() -> None:
    long = "a" * MESSAGE_LIMIT + "z" * MESSAGE_LIMIT
    (case,) = junit.read(
        _suite(f'<testcase name="n"><failure message="{long}">{long}</failure></testcase>'), PROJECT
    ).cases
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
        (b"", "the test report is not XML: "),
        (b"1 passed in 0.1s\n", "the test report is not XML: "),
        (b"\x00\xff\xfe", "the test report is not XML: "),
        (_suite('<testcase name="a"/>')[:-20], "the test report is not XML: "),
        (b'<?xml version="1.0" encoding="no-such"?><testsuites/>', "the test report is not XML: "),
        (b"<html><body/></html>", "the test report is not JUnit XML: its root is <html>"),
        (b"<testsuites>&undefined;</testsuites>", "the test report is not XML: "),
        (b'<testsuites xmlns="urn:x"><testsuite/></testsuites>', "the test report is not JUnit XML: "),
    ],
)
def test_anything_else_is_refused_with_a_sentence(data: bytes, problem: str) -> None:
    report = junit.read(data, PROJECT)
    assert report.cases == ()
    assert report.problem.startswith(problem)


def test_a_huge_report_is_refused_before_it_is_parsed() -> None:
    assert "larger than 50 MB" in PytestRunner().read(b" " * (junit.REPORT_LIMIT + 1), PROJECT).problem


def test_too_many_elements_are_refused() -> None:
    flood = b"<testsuites>" + b"<x/>" * junit.ELEMENT_LIMIT + b"</testsuites>"
    assert f"more than {junit.ELEMENT_LIMIT} elements" in junit.read(flood, PROJECT).problem


PHPUNIT = b"""<?xml version="1.0"?><testsuites><testsuite name=""><testsuite name="SumTest" file="/w/tests/SumTest.php">
<testcase name="testAdds" class="SumTest" classname="SumTest" file="/w/tests/SumTest.php"/>
<testcase name="testMissing" class="SumTest" classname="SumTest" file="/w/tests/SumTest.php">
<error type="Error">SumTest::testMissing
Error: Class "App\\Purse" not found</error></testcase>
<testsuite name="SumTest::testRows"><testcase name="Error"><error type="PHPUnit\\Framework\\Error">x</error></testcase>
</testsuite></testsuite></testsuite></testsuites>"""
NODE = b"""<?xml version="1.0" encoding="utf-8"?><testsuites>
<testcase name="top" time="0.1" classname="test"/>
<testsuite name="find"><testcase name="finds" classname="test"/>
<testsuite name="deep"><testcase name="none" classname="test"><failure type="testCodeFailure" message="x"/></testcase>
</testsuite></testsuite></testsuites>"""
LIBTEST = (
    b'<?xml version="1.0"?><testsuites><testsuite><testcase name="a" classname="one"/></testsuite></testsuites>\n'
    b'<?xml version="1.0"?><testsuites><testsuite><testcase name="b" classname="two"/></testsuite></testsuites>\n'
)
SUREFIRE = b"""<testsuite name="com.acme.CalcTest"><testcase name="adds" classname="com.acme.CalcTest"/>
<testcase name="inner" classname="com.acme.CalcTest$Nested"><error type="java.lang.NullPointerException">x</error>
</testcase></testsuite>"""


@pytest.mark.parametrize(
    ("data", "cases"),
    [
        (PHPUNIT, [("testAdds", "SumTest"), ("testMissing", "SumTest"), ("Error", "")]),
        (NODE, [("top", "test"), ("finds", "test"), ("none", "test")]),
        (SUREFIRE, [("adds", "com.acme.CalcTest"), ("inner", "com.acme.CalcTest$Nested")]),
    ],
)
def test_cases_are_found_wherever_they_are_nested(data: bytes, cases: list[tuple[str, str]]) -> None:
    assert [(case.name, case.classname) for case in junit.read(data, PROJECT).cases] == cases


def test_absolute_files_are_made_relative_and_inherited() -> None:
    assert {case.file for case in junit.read(PHPUNIT, PROJECT).cases} == {"tests/SumTest.php"}


def test_several_documents_are_read_only_where_they_are_expected() -> None:
    assert "is not XML" in junit.read(LIBTEST, PROJECT).problem
    assert [case.name for case in junit.read(LIBTEST, PROJECT, several=True).cases] == ["a", "b"]


@pytest.mark.parametrize(
    ("classname", "file"),
    [
        ("com.acme.CalcTest", "src/test/java/com/acme/CalcTest.java"),
        ("com.acme.CalcTest$Nested", "src/test/java/com/acme/CalcTest.java"),
        ("tests.test_sum.TestSum", "tests/test_sum.py"),
        ("Tests\\SumTest", "tests/SumTest.php"),
        ("org.other.CalcTest", ""),
        ("nowhere", ""),
        ("", ""),
    ],
)
def test_a_case_without_a_file_has_the_one_that_is_named_like_its_class(classname: str, file: str) -> None:
    (case,) = RUNNER.read(_suite(f'<testcase name="n" classname="{classname}"/>'), PROJECT).cases
    assert case.file == file


@pytest.mark.parametrize(
    ("result", "kind", "asserted"),
    [
        ('<failure message="m"/>', FailureKind.ASSERTION_OR_EXCEPTION, True),
        ('<error type="java.lang.NullPointerException">x</error>', FailureKind.ASSERTION_OR_EXCEPTION, False),
        ('<error type="Error">T::x\nError: Class "App" not found</error>', FailureKind.ASSERTION_OR_EXCEPTION, False),
        ('<error message="it went wrong"/>', FailureKind.ASSERTION_OR_EXCEPTION, False),
        ('<error type="org.opentest4j.AssertionFailedError"/>', FailureKind.ASSERTION_OR_EXCEPTION, True),
        ('<error type="java.util.concurrent.TimeoutException"/>', FailureKind.TIMEOUT, False),
        ('<error type="ParseError">x</error>', FailureKind.SYNTAX, False),
        ("<error/>", FailureKind.OTHER, False),
    ],
)
def test_an_error_is_classified_by_its_type_and_message(result: str, kind: FailureKind, asserted: bool) -> None:
    (case,) = RUNNER.read(_suite(f'<testcase name="n" classname="c">{result}</testcase>'), PROJECT).cases
    assert (RUNNER.classify(case, PROJECT), RUNNER.asserted(case)) == (kind, asserted)
