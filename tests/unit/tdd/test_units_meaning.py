"""The meaning of a test, and the code that it reaches."""

from __future__ import annotations

import pytest

from worker_agent.tdd.syntax.source import parse
from worker_agent.tdd.syntax.units import TestUnit, units_in


def unit(path: str, text: str) -> TestUnit:
    source = parse(path, text.encode())
    assert source is not None
    return units_in(source)[0]


def same(path: str, one: str, two: str) -> bool:
    left, right = unit(path, one), unit(path, two)
    return (left.digest, left.support, left.cases) == (right.digest, right.support, right.cases)


SAME = [
    (
        "test_a.py",
        "def test_a():\n    assert f('a') == 1",
        'def test_a():\n    """Doc."""\n    assert f("a") == 1  # c',
    ),
    (
        "test_a.py",
        "def test_a():\n    assert f(1, 2) == 1",
        "def test_a():\n    assert (\n        f(1, 2,) == 1\n    )",
    ),
    ("test_a.py", "import b\ndef test_a(): assert b.c", "import b\nfrom x import y\ndef test_a(): assert b.c"),
    ("test_a.py", "from b import c\ndef test_a(): assert c", "from b import (d, c)\ndef test_a(): assert c"),
    ("test_a.py", "def test_a(): assert c", "def new(): ...\ndef test_a(): assert c"),
    ("a.test.js", "it('a', () => { f('x') })", 'it("a", () => {\n  // c\n  f("x");\n});'),
    ("a.test.js", "it('a', x => { f(x) })", "it('a', (x) => { f(x) })"),
    ("a_test.go", "package a\nfunc TestA(t *T) { f() }", "package a\n// c\nfunc TestA(t *T) {\n\tf()\n}"),
    ("a.rs", "fn code() {}\n#[test]\nfn a() { code() }", "fn code() {}\n#[test]\nfn a() {\n    // c\n    code()\n}"),
    (
        "a.rs",
        "fn code() { 1 }\n#[cfg(test)]\nmod tests { #[test]\nfn a() { code() } }",
        "fn code() { 2 }\n#[cfg(test)]\nmod tests { #[test]\nfn a() { code() } }",
    ),
]

OTHER = [
    ("test_a.py", "def test_a(): assert 1", "def test_a(): assert 2"),
    ("test_a.py", "def test_a(): assert 'a'", "def test_a(): assert b'a'"),
    ("test_a.py", "def test_a(): assert a", "def test_a(b): assert a"),
    ("test_a.py", "def test_a(): assert not a", "def test_a(): assert a"),
    ("test_a.py", "from b import c\ndef test_a(): assert c", "from d import c\ndef test_a(): assert c"),
    ("test_a.py", "def h(): return 1\ndef test_a(): assert h()", "def h(): return 2\ndef test_a(): assert h()"),
    (
        "test_a.py",
        "X = 1\ndef h(): return X\ndef test_a(): assert h()",
        "X = 2\ndef h(): return X\ndef test_a(): assert h()",
    ),
    (
        "test_a.py",
        "@pytest.fixture\ndef d(): return 1\n@pytest.mark.usefixtures('d')\ndef test_a(): assert 1",
        "@pytest.fixture\ndef d(): return 2\n@pytest.mark.usefixtures('d')\ndef test_a(): assert 1",
    ),
    (
        "test_a.py",
        "class TestA:\n    def setup_method(self): f()\n    def test_a(self): assert 1",
        "class TestA:\n    def setup_method(self): g()\n    def test_a(self): assert 1",
    ),
    (
        "test_a.py",
        "class TestA:\n    def h(self): return 1\n    def test_a(self): assert self.h()",
        "class TestA:\n    def h(self): return 2\n    def test_a(self): assert self.h()",
    ),
    (
        "a.test.js",
        "describe('d', () => { beforeEach(() => f()); it('a', () => {}) })",
        "describe('d', () => { beforeEach(() => g()); it('a', () => {}) })",
    ),
    ("a.test.js", "const h = () => 1; it('a', () => h())", "const h = () => 2; it('a', () => h())"),
    (
        "a_test.go",
        "package a\nfunc h() int { return 1 }\nfunc TestA(t *T) { h() }",
        "package a\nfunc h() int { return 2 }\nfunc TestA(t *T) { h() }",
    ),
    (
        "A.java",
        "class A { @BeforeEach void s() { f(); } @Test void a() {} }",
        "class A { @BeforeEach void s() { g(); } @Test void a() {} }",
    ),
    (
        "a_spec.rb",
        "describe 'd' do let(:x) { 1 }\nit('a') { x } end",
        "describe 'd' do let(:x) { 2 }\nit('a') { x } end",
    ),
]


@pytest.mark.parametrize(("path", "one", "two"), SAME)
def test_form_is_no_meaning(path: str, one: str, two: str) -> None:
    assert same(path, one, two)


@pytest.mark.parametrize(("path", "one", "two"), OTHER)
def test_values_helpers_fixtures_and_set_up_are(path: str, one: str, two: str) -> None:
    assert not same(path, one, two)


@pytest.mark.parametrize(
    ("path", "text", "checks"),
    [
        ("test_a.py", "def test_a():\n    assert 1\n    with pytest.raises(X):\n        f()\n    m.assert_called()", 3),
        ("test_a.py", "def check(): assert 1\ndef test_a(): check()", 1),
        ("a.test.js", "it('a', () => { expect(1).not.toBe(2); assert.equal(1, 2); x.should.eq(1) })", 3),
        ("a_test.go", 'package a\nfunc TestA(t *T) { if x { t.Errorf("") }\n require.Equal(t, 1, 2) }', 2),
        ("a.rs", "#[test]\nfn a() { assert_eq!(1, 2); assert!(x); }", 2),
        ("A.java", "class A { @Test void a() { assertEquals(1, 2); assertThat(x).isTrue(); } }", 2),
        ("ATest.php", "<?php class ATest extends TestCase { function testA() { $this->assertSame(1, 2); } }", 1),
        ("A.cs", "class A { [Fact] public void B() { Assert.Equal(1, 2); } }", 1),
        ("a_spec.rb", "describe 'd' do it('a') { expect(1).to eq(1) } end", 1),
    ],
)
def test_checks_are_counted(path: str, text: str, checks: int) -> None:
    assert unit(path, text).checks == checks


def test_a_fixture_of_another_file_counts_where_it_is_given() -> None:
    source = parse("test_a.py", b"def test_a(data): assert data")
    assert source is not None
    assert units_in(source, {"data": "1"})[0].support != units_in(source, {"data": "2"})[0].support
