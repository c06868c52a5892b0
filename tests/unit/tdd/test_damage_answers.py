"""Code that only answers its tests is found in every language, and honest tables are not."""

from __future__ import annotations

import pytest

from worker_agent.tdd.damage.answers import answer_tables

PYTHON_TEST = b"""
def test_roman():
    assert roman(4) == "IV"
    assert roman(9) == "IX"
    assert slug("Hello World") == "hello-world"
    assert next_light("red") == "green"
    assert next_light("green") == "yellow"
    assert total([40, 2]) == 42
"""
OTHER_TEST = b"""it('x', () => { expect(roman(4)).toBe("IV"); expect(roman(9)).toBe("IX") })"""


@pytest.mark.parametrize(
    "code",
    [
        "def roman(n):\n    if n == 4:\n        return 'IV'\n    if n == 9:\n        return 'IX'\n    return None\n",
        "def roman(n):\n    if n == 4:\n        return 'IV'\n    elif n == 9:\n        return 'IX'\n"
        "    raise ValueError(f'unknown {n}')\n",
        "def roman(n):\n    return {4: 'IV', 9: 'IX'}[n]\n",
        "def roman(n):\n    return {4: 'IV', 9: 'IX'}.get(n, '')\n",
        "KNOWN = {4: 'IV', 9: 'IX'}\n\n\ndef roman(n):\n    return KNOWN.get(n)\n",
        "def roman(n):\n    match n:\n        case 4:\n            return 'IV'\n"
        "        case 9:\n            return 'IX'\n",
        "def roman(n):\n    answers = [(4, 'IV'), (9, 'IX')]\n    for key, value in answers:\n"
        "        if key == n:\n            return value\n",
        "def roman(n):\n    return 'IV' if n == 4 else 'IX'\n",
        "def slug(text):\n    return 'hello-world'\n",
        "def slug(text):\n    if text == 'Hello World':\n        return 'hello-world'\n    return ''\n",
        "def total(numbers):\n    print(numbers)\n    return 42\n",
        "class Sum:\n    def total(self, numbers):\n        return 42\n",
    ],
)
def test_answers_of_python_are_found(code: str) -> None:
    found = answer_tables({}, {"code.py": code.encode()}, {"tests/test_code.py": PYTHON_TEST})
    assert len(found) == 1
    assert found[0].startswith("code.py:")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.js", "export function roman(n) { if (n === 4) { return 'IV' } return n === 9 ? 'IX' : '' }"),
        ("a.js", "export const roman = (n) => ({ 4: 'IV', 9: 'IX' })[n]"),
        (
            "a.ts",
            "export function roman(n: number): string { switch (n) { case 4: return 'IV'; default: return 'IX' } }",
        ),
        ("a.go", 'package a\nfunc Roman(n int) string { if n == 4 { return "IV" }\nreturn "IX" }\n'),
        ("a.rs", 'pub fn roman(n: u32) -> &\'static str { match n { 4 => "IV", 9 => "IX", _ => "" } }'),
        ("A.java", 'class A { static String roman(int n) { if (n == 4) { return "IV"; } return "IX"; } }'),
        ("a.php", "<?php function roman(int $n): string { if ($n === 4) { return 'IV'; } return 'IX'; }"),
        ("a.rb", "def roman(n)\n  case n\n  when 4 then 'IV'\n  when 9 then 'IX'\n  end\nend\n"),
        ("A.cs", 'class A { static string Roman(int n) { if (n == 4) { return "IV"; } return "IX"; } }'),
    ],
)
def test_answers_of_other_languages_are_found(path: str, code: str) -> None:
    assert len(answer_tables({}, {path: code.encode()}, {"test/a.test.js": OTHER_TEST})) == 1


@pytest.mark.parametrize(
    "code",
    [
        # more entries than the tests use
        "def roman(n):\n    return {4: 'IV', 9: 'IX', 40: 'XL'}[n]\n",
        "KNOWN = {4: 'IV', 9: 'IX', 90: 'XC'}\n\n\ndef roman(n):\n    return KNOWN.get(n)\n",
        # computed
        "def roman(n):\n    return 'I' * n\n",
        "def slug(text):\n    return text.lower().replace(' ', '-')\n",
        "def total(numbers):\n    return sum(numbers)\n",
        "def sign(n):\n    if n < 4:\n        return 9\n    return 42\n",
        "def roman(n):\n    if n == 4:\n        return f'{n}V'\n    return 'IX'\n",
        "def roman(n):\n    return compute(n) if n == 4 else 'IX'\n",
        # nothing to answer
        "def version():\n    return 'IV'\n",
        "def is_four(n):\n    return n == 4\n",
        "def is_known(n):\n    return n in (4, 9)\n",
        "def nothing(n):\n    return None\n",
        "def empty(n):\n    return []\n",
        # the words of a closed set, and names
        "def next_light(light):\n    if light == 'red':\n        return 'green'\n    return 'yellow'\n",
        "def next_light(light):\n    return {'red': 'green', 'green': 'yellow'}[light]\n",
        "def colour(context):\n    return 'green'\n",
        # others say what it takes
        "class Total(Sum):\n    def total(self, numbers):\n        return 42\n",
        "def total(_numbers):\n    return 42\n",
    ],
)
def test_honest_functions_pass(code: str) -> None:
    assert answer_tables({}, {"code.py": code.encode()}, {"tests/test_code.py": PYTHON_TEST}) == ()


def test_an_old_table_is_no_answer() -> None:
    code = b"def roman(n):\n    return {4: 'IV', 9: 'IX'}[n]\n"
    tests = {"tests/test_code.py": PYTHON_TEST}
    assert answer_tables({"code.py": code}, {"code.py": code + b"\n\nX = 5\n"}, tests) == ()
    assert len(answer_tables({"code.py": b""}, {"code.py": code}, tests)) == 1


@pytest.mark.parametrize(
    ("path", "code", "test"),
    [
        (
            "greet.py",
            "def greet(name):\n    return f'Hello, {name}'\n",
            "def test_a():\n    name = 'Ada'\n    assert greet(name) == f'Hello, {name}'\n",
        ),
        (
            "greet.js",
            "export function greet(name) {\n  return `Hello, ${name}`;\n}\n",
            "test('a', () => { const name = 'Ada'; expect(greet(name)).toBe(`Hello, ${name}`); });\n",
        ),
    ],
)
def test_a_text_that_is_filled_in_is_no_table(path: str, code: str, test: str) -> None:
    assert answer_tables({}, {path: code.encode()}, {f"tests/test_{path}": test.encode()}) == ()
