"""Old tests by meaning: additions, changes of each kind, ends, moves."""

from __future__ import annotations

import pytest

from worker_agent.tdd.comparison.compare import compare, diff, old_versions
from worker_agent.tdd.comparison.model import ComparedTest, Comparison, What

PATH = "tests/test_a.py"


def found(before: str | None, after: str | None, path: str = PATH, **beside: str) -> Comparison:
    others = {name.replace("__", "/") + ".py": text.encode() for name, text in beside.items()}
    base = others | ({} if before is None else {path: before.encode()})
    head = others | ({} if after is None else {path: after.encode()})
    return compare(base, head)


def one(comparison: Comparison) -> ComparedTest:
    (entry,) = comparison.entries
    return entry


OLD = "import pytest\n\ndef test_a():\n    x = f()\n    assert x == 1\n"
ROWS = "@pytest.mark.parametrize('a', [1, 2])\ndef test_a(a):\n    assert f(a)\n"
TABLE = "ROWS = [1, 2]\n@pytest.mark.parametrize('a', ROWS)\ndef test_a(a):\n    assert f(a)\n"
BARE = "def test_a():\n    x = f()\n    assert x == 1\n"
WARNS = "with pytest.warns(DeprecationWarning):"
IN_CLASS = "class TestA:\n    def test_a(self):\n        assert 1\n"

PYTHON = [
    ("a comment", OLD, OLD.replace("x = f()", "x = f()  # c"), None),
    ("a new test", OLD, OLD + "\ndef test_b(): assert 1\n", What.ADDED),
    ("a new test in front", OLD, "def test_b(): assert 1\n" + OLD, What.ADDED),
    ("a new import", OLD, "import os\n" + OLD, None),
    ("a new fixture", OLD, "@pytest.fixture\ndef d(): return 1\n" + OLD, None),
    ("a new test in a class", IN_CLASS, IN_CLASS + "    def test_b(self): assert 2\n", What.ADDED),
    ("a new case", ROWS, ROWS.replace("[1, 2]", "[1, 2, 3]"), What.ADDED),
    ("a removed case", ROWS, ROWS.replace("[1, 2]", "[1]"), What.CASES_REMOVED),
    ("a skipped case", ROWS, ROWS.replace("2]", "pytest.param(2, marks=pytest.mark.skip)]"), What.CASES_REMOVED),
    ("another expectation", OLD, OLD.replace("== 1", "== 2"), What.EXPECTATIONS),
    ("a removed expectation", OLD, OLD.replace("    assert x == 1\n", ""), What.EXPECTATIONS),
    ("another step", OLD, OLD.replace("f()", "g()"), What.STEPS),
    ("a new check", OLD, OLD + "    assert x != 2\n", What.STEPS),
    ("a removed test", OLD, "import pytest\n", What.REMOVED),
    ("a renamed test", OLD, OLD.replace("test_a", "test_b"), What.RENAMED),
    ("a deleted file", OLD, None, What.REMOVED),
    ("a new file", None, OLD, What.ADDED),
    ("a mark", OLD, OLD.replace("def ", "@pytest.mark.skip\ndef "), What.SKIPPED),
    ("a condition", OLD, OLD.replace("def ", "@pytest.mark.skipif(WIN, reason='r')\ndef "), What.STEPS),
    ("a condition that always holds", OLD, OLD.replace("def ", "@pytest.mark.skipif(True)\ndef "), What.SKIPPED),
    ("a new case of a constant", TABLE, TABLE.replace("2]", "2, 3]"), What.ADDED),
    ("a skip at the beginning", OLD, OLD.replace("    x =", "    pytest.skip('x')\n    x ="), What.SKIPPED),
    ("a return at the beginning", OLD, OLD.replace("    x =", "    return\n    x ="), What.SKIPPED),
    ("a skipped module", OLD, OLD.replace("\n\n", "\npytestmark = pytest.mark.skip\n\n", 1), What.SKIPPED),
    ("a name that is not collected", OLD, OLD.replace("test_a", "check_a"), What.SKIPPED),
    ("a class that is not collected", IN_CLASS, IN_CLASS.replace("TestA", "CheckA"), What.SKIPPED),
    ("__test__", IN_CLASS, IN_CLASS.replace(":\n    def", ":\n    __test__ = False\n    def"), What.SKIPPED),
    ("a later definition", OLD, OLD + "\ndef test_a():\n    assert True\n", What.SKIPPED),
    ("an expected failure", OLD, OLD.replace("def ", "@pytest.mark.xfail\ndef "), What.SKIPPED),
    ("a patched test", OLD, OLD.replace("def test_a()", "@patch('a.b')\ndef test_a(b)"), What.STEPS),
    (
        "its body in a context",
        BARE,
        BARE.replace("    x = f()\n    ", f"    {WARNS}\n        x = f()\n        "),
        What.STEPS,
    ),
    (
        "its body in a loop",
        BARE,
        BARE.replace("    x = f()\n    ", "    for _ in (1, 2):\n        x = f()\n        "),
        What.STEPS,
    ),
    ("another value of its name", OLD, OLD + "\ntest_a = lambda: None\n", What.SUPPORT),
    ("an import of its name", OLD, OLD + "\nfrom helpers import test_a\n", What.SUPPORT),
    ("other code put into it", OLD, OLD + "\ntest_a.__code__ = (lambda: None).__code__\n", What.SUPPORT),
    ("names set at run time", OLD, OLD + "\nglobals().update(test_a=print)\n", What.SUPPORT),
    ("an import of another name", OLD, OLD + "\nfrom helpers import test_ab\n", None),
    ("a coroutine", IN_CLASS, IN_CLASS.replace("def", "async def"), What.STEPS),
    ("a class that runs its tests itself", IN_CLASS, IN_CLASS + "    def run(self, result=None): pass\n", What.SUPPORT),
    ("an attribute in place of a method", IN_CLASS, IN_CLASS + "    test_a = print\n", What.SUPPORT),
    ("an attribute beside a method", IN_CLASS, IN_CLASS + "    maxDiff = None\n", None),
]


@pytest.mark.parametrize(("before", "after", "what"), [row[1:] for row in PYTHON], ids=[row[0] for row in PYTHON])
def test_python(before: str | None, after: str | None, what: What | None) -> None:
    entries = [entry for entry in found(before, after).entries if entry.what is not What.HOOK]
    assert [entry.what for entry in entries] == ([what] if what else [])


OTHERS = [
    (
        "a.test.ts",
        "it('a', () => { expect(f()).toBe(1) })",
        "it('a', () => { expect(f()).toBe(2) })",
        What.EXPECTATIONS,
    ),
    (
        "a.test.ts",
        "describe('d', () => { it('a', () => {}) })",
        "describe('d', () => { it('a', () => {}); it('b', () => { f() }) })",
        What.ADDED,
    ),
    ("a.test.ts", "it('a', () => { f() })", "it.skip('a', () => { f() })", What.SKIPPED),
    ("a.test.ts", "it('a', () => { f() })", "it('b', () => { f() })", What.RENAMED),
    ("a.test.ts", "it.each([1, 2])('%s', () => {})", "it.each([1, 2, 3])('%s', () => {})", What.ADDED),
    ("a.test.ts", "it('a', () => { f(); g() })", "it('a', () => { for (const x of y) { f(); g() } })", What.STEPS),
    ("a.test.ts", "it('a', () => { f() })", "it('a', () => run(() => { f() }))", What.STEPS),
    ("a.test.ts", "it('a', () => { f() })", "it('a', function* () { f() })", What.STEPS),
    (
        "a.test.ts",
        "it('a', () => { f() })",
        "const it = (name, _) => test(name);\nit('a', () => { f() })",
        What.SUPPORT,
    ),
    (
        "a_test.go",
        "package a\nfunc TestA(t *T) { for _, c := range []int{1} { f(c) } }",
        "package a\nfunc TestA(t *T) { for _, c := range []int{1, 2} { f(c) } }",
        What.ADDED,
    ),
    (
        "src/a.rs",
        "fn f() { 1 }\n#[cfg(test)]\nmod tests { #[test]\nfn a() { assert!(f()) } }",
        "fn f() { 2 }\n#[cfg(test)]\nmod tests { #[test]\nfn a() { assert!(f()) } }",
        None,
    ),
    (
        "ATest.java",
        "class A { @Test void a() { f(); } }",
        "class A { @Disabled @Test void a() { f(); } }",
        What.SKIPPED,
    ),
    (
        "ATest.php",
        "<?php class ATest extends TestCase { function testA() { $this->assertSame(1, f()); } }",
        "<?php class ATest extends TestCase { function testA() { $this->assertSame(2, f()); } }",
        What.EXPECTATIONS,
    ),
    ("a_spec.rb", "describe 'a' do it('b') { f } end", "describe 'a' do xit('b') { f } end", What.SKIPPED),
    ("test/a_test.exs", "test 'a' do\nend\n", "test 'a' do\nend\ntest 'b' do\nend\n", What.ADDED),
    ("test/a_test.exs", "test 'a' do\nend\n", "test 'b' do\nend\n", What.EXPECTATIONS),
]


@pytest.mark.parametrize(("path", "before", "after", "what"), OTHERS)
def test_other_languages(path: str, before: str, after: str, what: What | None) -> None:
    assert [entry.what for entry in found(before, after, path).entries] == ([what] if what else [])


@pytest.mark.parametrize(
    "acting",
    ["jest.mock('../a', () => ({}));", "globalThis.it = quiet;", "expect.extend({ toBe });", "if (!x) { patch(); }"],
)
def test_code_of_a_test_file_that_acts_on_its_own_belongs_to_the_old_tests_in_it(acting: str) -> None:
    old = "it('a', () => { f() })\n"
    kinds = {entry.what for entry in found(old, f"{acting}\n{old}", "a.test.ts").entries}
    assert kinds == {What.SUPPORT, What.HOOK}


def test_a_block_that_makes_tests_belongs_to_no_other_test() -> None:
    old, more = "it('a', () => { f() })\n", "if (posix) { it('b', () => { g() }) }\n"
    assert What.SUPPORT not in {entry.what for entry in found(old, old + more, "a.test.ts").entries}
    python = "if POSIX:\n    def test_b(): assert 1\n"
    assert What.SUPPORT not in {entry.what for entry in found(OLD, OLD + python).entries}


def test_an_entry_tells_path_test_line_and_what_happened() -> None:
    entry = one(found(OLD, OLD.replace("== 1", "== 2")))
    assert (entry.path, entry.unit, entry.line) == (PATH, "test_a", 3)
    assert entry.text == "tests/test_a.py::test_a: its expectation changed"
    shown = diff(entry).splitlines()
    assert "-    assert x == 1" in shown
    assert "+    assert x == 2" in shown


@pytest.mark.parametrize(
    ("after", "loses"),
    [
        (OLD + "    assert x != 2\n", False),
        (OLD.replace("== 1", "== 2"), True),
        (OLD.replace("    assert", "    x = 1\n    assert"), True),
        (OLD.replace("f()", "g()"), True),
    ],
)
def test_only_added_checks_lose_nothing(after: str, loses: bool) -> None:
    assert one(found(OLD, after)).loses is loses


def test_fewer_checks_are_counted_through_helpers() -> None:
    helper = "def check(x):\n    assert x\n    assert x > 1\n\ndef test_a():\n    check(1)\n"
    entry = one(found(helper, helper.replace("    assert x > 1\n", "")))
    assert (entry.what, entry.fewer_checks) == (What.SUPPORT, True)


def test_a_moved_test_is_one_entry() -> None:
    base = {"tests/test_a.py": b"def test_a():\n    assert f() == 1\n"}
    head = {"tests/test_b.py": b"def test_a():\n    assert f() == 1\n"}
    entry = one(compare(base, head))
    assert (entry.what, entry.path, entry.unit) == (What.RENAMED, "tests/test_a.py", "test_a")
    assert entry.text == "tests/test_a.py::test_a: now tests/test_b.py::test_a"


def test_a_moved_and_skipped_test_is_none() -> None:
    base = {"tests/test_a.py": b"def test_a():\n    assert f() == 1\n"}
    head = {"tests/test_b.py": b"@pytest.mark.skip\ndef test_a():\n    assert f() == 1\n"}
    assert {entry.what for entry in compare(base, head).entries} == {What.REMOVED, What.ADDED}


def test_old_versions_bring_the_old_file_with_its_old_support() -> None:
    base = {PATH: OLD.encode(), "tests/conftest.py": b"A = 1\n", "tests/test_b.py": b"def test_b(): assert 1\n"}
    head = {
        PATH: OLD.replace("== 1", "== 2").encode(),
        "tests/conftest.py": b"A = 2\n",
        "tests/test_b.py": b"def test_b(): assert 2\n",
    }
    entries = [entry for entry in compare(base, head).changed if entry.path == PATH]
    laid = old_versions(base, head, entries)
    assert laid == {PATH: base[PATH], "tests/conftest.py": base["tests/conftest.py"]}


def test_old_versions_of_inline_tests_leave_the_code_of_the_head() -> None:
    base = b"fn f() { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { assert_eq!(f(), 1) }\n}\n"
    head = base.replace(b"{ 1 }", b"{ 2 }").replace(b"f(), 1", b"f(), 2")
    entries = compare({"src/a.rs": base}, {"src/a.rs": head}).changed
    laid = old_versions({"src/a.rs": base}, {"src/a.rs": head}, entries)["src/a.rs"]
    assert b"fn f() { 2 }" in laid
    assert b"assert_eq!(f(), 1)" in laid
