"""A test that repeats another is found wherever it stands, and nothing else is."""

from __future__ import annotations

import pytest

from worker_agent.tdd.judging.duplicates import duplicate_tests

OLD = b"""from directory import find

NAMES = ["Ann"]

def test_old():
    '''What it is about.'''
    assert find(NAMES, "Ann") == NAMES

class TestC:
    size = 1

    def test_in(self):
        assert len(find(NAMES, "Ann")) == self.size
"""
IN_CLASS = "class TestD:\n    size = %d\n    def test_x(self):\n        assert len(find(NAMES, 'Ann')) == self.size\n"
HEAD = "from directory import find\n\nNAMES = ['Ann']\n\n"


@pytest.mark.parametrize(
    ("head", "repeated"),
    [
        (
            HEAD + "def test_new():\n    # same\n    assert find(NAMES, 'Ann')   ==   NAMES\n",
            {"new.py::test_new": "old.py::test_old"},
        ),
        (
            HEAD + "def test_new():\n    'Other words.'\n    assert find(NAMES, 'Ann') == NAMES\n",
            {"new.py::test_new": "old.py::test_old"},
        ),
        (HEAD + "def test_new():\n    assert find(NAMES, 'Bob') == NAMES\n", {}),
        (HEAD + "async def test_new():\n    assert find(NAMES, 'Ann') == NAMES\n", {}),
        (HEAD + "@slow\ndef test_new():\n    assert find(NAMES, 'Ann') == NAMES\n", {}),
        (HEAD + "def test_new(db):\n    assert find(NAMES, 'Ann') == NAMES\n", {}),
        (HEAD.replace("directory", "phonebook") + "def test_new():\n    assert find(NAMES, 'Ann') == NAMES\n", {}),
        (HEAD.replace("'Ann'", "'Cid'") + "def test_new():\n    assert find(NAMES, 'Ann') == NAMES\n", {}),
        (
            HEAD + IN_CLASS % 1,
            {"new.py::TestD::test_x": "old.py::TestC::test_in"},
        ),
        (
            HEAD + IN_CLASS % 2,
            {},
        ),
        ("def test_a():\n    assert 1\n\ndef test_b():\n    assert 1\n", {"new.py::test_b": "new.py::test_a"}),
        ("def test_a():\n    assert 1\n\ndef test_a():\n    assert 2\n", {}),
        (
            HEAD + "def test_a():\n    assert 1\n\ndef test_a():\n    assert find(NAMES, 'Ann') == NAMES\n",
            {"new.py::test_a": "old.py::test_old"},
        ),
        ("def test_a(:\n", {}),
    ],
)
def test_the_same_code_over_the_same_names_is_the_same_test(head: str, repeated: dict[str, str]) -> None:
    assert duplicate_tests({"old.py": OLD}, {"old.py": OLD, "new.py": head.encode()}) == repeated


def test_what_a_helper_means_counts_too() -> None:
    test = b"def test_a():\n    assert ready()\n"
    helper = b"import %s as clock\n\ndef ready():\n    return clock.time()\n\n"
    base, other = {"a.py": helper % b"time" + test}, {"b.py": helper % b"fake" + test}
    assert duplicate_tests(base, other) == {}
    assert duplicate_tests(base, {"b.py": helper % b"time" + test}) == {"b.py::test_a": "a.py::test_a"}


def test_relative_imports_mean_something_else_in_another_package() -> None:
    test = b"from .app import run\n\ndef test_a():\n    assert run()\n"
    assert duplicate_tests({"one/t.py": test}, {"two/t.py": test}) == {}
    assert duplicate_tests({"one/t.py": test}, {"one/u.py": test}) == {"one/u.py::test_a": "one/t.py::test_a"}


def test_files_that_are_not_python_are_left_alone() -> None:
    assert duplicate_tests({"a.js": b"def test_a(): pass"}, {"b.js": b"def test_a(): pass"}) == {}


def test_old_tests_that_repeat_each_other_are_nobodys_fault_now() -> None:
    twice = b"def test_a():\n    assert 1\n\ndef test_b():\n    assert 1\n\ndef test_b():\n    assert 2\n"
    assert duplicate_tests({"t.py": twice}, {"t.py": twice}) == {}
