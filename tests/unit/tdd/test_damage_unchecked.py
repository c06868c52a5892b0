"""Claims of a change that its tests do not show: criteria beside checks, guards, places still to be written."""

from __future__ import annotations

import re

import pytest

from shared.specification import Criterion
from worker_agent.tdd.damage.code_changes import changes
from worker_agent.tdd.damage.code_equality import deciding
from worker_agent.tdd.damage.code_guards import removed
from worker_agent.tdd.damage.code_parameters import guarded
from worker_agent.tdd.damage.code_stubs import unfinished
from worker_agent.tdd.damage.unchecked import unasked, unchecked

ONCE = "2 acceptance criteria, and the new tests check a result once: something is not tested"
SORTED, EMPTY = "Lists are sorted.", "An empty list stays as it is."


def criteria(*texts: str) -> list[Criterion]:
    return [Criterion(f"AC{number}", text) for number, text in enumerate(texts, 1)]


@pytest.mark.parametrize(
    ("path", "test", "name", "cases", "told"),
    [
        ("test_a.py", "def test_a():\n    assert f([2, 1]) == [1, 2]\n", "test_a", 1, True),
        ("test_a.py", "def test_a():\n    assert f([2, 1]) == [1, 2]\n    assert f([]) == []\n", "test_a", 1, False),
        ("test_a.py", "def test_a():\n    for each in ROWS:\n        assert f(each) == each\n", "test_a", 1, False),
        (
            "test_a.py",
            "@pytest.mark.parametrize('given', [1, 2])\ndef test_a(given):\n    assert f(given) == given\n",
            "test_a",
            2,
            False,
        ),
        ("test_a.py", "from more import check\n\n\ndef test_a():\n    look(f([2]))\n", "test_a", 1, False),
        ("a.test.js", "test('a', () => {\n  expect(f([2])).toEqual([2]);\n});\n", "a", 1, True),
        (
            "a_test.go",
            'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) {\n\tif F(2) != 1 {\n\t\tt.Fatal("a")\n\t}\n}\n',
            "TestA",
            1,
            True,
        ),
    ],
)
def test_fewer_checks_than_criteria_are_told(path: str, test: str, name: str, cases: int, told: bool) -> None:
    found = unchecked(criteria(SORTED, EMPTY), {path: test.encode()}, {path: {name: cases}})
    assert found == ((ONCE,) if told else ())


@pytest.mark.parametrize("text", ["The README names it.", "Existing tests pass.", "mypy finds no wrong types."])
def test_criteria_that_no_test_checks_are_not_counted(text: str) -> None:
    test = b"def test_a():\n    assert f([2, 1]) == [1, 2]\n"
    assert unchecked(criteria(SORTED, text), {"test_a.py": test}, {"test_a.py": {"test_a": 1}}) == ()


@pytest.mark.parametrize(
    ("text", "checks", "told"),
    [
        (
            "It finds the middle in whatever order they are given.",
            2,
            "`whatever`, and the new tests check a result 2 times",
        ),
        ("Every umlaut is written with an e.", 1, "`every`, and the new tests check a result once"),
        ("Every umlaut is written with an e.", 3, ""),
        ("It compares in any case.", 1, ""),
        ("It is done without any file.", 1, ""),
        ("All users are listed.", 1, ""),
    ],
)
def test_what_holds_for_every_input_needs_more_than_two_examples(text: str, checks: int, told: str) -> None:
    source = "def test_a():\n" + "".join(f"    assert f({at}) == {at}\n" for at in range(checks))
    found = unchecked(criteria(text), {"test_a.py": source.encode()}, {"test_a.py": {"test_a": 1}})
    assert found == ((f"AC1: it says {told}",) if told else ())


@pytest.mark.parametrize(
    ("text", "test", "told"),
    [
        ("A file that is not there is an error.", "assert load('a') == 1", True),
        ("It raises `KeyError`.", "assert load('a') == 1", True),
        ("It raises `KeyError`.", "with pytest.raises(KeyError):\n        load('a')", False),
        ("A missing file is an error.", "assert run('a').exit_code == 2", False),
        (
            "It throws an exception.",
            "try:\n        load('a')\n    except OSError:\n        return\n    assert 0",
            False,
        ),
        ("No error is shown.", "assert load('a') == 1", False),
        ("What is wrong is named on standard error, and 2 is returned.", "assert main(['x']) == 2", False),
        ("The rounding error is below a cent.", "assert load('a') == 1", False),
        ("A name that is missing is an error.", "assert capsys.readouterr().err == 'no name'", False),
        ("It loads without raising an exception.", "assert load('a') == 1", False),
        ("The error message names the file.", "assert load('a') == 1", False),
        ("Errors of one kind are counted together.", "assert count(['OSError', 'OSError']) == 1", False),
    ],
)
def test_an_error_that_no_test_expects_is_told(text: str, test: str, told: bool) -> None:
    source = f"def test_a():\n    {test}\n".encode()
    found = unchecked(criteria(text), {"test_a.py": source}, {"test_a.py": {"test_a": 1}})
    assert found == (("AC1: it asks for an error, and no new test expects one",) if told else ())


def test_that_a_test_of_go_fails_is_no_error_that_it_expects() -> None:
    asked = criteria("A file that cannot be read is an error.")
    head = 'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) {\n\tgot, err := Load("a")\n'
    fine = f'{head}\tif err != nil || got != 1 {{\n\t\tt.Errorf("%v", got)\n\t}}\n}}\n'.encode()
    both = fine.removesuffix(b"}\n") + b'\tif _, err := Load("b"); err == nil {\n\t\tt.Fatal("b")\n\t}\n}\n'
    wanted = {"a_test.go": {"TestA": 1}}
    assert len(unchecked(asked, {"a_test.go": fine}, wanted)) == 1
    assert unchecked(asked, {"a_test.go": both}, wanted) == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("It reads days: `3d`.", "`3d`"),
        ("It waits 1, 2, 4 and so on.", "`1, 2, 4`"),
        ("It waits 10, 20, 30 seconds.", ""),
        ("A receipt ends with `tax: N`.", ""),
        ("A receipt ends with `fee: <amount>`.", "`fee: <amount>`"),
        ("Of 12, 13 it says nothing.", ""),
        ("It knows the countries of ISO 3166, as RFC 6265 says.", ""),
    ],
)
def test_amounts_rows_of_numbers_and_examples_with_a_place_for_any_value(text: str, told: str) -> None:
    found = unasked(criteria(text), [b"assert waited == [10, 20, 30]\nassert lines[-1] == 'tax: 22'\n"])
    assert [each.partition(", which")[0] for each in found] == ([f"AC1: it names {told}"] if told else [])


@pytest.mark.parametrize(
    ("path", "code", "names"),
    [
        ("a.py", "def f(a, b):\n    if b < 1:\n        raise ValueError('b')\n    return a[:2]\n", ["b"]),
        ("a.py", "def f(a, b):\n    if b < 1:\n        raise ValueError(b)\n    return a[:b]\n", []),
        ("a.py", "def f(a, b):\n    if b and a is None:\n        raise ValueError('a')\n    return a\n", []),
        ("a.py", "def f(b):\n    if b < 1:\n        raise ValueError('b')\n    return True\n", []),
        ("a.py", "def f(a, b):\n    if b:\n        return 1\n    return a\n", []),
        ("a.js", "function f(a, b) {\n  if (b < 1) throw new RangeError('b');\n  return a;\n}\n", ["b"]),
        ("a.go", "package a\n\nfunc F(a, b int) int {\n\tif b < 1 {\n\t\tpanic(b)\n\t}\n\treturn a\n}\n", []),
        ("a.php", "<?php\nfunction f($a, $b) {\n  if ($b < 0) {\n    throw new E($b);\n  }\n  return $a;\n}\n", ["$b"]),
        ("a.rb", "def f(a, b)\n  raise ArgumentError if b < 1\n\n  a\nend\n", ["b"]),
        (
            "a.js",
            "async function f(a, b) {\n  for (let n = 1; ; n += 1) {\n    try {\n      return await a();\n"
            "    } catch (error) {\n      if (n >= b) throw error;\n    }\n  }\n}\n",
            [],
        ),
        (
            "a.py",
            "def f(a, b):\n    n = 0\n    while True:\n        n += 1\n        if n > b:\n            raise OSError\n"
            "        if a(n):\n            return n\n",
            [],
        ),
        (
            "a.rs",
            "fn f(a: i32, b: i32) -> Result<i32, E> {\n    if b < 1 {\n        return Err(E);\n    }\n    Ok(a)\n}\n",
            ["b"],
        ),
    ],
)
def test_a_parameter_that_only_decides_what_is_refused(path: str, code: str, names: list[str]) -> None:
    found = guarded({}, {path: code.encode()})
    assert [each.split("`")[1] for each in found] == names


@pytest.mark.parametrize(
    ("path", "code", "told"),
    [
        (
            "a.rs",
            'fn f(a: i32) -> i32 {\n    match a {\n        1 => 2,\n        _ => todo!("more"),\n    }\n}\n',
            True,
        ),
        ("a.py", "def f(a):\n    if a:\n        return 1\n    raise NotImplementedError\n", True),
        ("a.py", "def f(a):\n    if a:\n        return 1\n    raise ValueError('a is needed')\n", False),
        ("a.py", "def f(a):\n    raise NotImplementedError\n", False),
        ("a.js", "function f(a) {\n  if (a) return 1;\n  throw new Error('pounds are not implemented');\n}\n", True),
        (
            "a.go",
            'package a\n\nfunc F(a int) int {\n\tif a > 1 {\n\t\treturn 1\n\t}\n\tpanic("not implemented")\n}\n',
            True,
        ),
        ("a.js", "function f(a) {\n  if (a) return todo(a);\n  throw new Error('no list');\n}\n", False),
    ],
)
def test_code_that_says_that_something_is_not_implemented(path: str, code: str, told: bool) -> None:
    assert bool(unfinished({}, {path: code.encode()})) is told
    assert unfinished({path: code.encode()}, {path: code.encode()}) == ()


@pytest.mark.parametrize(
    ("path", "code", "names"),
    [
        ("a.py", "class A(str):\n    def __eq__(self, other):\n        return self[:1] == other[:1]\n", ["A.__eq__"]),
        ("a.py", "class A(Base):\n    def __eq__(self, other):\n        return self.a == other.a\n", []),
        ("a.py", "class A(str):\n    def shout(self):\n        return self.upper()\n", []),
        ("a.rb", "class A < String\n  def ==(other) = casecmp?(other)\nend\n", ["A.=="]),
        ("a.rb", "class A\n  def ==(other) = name == other.name\nend\n", []),
        ("a.js", "class A extends String {\n  valueOf() {\n    return this[0];\n  }\n}\n", ["A.valueOf"]),
        (
            "a.rb",
            "Price = Struct.new(:a) do\n  def ==(other)\n    other.is_a?(Integer) && other <= a\n  end\nend\n",
            ["=="],
        ),
        ("a.py", "class A:\n    def __eq__(self, other):\n        return other <= self.limit\n", ["A.__eq__"]),
        (
            "a.py",
            "class A:\n    def __eq__(self, other):\n        return isinstance(other, (int, A)) and g(self)\n",
            ["A.__eq__"],
        ),
        (
            "a.py",
            "class A:\n    def __eq__(self, other):\n        return isinstance(other, A) and self.a == other.a\n",
            [],
        ),
        (
            "a.rs",
            "impl PartialEq<i64> for Money {\n    fn eq(&self, other: &i64) -> bool {\n        g(other)\n    }\n}\n",
            ["Money.eq"],
        ),
        (
            "a.rs",
            "impl PartialEq for Money {\n    fn eq(&self, other: &Self) -> bool {\n        g(other)\n    }\n}\n",
            [],
        ),
        ("a.rb", "class A\n  def <=>(other) = a < other.a ? -1 : 1\nend\n", []),
        ("a.js", "const f = (n) => ({ asymmetricMatch: (other) => other <= n });\n", ["asymmetricMatch"]),
    ],
)
def test_plain_values_that_decide_what_they_equal(path: str, code: str, names: list[str]) -> None:
    found = deciding({}, {path: code.encode()})
    assert [each.partition(": ")[0] for each in found] == [f"{path}::{name}" for name in names]
    assert deciding({path: code.encode()}, {path: code.encode()}) == ()


GUARD = "    if a < 1:\n        raise ValueError('a')\n"
GUARDED = f"def f(a):\n{GUARD}    return a\n"


@pytest.mark.parametrize(
    ("head", "conditions"),
    [
        (GUARDED.replace("    if a < 1:\n        raise ValueError('a')\n", "    a += 1\n"), ["a < 1"]),
        (GUARDED.replace("return a", "return a + 1"), []),
        (GUARDED.replace("if a < 1", "if a < 0") + f"\n\ndef g(a):\n{GUARD}", []),
        ("def g(a):\n    return a\n", []),
    ],
)
def test_a_guard_that_is_gone_can_be_put_back(head: str, conditions: list[str]) -> None:
    (change,) = changes({"a.py": GUARDED.encode()}, {"a.py": head.encode()})
    found = list(removed(change))
    assert [guard.condition for guard in found] == conditions
    assert all(guard.content == head.replace("\n", f"\n{GUARD}", 1).encode() for guard in found)


@pytest.mark.parametrize(
    ("head", "is_told"),
    [
        (GUARDED.replace("a < 1", "a < 0"), True),
        (GUARDED.replace("a < 1", "a < 0") + "\n\ndef g(a):\n    return f(a)\n", True),
        (GUARDED.replace(GUARD, GUARD.replace("a < 1", "a < 0") + GUARD.replace("a < 1", "a > 9")), False),
        (GUARDED.replace("a < 1", "a  <  1"), False),
        (GUARDED.replace("a < 1", "a < 0 and a < 10"), True),
    ],
)
def test_a_guard_that_refuses_something_else_gets_its_old_condition_back(head: str, is_told: bool) -> None:
    made = changes({"a.py": GUARDED.encode()}, {"a.py": head.encode()})
    found = [guard for change in made for guard in removed(change)]
    assert [(guard.condition, guard.stays) for guard in found] == ([("a < 1", True)] if is_told else [])
    assert all(guard.content == re.sub("a < 0(?: and a < 10)?", "a < 1", head).encode() for guard in found)


@pytest.mark.parametrize(
    ("path", "base", "head"),
    [
        (
            "a.js",
            "function f(a) {\n  if (a < 1) {\n    throw new E();\n  }\n  return a;\n}\n",
            "function f(a) {\n  return [a];\n}\n",
        ),
        (
            "a.go",
            "package a\n\nfunc F(a int) int {\n\tif a < 1 {\n\t\tpanic(a)\n\t}\n\treturn a\n}\n",
            "package a\n\nfunc F(a int) int {\n\treturn a + 1\n}\n",
        ),
        ("a.rb", "def f(a)\n  raise E if a < 1\n\n  a\nend\n", "def f(a)\n  [a]\nend\n"),
        (
            "a.php",
            "<?php\nfunction f($a) {\n  if ($a < 1) { throw new E(); }\n  return $a;\n}\n",
            "<?php\nfunction f($a) {\n  return [$a];\n}\n",
        ),
    ],
)
def test_guards_of_other_languages_come_back(path: str, base: str, head: str) -> None:
    (change,) = changes({path: base.encode()}, {path: head.encode()})
    (guard,) = removed(change)
    assert guard.condition.strip("()") in {"a < 1", "$a < 1"}
    (again,) = changes({path: head.encode()}, {path: guard.content})
    assert not list(removed(again))
    assert len(guard.content) > len(head)
