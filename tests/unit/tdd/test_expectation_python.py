"""Damaged expectations of Python tests: each damaged test fails when it runs, and nothing honest stays green."""

from __future__ import annotations

import textwrap

import pytest

from worker_agent.tdd.damage.expectations import ExpectationEdit, damaged_expectations, untouched
from worker_agent.tdd.syntax.source import parse
from worker_agent.tdd.syntax.units import units_in

PATH = "tests/test_it.py"

HONEST = {
    "a comparison": "assert add(1, 2) == 3",
    "with a message": "assert add(1, 2) == 3, 'sum'",
    "an alternative": "assert add(1, 2) == 3 or add(1, 2) == 4",
    "a negation": "assert not add(1, 2) == 4",
    "and": "assert add(1, 2) and add(1, 2) == 3",
    "in": "assert 'a' in 'abc'",
    "is None": "assert {}.get('a') is None",
    "a computed value": "want = 3\nassert add(1, 2) == want",
    "a list": "assert [add(1, 2), 4] == [3, 4]",
    "an empty list": "assert list() == []",
    "an empty mapping": "assert dict() == {}",
    "a text over two lines": "assert str(add(1, 2)) == (\n    '3'\n    ''\n)",
    "bytes": "assert bytes(1) == b'\\0'",
    "a float": "assert add(0.1, 0.2) == pytest.approx(0.3)",
    "raises": "with pytest.raises(ValueError):\n    int('a')",
    "raises with a match": "with pytest.raises(ValueError, match='invalid') as caught:\n    int('a')\nassert caught",
    "raises SystemExit": "with pytest.raises(SystemExit):\n    raise SystemExit(1)",
    "raises KeyboardInterrupt": "with pytest.raises(KeyboardInterrupt):\n    raise KeyboardInterrupt",
    "two contexts": "with io.StringIO() as out, pytest.raises(ValueError):\n    int('a')",
    "warns": "with pytest.warns(UserWarning):\n    warnings.warn('w', UserWarning)",
    "a deprecation": "with pytest.deprecated_call():\n    warnings.warn('w', DeprecationWarning)",
    "a loop": "for value in [1, 2]:\n    assert value + 1 == add(value, 1)",
    "a loop over a mapping": "table = {'a': 1}\nfor name, value in table.items():\n    assert name, value",
    "both branches": "if add(1, 2) == 4:\n    assert False\nelse:\n    assert add(1, 2) == 3",
    "an early end": "if add(1, 2) == 3:\n    assert add(2, 2) == 4\n    return\nassert add(1, 2) == 5",
    "a helper": "check(3, add(1, 2))",
    "a caught failure": "try:\n    add('a', 1)\n    pytest.fail()\nexcept TypeError as error:\n    assert str(error)",
    "a mock": "called = mock.Mock()\ncalled(1, a='b')\ncalled.assert_called_once_with(1, a='b')",
    "a mock that is not called": "called = mock.Mock()\ncalled.assert_not_called()",
    "unittest": "case.assertEqual(add(1, 2), 3)",
    "unittest, a condition": "case.assertTrue(add(1, 2))\ncase.assertFalse(add(0, 0))",
    "unittest, a list": "case.assertListEqual([add(1, 2)], [3])\ncase.assertCountEqual([1, 2], [2, 1])",
    "unittest, a number": "case.assertAlmostEqual(add(0.1, 0.2), 0.3)\ncase.assertGreater(add(1, 2), 2)",
    "unittest, in": "case.assertIn('a', 'abc')\ncase.assertIsNone({}.get('a'))\ncase.assertIsInstance(1, int)",
    "unittest, raises": "with case.assertRaises(ValueError):\n    int('a')",
    "unittest, raises in a call": "case.assertRaises(ValueError, int, 'a')",
    "unittest, raises with a text": "with case.assertRaisesRegex(ValueError, 'invalid'):\n    int('a')",
    "unittest, a pattern": "case.assertRegex('abc', 'b.')",
    "unittest, several": "with case.subTest(1):\n    case.assertEqual(1, 1)",
}

HEAD = """
import io, unittest, warnings
from unittest import mock
import pytest

case = unittest.TestCase()

def add(a, b):
    return a + b

def check(want, got):
    assert want == got

def test_it():
"""


def damaged(body: str, head: str = HEAD) -> dict[ExpectationEdit, str]:
    content = (head + textwrap.indent(body, "    ") + "\n").encode()
    damages = damaged_expectations({PATH: content}, {PATH: ["test_it"]})
    for damage in damages:
        assert damage.touched == {(PATH, "test_it")}
        assert damage.files[PATH].count(b"\n") == content.count(b"\n")
    return {damage.kind: damage.files[PATH].decode() for damage in damages}


def outcome(text: str) -> str:
    space: dict[str, object] = {}
    exec(compile(text, PATH, "exec"), space)
    try:
        space["test_it"]()  # type: ignore[operator]
    except (KeyboardInterrupt, SystemExit):
        return "lets the end of the run through"
    except BaseException:
        return "red"
    return "green"


@pytest.mark.parametrize("body", HONEST.values(), ids=HONEST)
def test_every_damage_of_an_honest_test_turns_it_red(body: str) -> None:
    assert outcome(HEAD + textwrap.indent(body, "    ")) == "green"
    damages = damaged(body)
    assert damages
    assert {kind: outcome(text) for kind, text in damages.items()} == dict.fromkeys(damages, "red")


LYING = "class Always:\n    def __eq__(self, other):\n        return True\n    __hash__ = None\n"


@pytest.mark.parametrize("body", ["assert Always() == 3", "want = 4\nassert Always() == want", "assert Always() == []"])
def test_an_equality_that_is_always_true_stays_green_under_another_value(body: str) -> None:
    assert outcome(damaged(body, LYING + HEAD)[ExpectationEdit.LITERAL]) == "green"


@pytest.mark.parametrize(
    "body",
    [
        "assert x is not None",
        "assert x != 1",
        "assert 'a' not in x",
        "assert x < 1",
        "assert x == 1 or x == 2",
        "assert not x == 1",
        "case.assertNotEqual(x, 1)",
        "case.assertAlmostEqual(x, 1, delta=10000)",
        "assert x in (1, 2)",
        "assert add(1, 2)",
    ],
)
def test_a_value_whose_change_may_keep_a_test_green_is_left_alone(body: str) -> None:
    assert ExpectationEdit.LITERAL not in damaged(body)


@pytest.mark.parametrize(
    "body",
    [
        "add(1, 2)",
        "with pytest.raises(AssertionError):\n    assert False",
        "try:\n    assert x\nexcept AssertionError:\n    pass",
        "pytest.skip('later')",
        "with contextlib.suppress(Exception):\n    assert x",
        "with pytest.raises(A) if a else nullcontext():\n    assert x",
        "with expectation:\n    assert x",
    ],
)
def test_what_cannot_be_damaged_is_named(body: str) -> None:
    content = (HEAD + textwrap.indent(body, "    ")).encode()
    wanted = {PATH: ["test_it"]}
    damages = [d for d in damaged_expectations({PATH: content}, wanted) if d.kind is not ExpectationEdit.EXCEPTION]
    assert damages == []
    assert untouched(damages, wanted) == {(PATH, "test_it")}


@pytest.mark.parametrize(
    "body",
    [
        "for value in found():\n    assert value",
        "if found():\n    assert x",
        "def later():\n    assert x\ncall(later)",
        "if found():\n    return\nassert x",
    ],
)
def test_checks_that_may_not_run_are_damaged_together_and_said_to_be_uncertain(body: str) -> None:
    content = (HEAD + textwrap.indent(body, "    ")).encode()
    (damage,) = damaged_expectations({PATH: content}, {PATH: ["test_it"]})
    assert damage.kind is ExpectationEdit.NEGATE_FIRST
    assert damage.partly == {(PATH, "test_it")}
    assert b"not (" in damage.files[PATH]


def test_only_wanted_tests_are_damaged_and_all_of_them_in_one_run() -> None:
    content = (
        b"def test_a():\n    assert a == 1\n\ndef test_b():\n    assert b == 2\n\ndef test_c():\n    assert c == 3\n"
    )
    damages = damaged_expectations({PATH: content}, {PATH: ["test_a", "test_c"]})
    assert [damage.kind for damage in damages] == [ExpectationEdit.NEGATE_FIRST, ExpectationEdit.LITERAL]
    for damage in damages:
        assert damage.touched == {(PATH, "test_a"), (PATH, "test_c")}
        assert b"    assert b == 2\n" in damage.files[PATH]


def test_the_last_check_is_negated_in_a_run_of_its_own() -> None:
    found = damaged("assert add(1, 2) == 3\nassert add(2, 2) == 4")
    assert "assert not (add(1, 2) == 3)\n    assert add(2, 2) == 4" in found[ExpectationEdit.NEGATE_FIRST]
    assert "assert add(1, 2) == 3\n    assert not (add(2, 2) == 4)" in found[ExpectationEdit.NEGATE_LAST]


def test_methods_and_their_helpers() -> None:
    content = textwrap.dedent("""
        class TestIt:
            def verify(self, got):
                assert got == 1

            def test_one(self):
                self.verify(f())
        """).encode()
    source = parse(PATH, content)
    assert source is not None
    assert [unit.name for unit in units_in(source)] == ["TestIt::test_one"]
    for damage in damaged_expectations({PATH: content}, {PATH: ["TestIt::test_one"]}):
        assert damage.touched == {(PATH, "TestIt::test_one")}
        assert b"assert got == 1" not in damage.files[PATH]
