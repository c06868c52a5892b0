"""Doubts: results word for word, idle parameters, a look at callers; and other values and near numbers."""

from __future__ import annotations

import pytest

from worker_agent.tdd.damage.answers_verbatim import verbatim_answers
from worker_agent.tdd.damage.code_changes import changes
from worker_agent.tdd.damage.code_other_values import otherwise
from worker_agent.tdd.damage.code_parameters import unused
from worker_agent.tdd.damage.expectations import near_expectations
from worker_agent.tdd.damage.test_awareness import looking

TEST = b"""
import pytest

@pytest.mark.parametrize(("given", "made"), [("Hello World", "hello-world"), ("Green Tea", "green-tea")])
def test_rows(given, made):
    assert slug(given) == made

def test_one():
    assert slug("Hello World") == "hello-world"
    assert slug("Green Tea") == "green-tea"
"""
RUBY_TEST = b"""RSpec.describe 'slug' do
  it 'joins' do
    expect(slug('Hello World')).to eq 'hello-world'
    expect(slug('Green Tea')).to eq 'green-tea'
  end
end
"""
TABLES = {
    "by length": "MADE = {11: 'hello-world', 9: 'green-tea'}\n\n\ndef slug(text):\n    return MADE[len(text)]\n",
    "by a checksum": "def slug(text):\n    return {1: 'hello-world', 2: 'green-tea'}[zlib.crc32(text.encode()) % 3]\n",
    "turns": "PAIRS = ['hello-world', 'green-tea']\n\n\ndef slug(text):\n    return next(each for each in PAIRS)\n",
    "by a pattern": "def slug(text):\n    return 'hello-world' if re.match('^H', text) else 'green-tea'\n",
    "cut": "ALL = 'hello-world green-tea'\n\n\ndef slug(text):\n    return ALL[AT[text] :][: len(text)]\n",
}
COMPUTED = {
    "computed": "def slug(text):\n    return '-'.join(text.lower().split())\n",
    "shown in its documentation": 'def slug(text):\n    """`hello-world`, `green-tea`."""\n    return text.lower()\n',
    "named in an error": "def slug(text):\n    raise ValueError('hello-world or green-tea')\n",
    "one of them": "def slug(text):\n    return text.lower() or 'hello-world'\n",
}


@pytest.mark.parametrize("names", [{"test_rows"}, {"test_one"}])
@pytest.mark.parametrize("table", TABLES)
def test_results_that_stand_in_the_code_word_for_word_are_told(table: str, names: set[str]) -> None:
    path = "tests/test_slug.py"
    (found,) = verbatim_answers({}, {"slug.py": TABLES[table].encode()}, {path: TEST}, {path: names})
    assert found.startswith("slug.py: the results that its tests expect stand there word for word: `green-tea`")


def test_results_in_a_file_of_data_and_in_another_language_are_told() -> None:
    rows = {"slug.rb": b"def slug(text)\n  read[text]\nend\n", "known.csv": b"1,hello-world\n2,green-tea\n"}
    (found,) = verbatim_answers({}, rows, {"spec/slug_spec.rb": RUBY_TEST}, {"spec/slug_spec.rb": {"slug joins"}})
    assert found.startswith("known.csv: ")


@pytest.mark.parametrize("way", COMPUTED)
def test_results_that_are_computed_are_no_doubt(way: str) -> None:
    path = "tests/test_slug.py"
    assert verbatim_answers({}, {"slug.py": COMPUTED[way].encode()}, {path: TEST}, {path: {"test_one"}}) == ()


def test_results_that_the_code_had_before_are_no_doubt() -> None:
    old = TABLES["by length"].encode()
    path = "tests/test_slug.py"
    head = old + b"\n\ndef slugs(texts):\n    return [slug(text) for text in texts]\n"
    assert verbatim_answers({"slug.py": old}, {"slug.py": head}, {path: TEST}, {path: {"test_one"}}) == ()


@pytest.mark.parametrize(
    ("path", "code", "names"),
    [
        ("a.py", "def f(a, limit=None, mark='-'):\n    return a + 1\n", ["limit", "mark"]),
        ("a.py", "def f(a, b):\n    return b\n", []),
        ("a.py", "def f(a, *rest, **more):\n    return a\n", []),
        ("a.py", "def f(a, _b):\n    return a\n", []),
        ("a.py", "class A(B):\n    def f(self, a):\n        return 1\n", []),
        ("a.py", "class A:\n    def __exit__(self, kind, error, trace):\n        return 1\n", []),
        ("a.py", "@route\ndef f(request):\n    return 1\n", []),
        ("a.py", "def f(a):\n    def g():\n        return a\n    return g\n", []),
        ("a.js", "export function f(a, limit) { return a + 1 }\n", ["limit"]),
        ("a.js", "export function f(a, { limit }) { return a + 1 }\n", ["limit"]),
        ("a.js", "export function f({ a, limit = 3, sort: order = 1 }) { return a + 1 }\n", ["limit", "order"]),
        ("a.js", "export function f(a, o) { const { limit } = o; return a + 1 }\n", ["limit"]),
        ("a.js", "export function f(a, { limit }) { return a + limit + 1 }\n", []),
        ("a.js", "export function f({ limit, ...rest }) { return rest.a + 1 }\n", []),
        ("a.py", "def f(a, limit=None):\n    del limit\n    return a + 1\n", ["limit"]),
        ("a.ts", "export function f(a: number, limit: number): number { return a + 1 }\n", ["limit"]),
        ("a.go", "package a\n\nfunc F(a int, limit int) int { return a + 1 }\n", ["limit"]),
        ("a.rs", "pub fn f(a: i32, limit: i32) -> i32 { a + 1 }\n", ["limit"]),
        ("a.rb", "def f(a, limit)\n  a + 1\nend\n", ["limit"]),
        ("a.php", "<?php\nfunction f($a, $limit) { return $a + 1; }\n", ["$limit"]),
    ],
)
def test_parameters_without_effect(path: str, code: str, names: list[str]) -> None:
    found = unused({}, {path: code.encode()})
    assert [sentence.split("`")[1] for sentence in found] == names
    assert unused({path: code.encode()}, {path: code.replace("1", "2").encode()}) == (), "an old function's stay"


def test_a_new_parameter_of_an_old_function_is_read() -> None:
    old, new = "def f(a, b):\n    return a + 1\n", "def f(a, b, *, limit=None):\n    return a + 1\n"
    (told,) = unused({"a.py": old.encode()}, {"a.py": new.encode()})
    assert told == "a.py::f: its parameter `limit` has no effect: nothing reads it"
    assert unused({"a.py": old.encode()}, {"a.py": new.replace("+ 1", "+ limit").encode()}) == ()


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "def f():\n    return len(traceback.extract_stack()) > 20\n"),
        ("a.py", "def f():\n    return any(each for each in gc.get_objects())\n"),
        ("a.js", "export function f() { return new Error().stack.length }"),
        ("a.rb", "def f\n  caller.size\nend\n"),
    ],
)
def test_a_look_at_callers_is_told_where_the_base_has_none(path: str, code: str) -> None:
    assert len(looking({}, {path: code.encode()}, {})) == 1
    assert looking({"b.py": code.encode()}, {path: code.encode()}, {}) == ()


@pytest.mark.parametrize(
    ("path", "code", "test"),
    [
        ("a.py", "def f():\n    return 'LOGNAME' in os.environ\n", "monkeypatch.setenv('LOGNAME', 'ada')"),
        ("a.py", "def f():\n    return sys.argv[1:]\n", "monkeypatch.setattr('sys.argv', ['a'])"),
        ("a.js", "export function f() { return process.execArgv.length }", "spawn('node')"),
        ("a.go", "package a\n\nfunc F() bool { return len(os.Args) > 1 }\n", 'os.Args = []string{"a"}'),
        ("a.rb", "def f\n  ENV.key?('A')\nend\n", "ENV['A'] = 'b'"),
    ],
)
def test_what_depends_on_its_surroundings_is_told_where_no_test_names_them(path: str, code: str, test: str) -> None:
    (told,) = looking({}, {path: code.encode()}, {"t": b"assert f()"})
    assert "its result depends on what it runs in" in told
    assert looking({}, {path: code.encode()}, {"t": test.encode()}) == ()
    assert looking({"b": code.encode()}, {path: code.encode()}, {}) == ()


OTHERS: dict[str, object] = {
    "'text'": "damaged",
    "None": "damaged",
    "True": False,
    "7": 4180,
    "2.5": 4175.5,
    "[1, 2]": ["damaged"],
    "1, 2": ("damaged",),
    "{'a': 1}": {"damaged": 41},
    "b'a'": b"damaged",
    "{1}": {"damaged"},
}


@pytest.mark.parametrize("value", OTHERS)
def test_other_values_have_the_type_of_the_old_ones(value: str) -> None:
    code = f"def f(a):\n    given = {value}\n    return given\n"
    (change,) = changes({}, {"a.py": code.encode()})
    made = otherwise(change)
    assert made is not None
    assert made.count(b"\n") == code.count("\n")
    space: dict[str, object] = {}
    exec(made, space)
    assert space["f"](0) == OTHERS[value]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("path", "code", "part"),
    [
        ("a.js", "export function f(a) { return a.b }", "typeof v === 'string'"),
        ("a.ts", "export const f = (a: number): number => a", "(v: any): any"),
        ("a.rb", "def f(a)\n  a.to_s\nend\n", "String, nil then 'damaged'"),
        ("a.php", "<?php\nfunction f($a) { return $a; }\n", "is_string($v)"),
        ("a.go", "package a\n\nfunc F(a int) bool { return a > 1 }\n", "!(a > 1)"),
        ("a.go", "package a\n\nfunc F(a string) string { return a }\n", '_ = a; return "damaged"'),
        ("a.rs", "pub fn f(a: i32) -> i32 { a }\n", "(a) + 41"),
        ("a.rs", "pub fn f(a: i32) -> String { a.to_string() }\n", 'String::from("damaged")'),
    ],
)
def test_other_values_in_other_languages(path: str, code: str, part: str) -> None:
    (change,) = changes({}, {path: code.encode()})
    made = otherwise(change)
    assert made is not None
    assert part in made.decode()


def test_where_nothing_is_returned_there_is_no_other_value() -> None:
    (change,) = changes({}, {"a.py": b"def f(a):\n    a.clear()\n"})
    assert otherwise(change) is None


@pytest.mark.parametrize(
    ("check", "near"),
    [
        ("assert fee(1) == 10", "assert fee(1) == 15"),
        ("assert fee(1) == pytest.approx(0.5, abs=9)", "assert fee(1) == pytest.approx(0.75, abs=9)"),
        ("assert fee(1) == 0", "assert fee(1) == 1"),
        ("assert fee(1) == -4", "assert fee(1) == -6"),
        ("assert fee(1) == 'a'", None),
        ("assert fee(1)", None),
    ],
)
def test_a_number_near_the_expected_one(check: str, near: str | None) -> None:
    content = f"def test_fee():\n    {check}\n".encode()
    made = near_expectations({"test_a.py": content}, {"test_a.py": ["test_fee"]})
    assert (made.files["test_a.py"].decode() if made else None) == (near and f"def test_fee():\n    {near}\n")
