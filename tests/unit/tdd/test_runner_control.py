"""Control tests: how they are laid into Python, Ruby and PHP files, and what a run with them says."""

from __future__ import annotations

import ast

import pytest

from worker_agent.tdd.runners import control_python, ruby_runner
from worker_agent.tdd.runners.control import Control, insert_texts, watched
from worker_agent.tdd.runners.phpunit_runner import PhpunitRunner
from worker_agent.tdd.runners.test_run import CaseOutcome, TestResult, TestRun

NAMES = ["alpha_one", "beta_two", "gamma_three", "delta_four"]
CONTROL = Control("t.py", b"", failing=frozenset({"fails"}), passing=frozenset({"passes"}))
P, F, E, S = CaseOutcome.PASSED, CaseOutcome.FAILED, CaseOutcome.ERROR, CaseOutcome.SKIPPED


def _run(code: int = 1, asserted: bool = True, **outcomes: CaseOutcome) -> TestRun:
    results = [
        TestResult(f"t.py::{name}", "t.py", outcome, asserted=asserted and outcome is F)
        for name, outcome in outcomes.items()
    ]
    return TestRun({result.id: result for result in results}, code=code)


@pytest.mark.parametrize(
    ("run", "controlled", "code"),
    [
        (_run(passes=P, fails=F, own=P), True, 0),
        (_run(passes=P, fails=E, own=P), True, 0),
        (_run(passes=P, fails=F, own=F), True, 1),
        (_run(101, passes=P, fails=F, own=P), True, 0),
        (_run(0, passes=P, fails=P, own=P), False, 0),
        (_run(passes=F, fails=F, own=P), False, 0),
        (_run(passes=F, fails=F, own=F), False, 1),
        (_run(passes=F, fails=F, own=F, asserted=False), None, 1),
        (_run(passes=F, fails=F, own=P, asserted=False), False, 0),
        (_run(passes=E, fails=E, own=E), None, 1),
        (_run(0, own=P), None, 0),
        (_run(0, passes=P, fails=S, own=P), None, 0),
        (_run(passes=S, fails=F, own=P), None, 0),
    ],
)
def test_what_a_run_with_control_tests_says(run: TestRun, controlled: bool | None, code: int) -> None:
    found = watched(run, CONTROL)
    assert (found.controlled, found.code) == (controlled, code)
    assert set(found.results) <= {"t.py::own"}


def test_control_tests_of_a_file_that_others_import_are_left_out_and_say_nothing() -> None:
    results = {f"u.py::{name}": TestResult(f"u.py::{name}", "u.py", how) for name, how in (("passes", P), ("fails", F))}
    imported = TestRun({**results, **_run(own=P).results}, code=1)
    found = watched(imported, CONTROL)
    assert (set(found.results), found.controlled, found.code) == ({"t.py::own"}, None, 0)


def test_one_file_that_is_forced_spoils_the_run() -> None:
    other = Control("u.py", b"", failing=frozenset({"bad"}), passing=frozenset({"good"}))
    forced = watched(_run(0, passes=P, fails=P, own=P), CONTROL)
    assert watched(forced, other).controlled is False
    honest = watched(_run(passes=P, fails=F), CONTROL)
    assert watched(honest, other).controlled is True


PYTHON = {
    "functions": "import os\n\n\n@mark\ndef test_a():\n    assert os\n\n\nclass TestB:\n    def test_c(self): pass\n",
    "no end of line": "def test_a(): pass",
    "form feed": "def test_a():\n    assert '\x0c'\n\x0c\ndef test_b(): pass\n",
    "methods": "import unittest\n\n\nclass TestA(unittest.TestCase):\n\tdef test_a(self):\n\t\tpass\n",
    "methods that need something": (
        "from unittest import TestCase\n\n\nclass TestA(TestCase):\n    def setUp(self):\n        pass\n\n"
        "    def test_a(self):\n        pass\n"
    ),
    "camel case": "def testA(): pass\n",
    "empty": "",
}


@pytest.mark.parametrize("style", PYTHON)
def test_a_python_file_with_control_tests_is_still_one(style: str) -> None:
    for _ in range(20):
        control = control_python.control("t.py", PYTHON[style].encode(), NAMES)
        assert control is not None
        tree = ast.parse(control.content)
        named = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        assert sorted(control.names) == sorted(name for name in named if name in control.names)
        assert (len(control.failing), len(control.passing)) == (2, 2)
        before = [line for line in PYTHON[style].splitlines() if line.strip()]
        after = control.content.decode().splitlines()
        assert all(line in after for line in before)


def test_control_functions_do_what_they_must() -> None:
    for _ in range(30):
        control = control_python.control("t.py", b"", NAMES)
        assert control is not None
        space: dict[str, object] = {}
        exec(control.content, space)
        for name in control.names:
            function = space[name]
            assert callable(function)
            if name in control.passing:
                function()
            else:
                with pytest.raises(AssertionError):
                    function()


@pytest.mark.parametrize(
    ("path", "content"), [("t.py", b"def test_x(:\n"), ("t.txt", b"x"), ("t.py", b"\x00"), ("t.py", b"\xff\xfe")]
)
def test_a_file_that_is_no_python_gets_no_control_tests(path: str, content: bytes) -> None:
    assert control_python.control(path, content, NAMES) is None


def test_unittest_alone_finds_no_function() -> None:
    assert control_python.control("t.py", b"def test_a(): pass\n", NAMES, methods_only=True) is None


@pytest.mark.parametrize("end", ["end", "end\n"])
def test_texts_after_a_last_line_begin_lines_of_their_own(end: str) -> None:
    laid = insert_texts(end.encode(), [(len(end), "one\n"), (0, "first\n"), (len(end), "two\n")])
    assert laid.split() == [b"first", b"end", b"two", b"one"]


RSPEC = "# frozen_string_literal: true\n\nRSpec.describe 'sum' do\n  it('adds') { expect(1).to eq 1 }\nend\n"
MINITEST = "class SumTest < Minitest::Test\n  def setup = @a = 1\n  def test_adds\n    assert 1\n  end\nend\n"
PHP = (
    "<?php\nfinal class SumTest extends TestCase {\n    /** @dataProvider rows */\n"
    "    public function testAdds(): void { }\n    public function rows(): array { return []; }\n}\n"
)


def test_ruby_files_with_control_tests() -> None:
    group = ruby_runner.rspec_control("spec/sum_spec.rb", RSPEC.encode(), NAMES)
    assert group is not None
    assert group.names == {"alpha one", "beta two", "gamma three", "delta four"}
    assert group.content.startswith(b"# frozen_string_literal: true\n")
    methods = ruby_runner.minitest_control("test/sum_test.rb", MINITEST.encode(), NAMES)
    assert methods is not None
    assert methods.names == {f"test_{name}" for name in NAMES}
    assert ruby_runner.minitest_control("test/sum_test.rb", b"class A\nend\n", NAMES) is None
    assert ruby_runner.rspec_control("spec/sum_spec.rb", b"RSpec.describe 'x' do\n", NAMES) is None


def test_php_files_with_control_tests() -> None:
    for _ in range(20):
        control = PhpunitRunner().control("tests/SumTest.php", PHP.encode(), NAMES)
        assert control is not None
        assert control.names == {"testAlphaOne", "testBetaTwo", "testGammaThree", "testDeltaFour"}
        assert b"rows */\n    public function testAdds" in control.content, "a comment stays with its method"
    assert PhpunitRunner().control("tests/SumTest.php", b"<?php class A { function b() {} }", NAMES) is None
    assert PhpunitRunner().control("tests/SumTest.php", b"<?php class A extends TestCase {", NAMES) is None
