"""Damaged expectations in Go, Rust, Java, C#, PHP and Ruby, one row for each form."""

from __future__ import annotations

import re

import pytest

from worker_agent.tdd.damage.expectations import ExpectationEdit, damaged_expectations
from worker_agent.tdd.syntax.source import parse
from worker_agent.tdd.syntax.units import units_in

FRAMES = {
    "go": ("a_test.go", "package a\nfunc TestA(t *testing.T) {{\n\t{}\n}}\n"),
    "rust": ("a.rs", "#[test]\nfn a() {{ {} }}\n"),
    "java": ("ATest.java", "class ATest {{ @Test void a() {{ {} }} }}\n"),
    "csharp": ("A.cs", "class A {{ [Fact] public void B() {{ {} }} }}\n"),
    "php": ("ATest.php", "<?php class ATest extends TestCase {{ function testA() {{ {} }} }}\n"),
    "rspec": ("a_spec.rb", "describe 'a' do\n  it 'b' do\n    {}\n  end\nend\n"),
    "minitest": ("a_test.rb", "class ATest < Minitest::Test\n  def test_a\n    {}\n  end\nend\n"),
}


def damaged(frame: str, body: str) -> dict[ExpectationEdit, str]:
    path, text = FRAMES[frame]
    content = text.format(body).encode()
    source = parse(path, content)
    assert source is not None
    found = {}
    for damage in damaged_expectations({path: content}, {path: [unit.name for unit in units_in(source)]}):
        assert parse(path, damage.files[path]) is not None
        lead, _, tail = text.format("@@").partition("@@")
        inner = damage.files[path].decode().removeprefix(lead).removesuffix(tail)
        found[damage.kind] = re.sub(r"q[0-9a-f]{7}", "W", re.sub(r"\b\d{3,}\b", "N", inner))
    return found


NEGATED = [
    ("go", 'if got != 3 { t.Errorf("x") }', 'if !(got != 3) { t.FailNow(); t.Errorf("x") }'),
    ("go", "if err != nil { t.Fatal(err) }", "if !(err != nil) { t.FailNow(); t.Fatal(err) }"),
    ("go", "require.Equal(t, want, got)", "require.NotEqual(t, want, got)"),
    ("go", 'assert.NoErrorf(t, err, "x")', 'assert.Errorf(t, err, "x")'),
    (
        "go",
        't.Run("x", func(t *testing.T) { if a != b { t.Fail() } })',
        't.Run("x", func(t *testing.T) { if !(a != b) { t.FailNow(); t.Fail() } })',
    ),
    ("rust", 'assert_eq!(a, b, "m");', 'assert_ne!(a, b, "m");'),
    ("rust", "assert!(matches!(a, B(_)));", "assert!(!(matches!(a, B(_))));"),
    ("rust", "for i in 0..3 { assert!(i < 3); }", "for i in 0..3 { assert!(!(i < 3)); }"),
    ("java", "assertEquals(3, f());", "assertNotEquals(3, f());"),
    ("java", "Assertions.assertTrue(f());", "Assertions.assertFalse(f());"),
    ("java", "assertThat(f()).isEqualTo(3);", "assertThat(f()).isNotEqualTo(3);"),
    ("java", "assertThat(f(), is(3));", "assertThat(f(), org.hamcrest.CoreMatchers.not(is(3)));"),
    ("csharp", "Assert.Equal(3, F());", "Assert.NotEqual(3, F());"),
    ("csharp", "Assert.That(F(), Is.EqualTo(3));", "Assert.That(F(), Is.Not.EqualTo(3));"),
    ("csharp", "F().Should().Be(3);", "F().Should().NotBe(3);"),
    ("php", "$this->assertSame(3, f());", "$this->assertNotSame(3, f());"),
    ("php", "self::assertTrue(f());", "self::assertNotTrue(f());"),
    (
        "php",
        "foreach ([1, 2] as $a) { $this->assertEquals($a, f()); }",
        "foreach ([1, 2] as $a) { $this->assertNotEquals($a, f()); }",
    ),
    ("rspec", "expect(f).to eq(3)", "expect(f).not_to eq(3)"),
    ("rspec", "expect(f).not_to be_nil", "expect(f).to be_nil"),
    ("rspec", "[1, 2].each { |x| expect(x).to eq(y) }", "[1, 2].each { |x| expect(x).not_to eq(y) }"),
    ("minitest", "assert_equal 3, f", "refute_equal 3, f"),
    ("minitest", "assert f(1), 'm'", "assert !(f(1)), 'm'"),
    ("minitest", "_(f).must_equal 3", "_(f).wont_equal 3"),
]


@pytest.mark.parametrize(("frame", "body", "negated"), NEGATED)
def test_checks_are_turned_into_their_opposite(frame: str, body: str, negated: str) -> None:
    assert damaged(frame, body)[ExpectationEdit.NEGATE_FIRST] == negated


LITERAL = [
    ("go", 'if got != "a" { t.Errorf("x") }', 'if got != "aW" { t.Errorf("x") }'),
    ("rust", 'assert_eq!(f(), "a");', 'assert_eq!(f(), "aW");'),
    ("rust", "assert_eq!(f(), 3u8);", "assert_eq!(f(), 4u8);"),
    ("java", 'assertEquals(3000, f(), "m");', 'assertEquals(N, f(), "m");'),
    ("csharp", 'Assert.Equal("a", F());', 'Assert.Equal("aW", F());'),
    ("php", "$this->assertSame(['a' => [1]], f());", "$this->assertSame(['a' => [N]], f());"),
    ("rspec", "expect(f).to eq('a')", "expect(f).to eq('aW')"),
    ("minitest", "assert_equal :a, f", "assert_equal :W, f"),
]


@pytest.mark.parametrize(("frame", "body", "literal"), LITERAL)
def test_expected_values_are_changed(frame: str, body: str, literal: str) -> None:
    assert damaged(frame, body)[ExpectationEdit.LITERAL] == literal


EXCEPTION = [
    (
        "java",
        "assertThrows(IOException.class, () -> f());",
        "assertThrows(java.nio.channels.NonReadableChannelException.class, () -> f());",
    ),
    (
        "csharp",
        "Assert.Throws<IOException>(() => F());",
        "Assert.Throws<System.Threading.BarrierPostPhaseException>(() => F());",
    ),
    (
        "php",
        "$this->expectException(A::class); f();",
        r"$this->expectException(\JsonException::class); f();",
    ),
    ("rspec", "expect { f }.to raise_error(A, 'x')", "expect { f }.to raise_error(ClosedQueueError)"),
    ("minitest", "assert_raises(A) { f }", "assert_raises(ClosedQueueError) { f }"),
]


@pytest.mark.parametrize(("frame", "body", "exception"), EXCEPTION)
def test_exceptions_are_others(frame: str, body: str, exception: str) -> None:
    assert damaged(frame, body)[ExpectationEdit.EXCEPTION] == exception


@pytest.mark.parametrize(
    ("frame", "body"),
    [
        ("go", "if got == 3 { return }"),
        ("rust", "let r = std::panic::catch_unwind(|| { assert!(x); });"),
        ("java", 'assertEquals("message", wanted, f());'),
        ("rspec", "expect { f }.to change { a }.by(1)"),
        ("minitest", "begin; f; rescue; assert x; end"),
    ],
)
def test_what_may_stay_green_has_no_changed_value(frame: str, body: str) -> None:
    assert ExpectationEdit.LITERAL not in damaged(frame, body)


def test_a_test_that_must_panic_only_has_its_panic_damaged() -> None:
    content = b'#[test]\n#[should_panic(expected = "x")]\nfn a() { assert_eq!(f(), 1); }\n'
    (damage,) = damaged_expectations({"a.rs": content}, {"a.rs": ["a"]})
    assert damage.kind is ExpectationEdit.EXCEPTION
    assert b"assert_eq!(f(), 1)" in damage.files["a.rs"]


def test_a_junit_4_test_that_must_throw_only_has_its_exception_damaged() -> None:
    content = b"class A { @Test(expected = B.class) public void a() { assertEquals(1, f()); } }"
    (damage,) = damaged_expectations({"A.java": content}, {"A.java": ["A::a"]})
    assert damage.kind is ExpectationEdit.EXCEPTION
    assert b"assertEquals(1, f())" in damage.files["A.java"]


def test_the_opposite_of_a_single_import_of_java_is_named_in_full() -> None:
    content = (
        b"import static org.junit.Assert.assertEquals;\nclass A { @Test public void a() { assertEquals(1, f()); } }"
    )
    first = damaged_expectations({"A.java": content}, {"A.java": ["A::a"]})[0]
    assert b"org.junit.Assert.assertNotEquals(1, f())" in first.files["A.java"]
