"""Branches that raise, functions that are simpler, values of criteria: what says that inputs do not discriminate."""

from __future__ import annotations

import pytest

from shared.specification import Criterion
from worker_agent.tdd.damage.code_branches import branches, raising
from worker_agent.tdd.damage.code_changes import changes
from worker_agent.tdd.damage.code_simpler import simpler
from worker_agent.tdd.damage.unchecked import unasked

BRANCHES = {
    "a.py": (
        "def f(a):\n    if a:\n        return 1\n    elif b: return 2\n    else:\n        with g():\n"
        "            b = 1\n    try:\n        c = 1\n    except (A, B) as e:\n        for each in e:\n"
        "            pass\n"
        "    match a:\n        case 1:\n            return 3\n        case _:\n            return 4\n    return 5\n",
        ["if a", "elif b", "else", "except (A, B) as e", "case 1", "case _"],
    ),
    "a.js": (
        "function f(a) {\n  if (a) return 1;\n  else if (b) { x(); }\n  else { y(); }\n  switch (a) {\n"
        "    case 1: return 2;\n    default:\n      return 3;\n  }\n  try { q(); } catch { w(); }\n}\n",
        ["if (a)", "if (b)", "else", "case 1: return 2;", "default:", "catch"],
    ),
    "a.ts": ("function f(a: string): number {\n  if (a) {\n    return 1;\n  }\n  return 2;\n}\n", ["if (a)"]),
    "a.go": (
        "package a\n\nfunc F(a int) int {\n\tif a > 1 {\n\t\treturn 1\n\t} else {\n\t\ta = 3\n\t}\n\tswitch a {\n"
        "\tcase 1, 2:\n\t\treturn 4\n\tdefault:\n\t\ta++\n\t}\n\tswitch b.(type) {\n\tcase int, B:\n\t\treturn 5\n\t}\n"
        "\treturn a\n}\n",
        ["if a > 1", "else of if a > 1", "case 1, 2:", "default:", "case int, B:"],
    ),
    "a.rs": (
        "fn f(a: i32) -> i32 {\n    if a > 1 {\n        return 2;\n    } else {\n        g();\n    }\n"
        "    match a {\n        1 => 4,\n        _ => { 5 }\n    }\n}\n",
        ["if a > 1", "else", "1 =>", "_ =>"],
    ),
    "A.java": (
        "class A { int f(int a) {\n  if (a > 1) return 2;\n  else {\n    g();\n  }\n"
        "  try {\n    j();\n  } catch (X e) {\n    k();\n  }\n  return 3; } }\n",
        ["if (a > 1)", "else of if (a > 1)", "catch (X e)"],
    ),
    "a.php": (
        "<?php\nfunction f($a) {\n  if ($a) {\n    return 1;\n  } elseif ($b) {\n    return 2;\n  } else {\n"
        "    return 3;\n  }\n}\n",
        ["if ($a)", "elseif ($b)", "else"],
    ),
    "a.rb": (
        "def f(a)\n  if a\n    1\n  elsif b\n    2\n  else\n    3\n  end\n  return 4 if c\n  case a\n"
        "  when 1 then 5\n  else\n    7\n  end\nend\n\ndef g(a)\n  h\nrescue X => e\n  8\nend\n",
        ["if a", "elsif b", "else", "return 4 if c", "past return 4 if c", "when 1", "else", "rescue X => e"],
    ),
    "a.cs": ("class A { int F(int a) {\n  if (a > 1) return 2;\n  return 3; } }\n", ["if (a > 1)"]),
}


FORMS = {
    "(_ for _ in ()).throw(RuntimeError('damaged'))": "RAISE",
    '(() => { throw new Error("damaged"); })()': "RAISE",
    '(throw new \\RuntimeException("damaged"))': "RAISE",
    '(raise "damaged")': "RAISE",
    'throw new Error("damaged");': "THROW",
    'if (true) throw new IllegalStateException("damaged");': "THROW",
    'raise "damaged";': "THROW",
    'panic!("damaged");': "THROW",
}


@pytest.mark.parametrize("path", BRANCHES)
def test_each_branch_of_new_code_can_be_made_to_raise(path: str) -> None:
    code, conditions = BRANCHES[path]
    (change,) = changes({}, {path: code.encode()})
    found = branches(change)
    assert [branch.condition for branch in found] == conditions
    assert all(raising(change, [branch]) for branch in found)
    whole = raising(change, found)
    assert whole is not None
    assert whole.count(b"damaged") == len(found)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "def f(a):\n    if not a:\n        raise ValueError('a')\n    return a\n"),
        ("a.py", "def f(a):\n    if a is None:\n        return NotImplemented\n    return a\n"),
        ("a.py", "def f(a):\n    if sys.version_info > (3, 12):\n        return 1\n    return a\n"),
        (
            "a.py",
            "def f(a):\n    try:\n        if a:\n            b = 1\n    except KeyError:\n        raise\n",
        ),
        ("a.js", "function f(a) {\n  if (!a) throw new TypeError('a');\n  return a;\n}\n"),
        (
            "a.go",
            "package a\n\nfunc F() (int, error) {\n\tif err != nil {\n\t\treturn 0, err\n\t}\n\treturn 1, nil\n}\n",
        ),
        ("a.rs", "fn f(a: i32) -> Result<i32, E> {\n    if a > 1 {\n        return Err(E);\n    }\n    Ok(a)\n}\n"),
    ],
)
def test_branches_that_refuse_or_depend_on_the_machine_are_left_out(path: str, code: str) -> None:
    (change,) = changes({}, {path: code.encode()})
    assert branches(change) == ()


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "def f(a):\n    return 1 if a else 2\n"),
        ("a.js", "const f = (a) => (a ? 1 : 2);\n"),
        ("a.ts", "function f(a: string): number {\n  return a ? 1 : 2;\n}\n"),
        ("a.php", "<?php\nfunction f($a) {\n  return a ? 1 : 2;\n}\n"),
        ("a.rb", "def f(a)\n  a ? 1 : 2\nend\n"),
    ],
)
def test_the_arms_of_a_conditional_expression_are_branches(path: str, code: str) -> None:
    (change,) = changes({}, {path: code.encode()})
    found = branches(change)
    assert [branch.condition for branch in found] == ["a", "else of a"]
    assert all(raising(change, [branch]) for branch in found)


@pytest.mark.parametrize(
    ("path", "code", "told"),
    [
        ("a.py", "def f(a):\n    if a:\n        return 1\n    b = g(a)\n    return b\n", ["past if a"]),
        ("a.py", "def f(a):\n    for b in a:\n        if b:\n            continue\n        g(b)\n", ["past if b"]),
        ("a.py", "def f(a):\n    if a:\n        return 1\n    return 'none'\n", []),
        ("a.py", "def f(a):\n    if a:\n        raise KeyError\n    return g(a)\n", []),
        ("a.py", "def f(a):\n    if a:\n        b = 1\n    return g(b)\n", []),
        ("a.js", "function f(a) {\n  if (a) return 1;\n  return g(a);\n}\n", ["past if (a)"]),
        (
            "a.go",
            "package a\n\nfunc F(a int) int {\n\tif a > 1 {\n\t\treturn 1\n\t}\n\treturn a\n}\n",
            ["past if a > 1"],
        ),
        ("a.rs", "fn f(a: i32) -> i32 {\n    if a > 1 {\n        return 2;\n    }\n    g(a)\n}\n", ["past if a > 1"]),
        ("A.java", "class A { int f(int a) {\n  if (a > 1) return 2;\n  return g(a); } }\n", ["past if (a > 1)"]),
        ("a.php", "<?php\nfunction f($a) {\n  if ($a) {\n    return 1;\n  }\n  return g($a);\n}\n", ["past if ($a)"]),
        ("a.rb", "def f(a)\n  return 4 if a\n\n  g(a)\nend\n", ["past return 4 if a"]),
    ],
)
def test_what_follows_a_branch_that_ends_the_function_is_one_too(path: str, code: str, told: list[str]) -> None:
    (change,) = changes({}, {path: code.encode()})
    found = [branch for branch in branches(change) if branch.condition.startswith("past")]
    assert [branch.condition for branch in found] == told
    assert all(raising(change, [branch]) for branch in found)


@pytest.mark.parametrize(
    ("path", "code", "raised"),
    [
        (
            "a.py",
            "def f(a):\n    return 1 if a else 2 if b else 3\n",
            "def f(a):\n    return RAISE if a else RAISE\n",
        ),
        (
            "a.py",
            "def f(a):\n    if a:\n        1 if b else 2\n    g(a)\n",
            "def f(a):\n    if a:\n        raise RuntimeError('damaged')\n        RAISE if b else RAISE\n    g(a)\n",
        ),
        ("a.js", "const f = (a) => (a ? (b ? 1 : 2) : c ? 3 : 4);\n", "const f = (a) => (a ? RAISE : RAISE);\n"),
        (
            "a.js",
            "function f(a) {\n  if (a) return b ? 1 : 2;\n  return b ? 3 : 4;\n}\n",
            "function f(a) {\n  if (a) { THROW return b ? 1 : 2; }\n  THROW return b ? RAISE : RAISE;\n}\n",
        ),
        (
            "a.ts",
            "function f(a: A) {\n  if (a) for (const b of a) if (b) g(b);\n}\n",
            "function f(a: A) {\n  if (a) { THROW for (const b of a) if (b) g(b); }\n}\n",
        ),
        (
            "a.rs",
            "fn f(a: A) -> u8 {\n    match a {\n        A::B => match b {\n            1 => 2,\n"
            "            _ => { 3 }\n        },\n        _ => if c { 4 } else { 5 },\n    }\n}\n",
            "fn f(a: A) -> u8 {\n    match a {\n        A::B => { THROW },\n        _ => { THROW },\n    }\n}\n",
        ),
        (
            "A.java",
            "class A { void f(int a) {\n  if (a > 1) if (a > 2) g();\n} }\n",
            "class A { void f(int a) {\n  if (a > 1) { THROW if (a > 2) g(); }\n} }\n",
        ),
        (
            "a.php",
            "<?php\nfunction f($a) { return $a ? ($b ? 1 : 2) : 3; }\n",
            "<?php\nfunction f($a) { return $a ? RAISE : RAISE; }\n",
        ),
        ("a.rb", "def f(a)\n  g(b ? 1 : 2) if a\nend\n", "def f(a)\n  RAISE if a\nend\n"),
        (
            "a.rb",
            "def f(a)\n  return 1 if a\n  g if b\nend\n",
            "def f(a)\n  RAISE if a\n  THROW RAISE if b\nend\n",
        ),
    ],
)
def test_of_branches_inside_each_other_the_outer_one_raises(path: str, code: str, raised: str) -> None:
    (change,) = changes({}, {path: code.encode()})
    made = raising(change, branches(change))
    assert made is not None
    found = made.decode()
    for form in FORMS:
        found = found.replace(form, FORMS[form])
    assert found == raised


def test_each_of_the_branches_inside_each_other_can_be_made_to_raise_alone() -> None:
    (change,) = changes({}, {"a.py": b"def f(a):\n    return 1 if a else 2 if b else 3\n"})
    by_itself = {branch.condition: raising(change, [branch]) for branch in branches(change)}
    value = b"(_ for _ in ()).throw(RuntimeError('damaged'))"
    assert by_itself == {
        "a": b"def f(a):\n    return " + value + b" if a else 2 if b else 3\n",
        "else of a": b"def f(a):\n    return 1 if a else " + value + b"\n",
        "b": b"def f(a):\n    return 1 if a else " + value + b" if b else 3\n",
        "else of b": b"def f(a):\n    return 1 if a else 2 if b else " + value + b"\n",
    }


def test_branches_that_were_there_are_left_out() -> None:
    old = "def f(a):\n    if a:\n        return 1\n    return 2\n"
    (change,) = changes({"a.py": old.encode()}, {"a.py": old.replace("2", "3 + b").encode()})
    assert branches(change) == ()


@pytest.mark.parametrize(
    ("path", "code", "told"),
    [
        (
            "a.py",
            "def f(a, b):\n    return a + b\n",
            ["hands back its argument `a`", "hands back its argument `b`", "always fails"],
        ),
        ("a.py", "def f(self, a):\n    return a + 1\n", ["hands back its argument `a`", "always fails"]),
        ("a.py", "def f(a):\n    return a == 1\n", ["always returns True", "always returns False", "always fails"]),
        ("a.py", "def f(a):\n    return a\n", ["hands back its argument `a`", "always fails"]),
        ("a.py", "def f():\n    return 1\n", ["always fails"]),
        ("a.py", "def f(a):\n    yield a\n", []),
        ("a.py", "class A:\n    def __init__(self, a):\n        self.a = a\n", []),
        (
            "a.ts",
            "const f = (a: string): boolean => a > b;\n",
            ["always returns true", "always returns false", "always fails"],
        ),
        (
            "a.go",
            "package a\n\nfunc F(a int) int {\n\treturn a + 1\n}\n",
            ["hands back its argument `a`", "always fails"],
        ),
        (
            "a.rs",
            "fn f(a: &str) -> String {\n    a.to_lowercase()\n}\n",
            ["hands back its argument `a`", "always fails"],
        ),
        (
            "A.java",
            "class A { boolean f(int a) { return a > 1; } }",
            ["always returns true", "always returns false", "always fails"],
        ),
        (
            "a.php",
            "<?php\nfunction f(string $a): string { return trim($a); }\n",
            ["hands back its argument `$a`", "always fails"],
        ),
        ("a.rb", "def f(a)\n  a.to_s\nend\n", ["hands back its argument `a`", "always fails"]),
    ],
)
def test_simpler_versions_of_a_function(path: str, code: str, told: list[str]) -> None:
    (change,) = changes({}, {path: code.encode()})
    assert [what for what, _ in simpler(change.scopes[-1])] == told


def test_a_function_that_always_fails_is_simpler_too() -> None:
    (change,) = changes({}, {"a.rs": b"fn f(a: u8) -> u8 {\n    a\n}\n"})
    *_, (what, content) = simpler(change.scopes[0])
    assert (what, b'panic!("damaged");' in content) == ("always fails", True)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "def f(a) -> NoReturn:\n    raise KeyError(a)\n"),
        ("a.ts", "function f(a: string): never { throw new Error(a); }\n"),
        ("a.rs", 'fn f(a: u8) -> ! {\n    panic!("{a}")\n}\n'),
    ],
)
def test_what_is_there_to_fail_is_not_told_from_what_always_fails(path: str, code: str) -> None:
    (change,) = changes({}, {path: code.encode()})
    assert "always fails" not in {what for what, _ in simpler(change.scopes[0])}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("It is none in 1900.", "`1900`"),
        ("It prints `2 boxes` and `1 cup`.", "`2 boxes`"),
        ("It removes `!`.", "`!`"),
        ("It raises `KeyError`.", "`KeyError`"),
        ('It says "not found".', "`not found`"),
        ("It counts `ä` as one, up to `1_000`.", "`ä`"),
        ("It reads `a.py`, `src/b/c`, `--all`, `f(x)`, `name`, `key=value` and `POST /users`.", ""),
        ("It is done in 300ms, for 100% of 12 users, see #4711 and https://a.example/1234.", ""),
        ("It prints `1 cup`.", ""),
    ],
)
def test_values_of_a_criterion_that_the_change_does_not_have(text: str, told: str) -> None:
    files = [b"def test_plural():\n    assert plural(1, 'cup') == '1  cup'\n    assert limit == 1000\n"]
    found = unasked([Criterion("AC2", text)], files)
    assert [each.partition(", which")[0] for each in found] == ([f"AC2: it names {told}"] if told else [])


def test_nothing_is_read_in_a_text_without_criteria() -> None:
    assert unasked([Criterion("AC1", "Since 1900 it was so.", implied=True)], [b""]) == ()
