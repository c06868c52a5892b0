"""jest and vitest: how they are called, and what their report and their errors mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from worker_agent.tdd.runners.jest_runner import JestRunner
from worker_agent.tdd.runners.junit import Case
from worker_agent.tdd.runners.report import Kind, Outcome
from worker_agent.tdd.runners.vitest_runner import VitestRunner

WHERE = Path("/nowhere/checkout")
FILE = "test/a.test.js"


def _file(**fields: Any) -> dict[str, Any]:
    return {"name": f"{WHERE}/{FILE}", "status": "failed", "message": "", "assertionResults": [], **fields}


def _report(*files: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"testResults": files, **more}).encode()


@pytest.mark.parametrize(
    ("command", "called"),
    [
        ("npx vitest run", True),
        ("node_modules/.bin/vitest", True),
        ("node ./node_modules/vitest/vitest.mjs run", True),
        ("A=1 pnpm vitest", True),
        ("npm test", False),
        ("make vitest", False),
        ("npx jest", False),
    ],
)
def test_it_is_known_by_its_name(command: str, called: bool) -> None:
    argv = ["env", *command.split()] if "=" in command else command.split()
    assert VitestRunner().runs(argv) is called


def test_options_go_before_what_follows_two_dashes() -> None:
    argv = JestRunner().command("npx jest -- test/a.test.js", Path("/r"))
    assert argv[:4] == ("env", "CI=true", "npx", "jest")
    assert argv[-3:] == ("--outputFile=/r", "--", "test/a.test.js")


def test_tests_have_their_file_their_blocks_and_their_title_as_their_id() -> None:
    passed = {"ancestorTitles": ["block", "inner"], "title": "works", "status": "passed", "failureMessages": []}
    later = {**passed, "title": "later", "status": "todo"}
    report = VitestRunner().read(_report(_file(assertionResults=[passed, later])), WHERE)
    assert [VitestRunner().identify(case) for case in report.cases] == [
        (f"{FILE}::block > inner::works", FILE),
        (f"{FILE}::block > inner::later", FILE),
    ]
    assert [case.outcome for case in report.cases] == [Outcome.PASSED, Outcome.SKIPPED]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Cannot find module '../src/a.js' imported from '/x/a.test.js'", Kind.FIRST_PARTY_IMPORT),
        (
            "  ● Test suite failed to run\n\n    Cannot find module '../src/a' from 'test/a.test.js'",
            Kind.FIRST_PARTY_IMPORT,
        ),
        ('Failed to resolve import "@/a" from "test/a.test.js"', Kind.FIRST_PARTY_IMPORT),
        ("SyntaxError: The requested module './a.js' does not provide an export named 'b'", Kind.FIRST_PARTY_IMPORT),
        ("Cannot find package 'left' imported from '/x/a.test.js'", Kind.THIRD_PARTY_IMPORT),
        ("Failed to parse source: invalid JS syntax", Kind.SYNTAX),
        ("  ● Test suite failed to run\n\n    Jest encountered an unexpected token", Kind.SYNTAX),
        ("Your test suite must contain at least one test.", Kind.COLLECTION),
        ("directory", Kind.COLLECTION),
    ],
)
def test_a_file_that_could_not_be_run_is_told_apart(message: str, kind: Kind) -> None:
    (case,) = JestRunner().read(_report(_file(message=message)), WHERE).cases
    assert JestRunner().identify(case) == (FILE, FILE)
    assert JestRunner().classify(case, ()) is kind


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("AssertionError: expected 1 to be 2", Kind.ASSERTION_OR_EXCEPTION),
        ("TypeError: search is not a function", Kind.ASSERTION_OR_EXCEPTION),
        ("Error: Test timed out in 5000ms.", Kind.TIMEOUT),
        ("Error: Cannot find module './a' from 'b.js'", Kind.FIRST_PARTY_IMPORT),
    ],
)
def test_a_test_that_failed_is_told_apart(message: str, kind: Kind) -> None:
    case = Case("works", "", FILE, Outcome.FAILED, message, message)
    assert VitestRunner().classify(case, ()) is kind
    assert VitestRunner().explain(case).startswith(message)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"{}", "not one of jest or vitest"),
        (b'{"testResults": [{"name": 1, "status": "passed"}]}', "not one of jest or vitest"),
        (_report(wasInterrupted=True), "interrupted"),
    ],
)
def test_a_report_that_tests_have_spoilt_says_what_is_wrong(data: bytes, problem: str) -> None:
    report = JestRunner().read(data, WHERE)
    assert problem in report.problem
    assert report.cases == ()


@pytest.mark.parametrize(
    ("package", "found"),
    [
        (b'{"devDependencies": {"jest": "1"}}', True),
        (b'{"jest": {}}', True),
        (b"{}", False),
        (b"[", False),
        (None, False),
    ],
)
def test_jest_is_detected_by_its_package(package: bytes | None, found: bool) -> None:
    assert bool(JestRunner().detect([], lambda _: package)) is found
