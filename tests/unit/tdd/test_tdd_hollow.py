"""Tests that say nothing are found without running an implementation: stand-ins, and a look for assertions."""

from __future__ import annotations

import pytest

from worker_agent.tdd.judging import stubs_javascript
from worker_agent.tdd.judging.control import Control, beside, neighbour, watched
from worker_agent.tdd.judging.hollow import hollowed, without_assertion
from worker_agent.tdd.judging.stubs import imported, stand_ins
from worker_agent.tdd.judging.verdict import ErrorType, RedVerdict
from worker_agent.tdd.runners.jest_runner import JestRunner
from worker_agent.tdd.runners.report import Outcome, TestResult, TestRun

BASE = {"src/app/__init__.py": b"def old(): pass\n", "src/app/core.py": b"", "tests/test_old.py": b""}


@pytest.mark.parametrize(
    ("text", "laid"),
    [
        ("from app.search import search\n", {"src/app/search.py"}),
        ("import app.deep.search\n", {"src/app/deep/__init__.py", "src/app/deep/search.py"}),
        ("from app import search\n", {"src/app/__init__.py"}),
        ("import app\n\ndef test_a():\n    app.search()\n", {"src/app/__init__.py"}),
        ("def test_a():\n    from app.core import Thing\n", {"src/app/core.py"}),
        ("from app import old, core\nimport app\n\nassert app.old\n", set()),
        ("import json\nfrom numpy import array\n", set()),
        ("def test_a(:\n", set()),
    ],
)
def test_whatever_is_missing_of_the_repository_gets_a_stand_in(text: str, laid: set[str]) -> None:
    modules = imported({"tests/test_new.py": text.encode()})
    found = stand_ins(modules, {"app"}, BASE, BASE)
    assert found.keys() == laid
    assert all(content.startswith(BASE.get(path, b"")) for path, content in found.items())


def test_a_stand_in_does_everything_and_is_nothing() -> None:
    (content,) = stand_ins({"app.search": ["search"]}, {"app"}, {}, BASE).values()
    module: dict[str, object] = {}
    exec(content, module)
    found = module["__getattr__"]("search")("a").b  # type: ignore[operator]
    assert callable(found)
    for compare in (lambda: found == 1, lambda: bool(found), lambda: list(found), lambda: found + 1):
        with pytest.raises(NotImplementedError):
            compare()


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("import { a, b as c } from '../src/new.js';", "src/new.js"),
        ("import what, { a } from '../src/new';", "src/new.js"),
        ("const { a } = require('../src/new.js');", "src/new.js"),
        ("import { a } from '../src/old';", None),
        ("import { a } from 'package';", None),
        ("import { a } from '../../outside.js';", None),
    ],
)
def test_a_javascript_file_that_is_missing_gets_one_too(text: str, path: str | None) -> None:
    found = stubs_javascript.stand_ins({"test/a.test.js": text.encode()}, ["src/old.ts"])
    assert list(found) == ([path] if path else [])
    assert all(b"export const a = stub" in content or b"module.exports" in content for content in found.values())


@pytest.mark.parametrize(
    ("body", "silent"),
    [
        ("    a()\n", True),
        ("    assert a()\n", False),
        ("    with pytest.raises(ValueError):\n        a()\n", False),
        ("    m = Mock()\n    a(m)\n    m.assert_called_once()\n", False),
        ("    seen()\n\ndef seen():\n    assert a()\n", False),
        ("    seen()\n\ndef seen():\n    a()\n", True),
    ],
)
def test_a_test_without_an_assertion_is_found(body: str, silent: bool) -> None:
    found = without_assertion({}, {"tests/test_a.py": f"def test_a():\n{body}".encode()})
    assert found == ({"tests/test_a.py::test_a"} if silent else set())


def _run(**outcomes: Outcome) -> TestRun:
    file = "tests/test_a.py"
    return TestRun(
        {f"{file}::{name}": TestResult(f"{file}::{name}", file, outcome) for name, outcome in outcomes.items()}
    )


def test_a_file_is_red_as_long_as_one_of_its_tests_says_something() -> None:
    verdict = RedVerdict(red=("tests/test_a.py",))
    red = TestRun(broken_files={"tests/test_a.py": TestResult("tests/test_a.py", "tests/test_a.py", Outcome.ERROR)})
    mixed = hollowed(verdict, (), _run(one=Outcome.PASSED, two=Outcome.FAILED), red)
    assert (mixed.red, mixed.hollow) == (("tests/test_a.py",), ("tests/test_a.py::one",))
    assert mixed.worth_implementing
    empty = hollowed(verdict, (), _run(one=Outcome.PASSED), red)
    assert (empty.red, empty.error, empty.worth_implementing) == ((), ErrorType.TEST_UNEXPECTED_PASS, False)
    assert hollowed(verdict, (), _run(two=Outcome.FAILED), red) is verdict


@pytest.mark.parametrize(
    ("outcome", "controlled"), [(Outcome.FAILED, True), (Outcome.PASSED, False), (Outcome.SKIPPED, False)]
)
def test_the_control_is_judged_and_left_out(outcome: Outcome, controlled: bool) -> None:
    control = Control("tests/test_x.py", "x", "")
    run = TestRun({"tests/test_x.py::test_x": TestResult("tests/test_x.py::test_x", "tests/test_x.py", outcome)})
    seen = watched(run, control)
    assert (seen.results, seen.controlled) == ({}, controlled)
    assert watched(TestRun(), control).controlled is None


@pytest.mark.parametrize(
    ("near", "path"),
    [("tests/test_a.py", "tests/test_w.py"), ("a/b_test.py", "a/w_test.py"), ("t/a.spec.ts", "t/w.spec.ts")],
)
def test_the_control_lies_where_its_neighbour_is_found(near: str, path: str) -> None:
    assert beside(near, "w") == path
    assert neighbour(["tests/conftest.py", "tests/data.json", near]) == near


def test_javascript_has_no_control_beside_what_is_no_test() -> None:
    assert JestRunner().control("test/helper.js", "", "w") is None
