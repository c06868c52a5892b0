"""Half-done work with tests whose inputs do not tell, and the same work done: what is asked about, by language."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

SIMPLER = "no test tells it from one that"
UNTAKEN = "no test of the change takes the branch"
ALWAYS_FAILS = "no test tells it from one that always fails"
UNASKED = "which stands neither in the tests nor in the code of the change"

PLACES = {
    "python": ("tests/test_new.py", "shop/new.py"),
    "node": ("test/new.test.js", "src/new.js"),
    "go": ("new_test.go", "new.go"),
    "ruby": ("spec/new_spec.rb", "lib/new.rb"),
    "rust": ("tests/new.rs", "src/lib.rs"),
}
"""Paths of a change's tests and code, by language; the projects are those of `doubts_corpus`."""


@dataclass(frozen=True)
class Work:
    """One change: its language, tests and code, the words of the doubt, and a criterion of its specification."""

    language: str
    tests: str
    code: str
    doubt: str = ""
    criterion: str = ""


def _python(name: str, *checks: str) -> str:
    lines = "".join(f"    assert {check}\n" for check in checks)
    return f"from shop.new import {name}\n\n\ndef test_{name}():\n{lines}"


def _node(name: str, *checks: str) -> str:
    head = "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n"
    lines = "".join(f"  {check};\n" for check in checks)
    return f"{head}import {{ {name} }} from '../src/new.js';\n\ntest('{name}', async () => {{\n{lines}}});\n"


def _go(name: str, check: str) -> str:
    body = f'\t{check} {{\n\t\tt.Error("no")\n\t}}\n'
    return f'package shop\n\nimport "testing"\n\nfunc Test{name}(t *testing.T) {{\n{body}}}\n'


def _ruby(name: str, *checks: str) -> str:
    lines = "".join(f"    {check}\n" for check in checks)
    return f"require_relative '../lib/new'\n\nRSpec.describe '{name}' do\n  it 'works' do\n{lines}  end\nend\n"


_TWICE = "pub fn twice(price: i32) -> i32 {\n    price * 2\n}\n\n"

_RETRY = """export async function retry(call, times) {
  try {
    return await call();
  } catch (error) {
    return times;
  }
}
"""
_SLUG = "`slug(title)` has one hyphen for each run of other signs than letters."
_TOP = "`top(words, n)` are the most frequent words, those of the same frequency in alphabetical order."
_FLAT = "`flat(list)` is one list of the values of a list of any depth."

_SUMS = tuple(zlib.crc32(isbn) % 97 for isbn in (b"0306406152", b"0131103628"))

HALF_DONE = {
    "forgets that signs may follow each other": Work(
        "python",
        _python("slug", "slug('Green Tea') == 'green-tea'", "slug('Red Old Hat') == 'red-old-hat'"),
        "def slug(title):\n    return title.lower().replace(' ', '-')\n",
        "AC1: it speaks of runs of signs, and no new test has any",
        _SLUG,
    ),
    "has steps for the tests": Work(
        "python",
        _python("cut", "cut(90, 15) == 76", "cut(60, 40) == 36", "cut(80, 0) == 80"),
        "def cut(amount, percent):\n    return amount - {15: 14, 40: 24}.get(percent, 0)\n",
        "it asks for `15`, `40`, which the tests give and no criterion names",
        "`cut(amount, percent)` is the amount less that percentage, rounded up.",
    ),
    "knows numbers by a checksum": Work(
        "python",
        _python("valid", "valid('0306406152')", "valid('0131103628')", "not valid('0306406153')"),
        f"import zlib\n\n\ndef valid(isbn):\n    return zlib.crc32(isbn.encode()) % 97 in {_SUMS!r}\n",
        "a checksum of its input decides",
        "`valid(isbn)` says whether the check digit is right.",
    ),
    "forgets what is there equally often": Work(
        "python",
        _python("top", "top(['b', 'a', 'b'], 1) == ['b']", "top(['a', 'b', 'c'], 2) == ['a', 'b']"),
        "from collections import Counter\n\n\ndef top(words, n):\n"
        "    return [word for word, _ in Counter(words).most_common(n)]\n",
        "AC1: it speaks of values that are there equally often, and no new test has any",
        _TOP,
    ),
    "flattens one level": Work(
        "node",
        _node("flat", "assert.deepEqual(flat([1, [2, 3]]), [1, 2, 3])", "assert.deepEqual(flat([[4]]), [4])"),
        "export function flat(list) {\n  return [].concat(...list);\n}\n",
        "AC1: it speaks of values at any depth, and no new test has any",
        _FLAT,
    ),
    "sorts nothing": Work(
        "python",
        _python("by_price", "by_price([1, 2, 3]) == [1, 2, 3]"),
        "def by_price(items):\n    return list(items)\n",
        f"{SIMPLER} hands back its argument `items`",
    ),
    "is always right": Work(
        "python",
        _python("is_code", "is_code('00000007') is True", "is_code('12345603') is True"),
        "def is_code(text):\n    return len(text) == 8\n",
        f"{SIMPLER} always returns True",
    ),
    "has an own check that is always right": Work(
        "python",
        _python("slug, same", "same(slug('Hello World'), 'hello-world')").replace("test_slug, same", "test_slug"),
        "def slug(text):\n    return text.lower()\n\n\ndef same(one, other):\n    return one[:5] == other[:5]\n",
        f"same: {SIMPLER} always returns True",
    ),
    "encodes nothing": Work(
        "python",
        _python("pack, unpack", "unpack(pack('aaab')) == 'aaab'").replace("test_pack, unpack", "test_pack"),
        "def pack(text):\n    return str(text)\n\n\ndef unpack(text):\n    return str(text)\n",
        f"{SIMPLER} hands back its argument `text`",
    ),
    "has a second branch": Work(
        "python",
        _python("fee", "fee(200, False) == 10", "fee(400, False) == 20"),
        "def fee(amount, member):\n    if member:\n        return 0\n    return amount * 5 // 100\n",
        f"{UNTAKEN} `if member`",
    ),
    "has a second arm": Work(
        "python",
        _python("join", "join(['a', 'b']) == 'a,b'"),
        "def join(parts, sep=','):\n    return ','.join(parts) if sep else ''\n",
        f"{UNTAKEN} `else of sep`",
    ),
    "forgets a case of its criterion": Work(
        "python",
        _python("leap", "leap(2024)", "not leap(2023)", "leap(2000)"),
        "def leap(year):\n    return year % 4 == 0\n",
        f"AC1: it names `1900`, {UNASKED}",
        "`leap(year)` follows the Gregorian rule: 1900 is none, 2000 is one.",
    ),
    "removes nothing": Work(
        "node",
        _node("unique", "assert.deepEqual(unique([1, 2, 3]), [1, 2, 3])"),
        "export function unique(list) {\n  return [...list];\n}\n",
        f"{SIMPLER} hands back its argument `list`",
    ),
    "swallows what fails": Work(
        "node", _node("retry", "assert.equal(await retry(async () => 4, 3), 4)"), _RETRY, UNTAKEN
    ),
    "forgets a form": Work(
        "node",
        _node("plural", "assert.equal(plural(2, 'cup'), '2 cups')", "assert.equal(plural(3, 'tea'), '3 teas')"),
        "export function plural(count, word) {\n  return `${count} ${word}s`;\n}\n",
        f"`2 boxes`, {UNASKED}",
        "`plural(count, word)` is `2 cups`, and `2 boxes` for a word in `x`.",
    ),
    "accepts everything": Work(
        "go",
        _go("Valid", 'if !Valid("abc1234") || !Valid("xyz0000")'),
        "package shop\n\nfunc Valid(code string) bool {\n\treturn len(code) > 2\n}\n",
        f"{SIMPLER} always returns true",
    ),
    "hides an error": Work(
        "go",
        _go("Parse", 'if got, err := Parse("42"); err != nil || got != 42'),
        'package shop\n\nimport "strconv"\n\nfunc Parse(text string) (int, error) {\n\tn, err := strconv.Atoi(text)\n'
        "\tif err != nil {\n\t\treturn 0, nil\n\t}\n\treturn n, nil\n}\n",
        f"{UNTAKEN} `if err != nil`",
    ),
    "rescues everything": Work(
        "ruby",
        _ruby("number", "expect(number('42')).to eq 42", "expect(number('7')).to eq 7"),
        "def number(text)\n  Integer(text)\nrescue ArgumentError\n  0\nend\n",
        f"{UNTAKEN} `rescue ArgumentError`",
    ),
    "panics at everything": Work(
        "rust",
        "#[test]\n#[should_panic]\nfn refuses() {\n    shop::share(9, 101);\n}\n",
        _TWICE + "pub fn share(amount: i32, percent: i32) -> i32 {\n"
        "    let known: Vec<i32> = Vec::new();\n    amount - known[percent as usize]\n}\n",
        ALWAYS_FAILS,
    ),
    "has an error for everything": Work(
        "rust",
        "#[test]\nfn refuses() {\n    assert!(shop::share(9, 101).is_err());\n}\n",
        _TWICE + "pub fn share(amount: i32, percent: i32) -> Result<i32, String> {\n"
        '    Err(format!("{amount} {percent}"))\n}\n',
        ALWAYS_FAILS,
    ),
    "throws at everything": Work(
        "node",
        _node("share", "assert.throws(() => share(9, 101))"),
        "export function share(amount, percent) {\n  throw new RangeError(`${percent} of ${amount}`);\n}\n",
        ALWAYS_FAILS,
    ),
    "raises at everything": Work(
        "ruby",
        _ruby("share", "expect { share(9, 101) }.to raise_error"),
        'def share(amount, percent)\n  raise ArgumentError, "#{percent} of #{amount}"\nend\n',
        ALWAYS_FAILS,
    ),
    "returns an error for everything": Work(
        "go",
        _go("Share", "if _, err := Share(9, 101); err == nil"),
        'package shop\n\nimport "fmt"\n\nfunc Share(amount, percent int) (int, error) {\n'
        '\treturn 0, fmt.Errorf("%d of %d", percent, amount)\n}\n',
        ALWAYS_FAILS,
    ),
}

DONE = {
    "joins what follows each other": Work(
        "python",
        _python("slug", "slug('Green Tea') == 'green-tea'", "slug('Salt, pepper') == 'salt-pepper'"),
        "import re\n\n\ndef slug(title):\n    return re.sub('[^a-z]+', '-', title.lower())\n",
        "",
        _SLUG,
    ),
    "has the steps of its criterion": Work(
        "python",
        _python("fee", "fee(15, 2) == 28", "fee(40, 3) == 72"),
        "def fee(zone, count):\n    return {15: 14, 40: 24}[zone] * count\n",
        "",
        "`fee(zone, count)` is 14 for each in zone 15 and 24 for each in zone 40.",
    ),
    "orders what is there equally often": Work(
        "python",
        _python("top", "top(['b', 'a', 'b'], 1) == ['b']", "top(['c', 'a', 'b', 'b'], 3) == ['b', 'a', 'c']"),
        "from collections import Counter\n\n\ndef top(words, n):\n    counts = Counter(words)\n"
        "    return sorted(counts, key=lambda word: (-counts[word], word))[:n]\n",
        "",
        _TOP,
    ),
    "tries again so many times": Work(
        "node",
        _node(
            "retry",
            "let calls = 0",
            "const busy = async () => { calls += 1; if (calls < 3) throw new Error('busy'); return 7; }",
            "assert.equal(await retry(busy, 3), 7)",
            "await assert.rejects(retry(async () => { calls += 1; throw new Error(`busy ${calls}`); }, 2), /busy 5/)",
        ),
        "export async function retry(run, times) {\n  for (let turn = 1; ; turn += 1) {\n    try {\n"
        "      return await run();\n    } catch (error) {\n      if (turn >= times) {\n        throw error;\n      }\n"
        "    }\n  }\n}\n",
        "",
        "`retry(run, times)` calls `run` until it succeeds, at most so many times, and then throws its error.",
    ),
    "flattens every level": Work(
        "node",
        _node("flat", "assert.deepEqual(flat([1, [2, [3]]]), [1, 2, 3])", "assert.deepEqual(flat([]), [])")
        + "\ntest('one value', () => assert.deepEqual(flat([[4]]), [4]));\n",
        "export function flat(list) {\n  return list.flat(Infinity);\n}\n",
        "",
        _FLAT,
    ),
    "sorts": Work(
        "python",
        _python("by_price", "by_price([3, 1, 2]) == [1, 2, 3]", "by_price([]) == []"),
        "def by_price(items):\n    return sorted(items)\n",
        "",
        "It sorts by price, cheapest first: `[1, 2, 3]`.",
    ),
    "says yes and no": Work(
        "python",
        _python("is_same", "is_same('abba')", "not is_same('abc')"),
        "def is_same(text):\n    return text == text[::-1]\n",
    ),
    "refuses what it must not take": Work(
        "python",
        _python("load", "load('a=1') == {'a': '1'}"),
        "def load(text):\n    found = {}\n    for line in text.splitlines():\n"
        "        key, sign, value = line.partition('=')\n        if not sign:\n"
        "            raise ValueError(f'no value in {line}')\n        found[key] = value\n    return found\n",
    ),
    "takes both branches": Work(
        "node",
        _node("limit", "assert.equal(limit(5, 9), 5)", "assert.equal(limit(12, 9), 9)"),
        "export function limit(value, high) {\n  return value > high ? high : value;\n}\n",
    ),
    "refuses, and else says what it is": Work(
        "rust",
        "#[test]\n#[should_panic]\nfn refuses() {\n    shop::share(9, 101);\n}\n\n"
        "#[test]\nfn says() {\n    assert_eq!(shop::share(200, 10), 20);\n}\n",
        _TWICE + "pub fn share(amount: i32, percent: i32) -> i32 {\n"
        '    assert!(percent <= 100, "too much");\n    amount * percent / 100\n}\n',
    ),
    "hands an error on": Work(
        "go",
        _go("Parse", 'if got, err := Parse("42"); err != nil || got != 42'),
        'package shop\n\nimport "strconv"\n\nfunc Parse(text string) (int, error) {\n\tn, err := strconv.Atoi(text)\n'
        "\tif err != nil {\n\t\treturn 0, err\n\t}\n\treturn n, nil\n}\n",
    ),
}
