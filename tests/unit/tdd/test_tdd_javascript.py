"""jest and vitest: how they are called, and what their report and their errors mean."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shared.errors import Misconfigured
from worker_agent.tdd.runners import registry
from worker_agent.tdd.runners.javascript import JavaScriptRunner
from worker_agent.tdd.runners.jest_runner import JestRunner
from worker_agent.tdd.runners.mocha_runner import MochaRunner
from worker_agent.tdd.runners.node_runner import NodeRunner
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation, Selection
from worker_agent.tdd.runners.test_run import Case, CaseOutcome, FailureKind
from worker_agent.tdd.runners.vitest_runner import VitestRunner

WHERE = Path("/nowhere/checkout")
PROJECT = Project(WHERE)
CALL = Invocation(Path("/r"), PROJECT)
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


def test_options_go_before_what_follows_two_dashes(tmp_path: Path) -> None:
    argv = JestRunner().command("npx jest -- test/a.test.js", replace(CALL, report=tmp_path / "r"))
    assert argv[:4] == ("env", "CI=true", "npx", "jest")
    assert f"--outputFile={tmp_path / 'r'}" in argv[4:-2]
    assert argv[-2:] == ("--", "test/a.test.js")


def test_tests_have_their_file_their_blocks_and_their_title_as_their_id() -> None:
    passed = {"ancestorTitles": ["block", "inner"], "title": "works", "status": "passed", "failureMessages": []}
    later = {**passed, "title": "later", "status": "todo"}
    report = VitestRunner().read(_report(_file(assertionResults=[passed, later])), PROJECT)
    assert [VitestRunner().identify(case) for case in report.cases] == [
        (f"{FILE}::block > inner::works", FILE),
        (f"{FILE}::block > inner::later", FILE),
    ]
    assert [case.outcome for case in report.cases] == [CaseOutcome.PASSED, CaseOutcome.SKIPPED]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Cannot find module '../src/a.js' imported from '/x/a.test.js'", FailureKind.FIRST_PARTY_IMPORT),
        (
            "  ● Test suite failed to run\n\n    Cannot find module '../src/a' from 'test/a.test.js'",
            FailureKind.FIRST_PARTY_IMPORT,
        ),
        ('Failed to resolve import "@/a" from "test/a.test.js"', FailureKind.FIRST_PARTY_IMPORT),
        (
            "SyntaxError: The requested module './a.js' does not provide an export named 'b'",
            FailureKind.FIRST_PARTY_IMPORT,
        ),
        ("Cannot find package 'left' imported from '/x/a.test.js'", FailureKind.THIRD_PARTY_IMPORT),
        ("Failed to parse source: invalid JS syntax", FailureKind.SYNTAX),
        ("  ● Test suite failed to run\n\n    Jest encountered an unexpected token", FailureKind.SYNTAX),
        ("Your test suite must contain at least one test.", FailureKind.COLLECTION),
        ("directory", FailureKind.COLLECTION),
        ("TypeError: (0 , search) is not a function", FailureKind.FIRST_PARTY_IMPORT),
        ("TypeError: Class extends value undefined is not a constructor or null", FailureKind.FIRST_PARTY_IMPORT),
        ("ReferenceError: search is not defined", FailureKind.FIRST_PARTY_IMPORT),
        ("ReferenceError: describe is not defined", FailureKind.COLLECTION),
        (
            "  ● Test suite failed to run\n\n    \x1b[96mtest/a.test.ts\x1b[0m:1:10 - error TS2305: "
            "Module '\"../src/a\"' has no exported member 'b'.",
            FailureKind.FIRST_PARTY_IMPORT,
        ),
        (
            "test/a.test.ts:1:10 - error TS2307: Cannot find module '../src/a' or its types",
            FailureKind.FIRST_PARTY_IMPORT,
        ),
        ("test/a.test.ts:1:10 - error TS2307: Cannot find module 'left' or its types", FailureKind.THIRD_PARTY_IMPORT),
        ("test/a.test.ts:1:10 - error TS2345: Argument of type 'string' is not assignable", FailureKind.COLLECTION),
        ("Cannot find module '/w/node_modules/left/index.js' imported from /x", FailureKind.THIRD_PARTY_IMPORT),
    ],
)
def test_a_file_that_could_not_be_run_is_told_apart(message: str, kind: FailureKind) -> None:
    (case,) = JestRunner().read(_report(_file(message=message)), PROJECT).cases
    assert JestRunner().identify(case) == (FILE, FILE)
    assert JestRunner().classify(case, PROJECT) is kind


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("AssertionError: expected 1 to be 2", FailureKind.ASSERTION_OR_EXCEPTION),
        ("TypeError: search is not a function", FailureKind.ASSERTION_OR_EXCEPTION),
        ("Error: Test timed out in 5000ms.", FailureKind.TIMEOUT),
        ("Error: Cannot find module './a' from 'b.js'", FailureKind.FIRST_PARTY_IMPORT),
    ],
)
def test_a_test_that_failed_is_told_apart(message: str, kind: FailureKind) -> None:
    case = Case("works", "", FILE, CaseOutcome.FAILED, message, message)
    assert VitestRunner().classify(case, PROJECT) is kind
    assert VitestRunner().explain(case).startswith(message)


@pytest.mark.parametrize(
    ("message", "asserted"),
    [
        ("AssertionError: expected 1 to be 2", True),
        ("JestAssertionError: expect(received).toBe(expected)", True),
        ("AssertError: expected save to be called once but was called 0 times", True),
        ("ExpectationError: Expected save([...]) once (never called)", True),
        ("TestingLibraryElementError: Unable to find an element with the text: Saved", True),
        ("Error: Unsatisfied verification on test double.", True),
        ("TypeError: search is not a function", False),
        ("Error: the server is gone", False),
    ],
)
def test_a_check_is_told_from_a_crash(message: str, asserted: bool) -> None:
    case = Case("works", "", FILE, CaseOutcome.FAILED, message, message)
    assert VitestRunner().asserted(case) is asserted


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
    report = JestRunner().read(data, PROJECT)
    assert problem in report.problem
    assert report.cases == ()


@pytest.mark.parametrize(
    ("package", "found"),
    [
        (b'{"devDependencies": {"jest": "1"}}', "npx --no jest"),
        (b'{"jest": {}}', "npx --no jest"),
        (b'{"devDependencies": {"jest": "1"}, "scripts": {"test": "jest --ci"}}', "npx --no jest --ci"),
        (b'{"devDependencies": {"jest": "1"}, "scripts": {"test": "vitest run"}}', None),
        (b'{"devDependencies": {"jest": "1"}, "scripts": {"test": "make"}}', "npx --no jest"),
        (b"{}", None),
        (b"[", None),
        (None, None),
    ],
)
def test_jest_is_detected_by_its_package_and_its_script(package: bytes | None, found: str | None) -> None:
    assert JestRunner().detect([], lambda _: package) == found


@pytest.mark.parametrize(
    ("command", "script", "runner", "called"),
    [
        ("npm test", "vitest run --coverage", "vitest", "npx --no vitest run --coverage"),
        ("npm t -- --retry=2", "vitest run", "vitest", "npx --no vitest run --retry=2"),
        ("yarn test", "eslint . && jest", "jest", "npx --no jest"),
        ("pnpm run test", "cross-env NODE_ENV=test A='b c' jest", "jest", "NODE_ENV=test A='b c' npx --no jest"),
        ("npm --silent test", "c8 --reporter lcov mocha 'test/**/*.js'", "mocha", "npx --no mocha 'test/**/*.js'"),
        ("npm test", "npm run lint && npm run unit", "vitest", "npx --no vitest"),
        ("npm test", "run-s lint unit", "vitest", "npx --no vitest"),
        ("npm test", "NODE_OPTIONS=--no-warnings node --test test/", "node --test", "NODE_OPTIONS=--no-warnings"),
        ("npm test", "tsx --test src/*.test.ts", "node --test", "npx --no tsx --test 'src/*.test.ts'"),
        ("npm test", "node ./node_modules/jest/bin/jest.js", "jest", "node ./node_modules/jest/bin/jest.js"),
    ],
)
def test_a_script_is_followed_to_the_runner(command: str, script: str, runner: str, called: str) -> None:
    scripts = {"test": script, "lint": "eslint .", "unit": "vitest"}
    package = json.dumps({"scripts": scripts}).encode()
    choice = registry.choose(command, None, ["package.json"], {"package.json": package}.get)
    assert choice.runner.name == runner
    assert choice.test_command.startswith(called)


@pytest.mark.parametrize("script", ["npm test", "make", "ava", "echo 'unclosed", ""])
def test_a_script_without_a_runner_is_told(script: str) -> None:
    package = json.dumps({"scripts": {"test": script}}).encode()
    with pytest.raises(Misconfigured, match="calls no known test runner"):
        registry.choose("npm test", None, ["package.json"], {"package.json": package}.get)


def test_patterns_are_put_in_where_node_would_not_understand_them() -> None:
    paths = frozenset({"test/a.test.js", "test/deep/b.test.ts", "test/help.js"})
    call = Invocation(Path("/r"), Project(WHERE, paths))
    argv = NodeRunner().command("node --import tsx --test --test-reporter=spec 'test/**/*.test.{js,ts}'", call)
    assert argv[:7] == ("env", "CI=true", "node", "--import", "tsx", "--test", "--test-reporter")
    assert argv[-2:] == ("test/a.test.js", "test/deep/b.test.ts")
    chosen = Invocation(Path("/r"), Project(WHERE, paths), Selection(frozenset({"test/help.js"})))
    assert NodeRunner().command("node --test test/", chosen)[-1] == "test/help.js"


@pytest.mark.parametrize(
    ("runner", "code", "failed", "complete"),
    [
        (VitestRunner(), 0, 0, True),
        (VitestRunner(), 1, 1, True),
        (VitestRunner(), 1, 0, False),
        (VitestRunner(), 0, 1, False),
        (VitestRunner(), 137, 1, False),
        (MochaRunner(), 3, 3, True),
        (MochaRunner(), 255, 300, True),
        (MochaRunner(), 1, 3, True),
        (MochaRunner(), 2, 3, False),
        (MochaRunner(), 1, 0, False),
        (NodeRunner(), 1, 2, True),
        (NodeRunner(), 0, 2, False),
    ],
)
def test_the_report_and_the_exit_code_say_the_same(
    runner: JavaScriptRunner, code: int, failed: int, complete: bool
) -> None:
    cases = [Case("a", "", FILE, CaseOutcome.PASSED), *[Case("b", "", FILE, CaseOutcome.FAILED)] * failed]
    assert runner.complete(code, cases, "") is complete


def test_a_file_of_node_that_ended_before_its_tests_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.test.js").write_text("import { test } from 'node:test';\nprocess.exit(0);\n")
    (tmp_path / "script.js").write_text("if (1 !== 1) process.exit(1);\n")
    whole = {"file": "a.test.js", "scope": [], "name": "a.test.js", "outcome": "passed"}
    script = {**whole, "file": "script.js", "name": "script.js"}
    project = Project(tmp_path)
    plain = NodeRunner().read(json.dumps({"cases": [script], "ended": True}).encode(), project)
    assert [case.name for case in plain.cases] == ["script.js"]
    silent = NodeRunner().read(json.dumps({"cases": [script, whole], "ended": True}).encode(), project)
    assert silent.problem == "a.test.js ended before it reported a test"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "not JSON"),
        (b"{}", "not that of the engine's reporter"),
        (b'{"cases": [], "ended": false}', "did not come to its end"),
        (b'{"cases": [{"file": "a", "name": "b", "outcome": "fine"}], "ended": true}', "is not"),
        (b'{"cases": [], "ended": true}{"cases": [], "ended": true}', "not JSON"),
    ],
)
def test_a_report_of_our_own_that_tests_have_spoilt_is_refused(data: bytes, problem: str) -> None:
    report = MochaRunner().read(data, PROJECT)
    assert problem in report.problem
    assert report.cases == ()


CONTENTS = {
    "vitest": ("// @vitest-environment jsdom\nimport { it } from 'vitest';\nit('x', () => {});\n", VitestRunner()),
    "jest": ("const a = `\ntest('no', () => {});\n`;\ntest('x', () => {});\n", JestRunner()),
    "jest's own module": ("import { it } from '@jest/globals';\nit('x', () => {});\n", JestRunner()),
    "mocha": ("const assert = require('assert');\ndescribe('x', () => {});\n", MochaRunner()),
    "node": ("const { test } = require('node:test');\ntest('x', () => {});\n", NodeRunner()),
}


@pytest.mark.parametrize("which", CONTENTS)
def test_control_tests_leave_the_rest_of_the_file_as_it_is(which: str) -> None:
    text, runner = CONTENTS[which]
    control = runner.control("test/a.test.js", text.encode(), ["one_two", "three_four", "five_six", "seven_eight"])
    assert control is not None
    laid = control.content.decode()
    assert all(line in laid for line in text.splitlines())
    assert all(f"('{name}'" in laid for name in control.names)
    assert "`\ntest('no', () => {});\n`" in laid or which != "jest"
    assert laid.startswith("// @vitest-environment") or which != "vitest"
    assert (set(control.failing), set(control.passing)) == ({"five six", "seven eight"}, {"one two", "three four"})


def test_a_file_that_cannot_be_parsed_gets_no_control_tests() -> None:
    assert VitestRunner().control("a.test.js", b"it('x', (", ["a", "b", "c", "d"]) is None
    assert VitestRunner().control("a.snap", b"", ["a", "b", "c", "d"]) is None
