"""The tests of a file are put in the reverse order, with what belongs to them, and nothing else moves."""

from __future__ import annotations

import pytest

from worker_agent.tdd.syntax.units_order import reordered

PYTHON = """import pytest

ONE = 1


# The first.
def test_one():
    assert ONE == 1


def helper():
    return 2


@pytest.mark.parametrize("n", [2, 3])
def test_two(n):
    assert n > ONE


class TestMore:
    def test_three(self):
        assert 3

    def test_four(self):
        assert 4
"""
PYTHON_REVERSED = """import pytest

ONE = 1


@pytest.mark.parametrize("n", [2, 3])
def test_two(n):
    assert n > ONE


def helper():
    return 2


# The first.
def test_one():
    assert ONE == 1


class TestMore:
    def test_four(self):
        assert 4

    def test_three(self):
        assert 3
"""


def test_tests_change_their_places_with_their_decorators_and_comments() -> None:
    assert (reordered("tests/test_a.py", PYTHON.encode()) or b"").decode() == PYTHON_REVERSED


@pytest.mark.parametrize(
    ("path", "content", "made"),
    [
        (
            "a.test.js",
            "describe('a', () => {\n  it('one', () => { x(); });\n  it('two', () => { y(); });\n});\n",
            "describe('a', () => {\n  it('two', () => { y(); });\n  it('one', () => { x(); });\n});\n",
        ),
        (
            "a_test.go",
            "package a\n\nfunc TestA(t *testing.T) { x() }\n\n// B.\nfunc TestB(t *testing.T) { y() }\n",
            "package a\n\n// B.\nfunc TestB(t *testing.T) { y() }\n\nfunc TestA(t *testing.T) { x() }\n",
        ),
        (
            "a_spec.rb",
            "describe A do\n  it 'one' do\n    x\n  end\n  it 'two' do\n    y\n  end\nend\n",
            "describe A do\n  it 'two' do\n    y\n  end\n  it 'one' do\n    x\n  end\nend\n",
        ),
        (
            "ATest.php",
            "<?php\nclass ATest extends TestCase {\n    function testA() { x(); }\n    /** @test */\n"
            "    function b() { y(); }\n}\n",
            "<?php\nclass ATest extends TestCase {\n    /** @test */\n    function b() { y(); }\n"
            "    function testA() { x(); }\n}\n",
        ),
    ],
)
def test_every_language_whose_runner_follows_the_file(path: str, content: str, made: str) -> None:
    assert (reordered(path, content.encode()) or b"").decode() == made
    assert reordered(path, made.encode()) == content.encode(), "twice is as before"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("test_a.py", "def test_one():\n    assert 1\n"),
        ("test_a.py", "@pytest.mark.order(2)\ndef test_a():\n    pass\n\ndef test_b():\n    pass\n"),
        ("ATest.php", "<?php class ATest { function testA() {} /** @depends testA */ function testB() {} }"),
        ("tests/a.rs", "#[test]\nfn a() { x() }\n#[test]\nfn b() { y() }\n"),
        ("data.txt", "test"),
        ("test_broken.py", "def test_(:\n"),
    ],
)
def test_a_file_whose_order_cannot_matter_or_says_so_stays(path: str, content: str) -> None:
    assert reordered(path, content.encode()) is None
