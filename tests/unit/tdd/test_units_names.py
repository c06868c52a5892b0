"""Names of tests in every language, as runners report them, and which test a reported name means."""

from __future__ import annotations

import pytest

from worker_agent.tdd.syntax.source import parse
from worker_agent.tdd.syntax.units import TestUnit, unit_of, units_in


def units(path: str, text: str) -> tuple[TestUnit, ...]:
    source = parse(path, text.encode())
    assert source is not None
    return units_in(source)


PYTHON = """
import unittest, pytest
def helper(): ...
@pytest.fixture
def test_data(): ...
def test_plain(): ...
async def test_later(): ...
class TestIt:
    def test_method(self): ...
    def no_test(self): ...
    class TestInner:
        def test_deep(self): ...
class TestMade:
    def __init__(self): ...
    def test_not_collected(self): ...
class Shared:
    def test_lent(self): ...
class Cases(Shared, unittest.TestCase):
    def test_own(self): ...
class Hidden(unittest.TestCase):
    __test__ = False
    def test_hidden(self): ...
if True:
    def test_conditional(): ...
def test_plain(): assert 2
"""
SCRIPT = """
describe("outer", () => {
  context("inner", function () {
    it("adds", () => {});
    specify('subtracts', () => {});
  });
  it(`is ${dynamic}`, () => {});
  it.each([[1, 2]])("adds %i to $b", () => {});
});
test("top", async (t) => { await t.test("sub", () => {}); });
test.describe("block", () => { test("play", () => {}); });
expect.extend({});
/x/.test("no");
"""
GO = """package a
func TestAdds(t *testing.T) {}
func Testify() {}
func TestMain(m *testing.M) {}
func BenchmarkAdds(b *testing.B) {}
func FuzzAdds(f *testing.F) {}
func ExampleAdd() {
	fmt.Println(1)
	// Output: 1
}
func ExampleSilent() {}
func (s *MoneySuite) TestRows() {}
"""
RUST = """
fn add() {}
#[test]
fn top() {}
#[cfg(test)]
mod tests {
    use super::*;
    fn helper() {}
    #[test]
    fn adds() {}
    mod deep {
        #[tokio::test]
        async fn waits() {}
    }
}
"""
JAVA = """package a;
class CalcTest {
  @Test void adds() {}
  @ParameterizedTest @ValueSource(ints = {1, 2}) void rows(int a) {}
  void helper() {}
  @Nested class Inner { @Test void deep() {} }
}
class OldTest extends TestCase { public void testOld() {} }
"""
PHP = """<?php
namespace App;
class CalcTest extends TestCase {
  public function testAdds(): void {}
  #[Test] public function attributed(): void {}
  /** @test */
  public function annotated(): void {}
  public function helper(): void {}
}
"""
CSHARP = """namespace A;
public class CalcTests {
  [Fact] public void Adds() {}
  [Theory, InlineData(1)] public void Rows(int a) {}
  public void Helper() {}
  public class Inner { [Test] public void Deep() {} }
}
"""
RSPEC = """
RSpec.describe Calc, "old" do
  describe "#add" do
    it("adds") { }
    context "when big" do
      it "is #{name}" do end
      it { is_expected.to eq 1 }
    end
  end
end
"""
DESCRIBED = """describe Shop::Calc do
  it("works") { assert true }

  describe "when big" do
    it("works") { assert true }
  end
  describe "#sum" do
    it("works") { assert true }
    describe(".of") { it("is") { assert true } }
  end
end
"""
MINITEST = """
class CalcTest < Minitest::Test
  def test_adds; end
  def helper; end
end
describe "calc" do
  it "works" do end
end
"""

EXPECTED = [
    (
        "test_it.py",
        PYTHON,
        "test_later TestIt::test_method TestIt::TestInner::test_deep Cases::test_lent Cases::test_own"
        " test_conditional test_plain",
    ),
    ("a_test.go", GO, "TestAdds FuzzAdds ExampleAdd MoneySuite::TestRows"),
    ("src/lib.rs", RUST, "top tests::adds tests::deep::waits"),
    ("CalcTest.java", JAVA, "CalcTest::adds CalcTest::rows CalcTest::Inner::deep OldTest::testOld"),
    ("CalcTest.php", PHP, "CalcTest::testAdds CalcTest::attributed CalcTest::annotated"),
    ("CalcTests.cs", CSHARP, "CalcTests::Adds CalcTests::Rows CalcTests::Inner::Deep"),
]


@pytest.mark.parametrize(("path", "text", "names"), EXPECTED, ids=[path for path, _, _ in EXPECTED])
def test_names(path: str, text: str, names: str) -> None:
    assert sorted(unit.name for unit in units(path, text)) == sorted(names.split())


def test_titles_of_javascript_are_joined() -> None:
    assert [unit.name for unit in units("a.test.ts", SCRIPT)] == [
        "outer > inner > adds",
        "outer > inner > subtracts",
        "outer > is ${dynamic}",
        "outer > adds %i to $b",
        "top",
        "block > play",
    ]


def test_descriptions_of_rspec_are_joined_as_rspec_does() -> None:
    assert [unit.name for unit in units("calc_spec.rb", RSPEC)] == [
        "Calc old #add adds",
        "Calc old #add when big is #{name}",
        "Calc old #add when big",
    ]


def test_a_description_of_rspec_has_no_blank_between_a_module_and_its_member_only() -> None:
    inner = "describe('.b') { it('is') {} }\n  it('#c') {}\n  context('when') { describe('::D') { it('is') {} } }\n"
    found = units("a_spec.rb", f"describe A::B, '#a' do\n  {inner}end\ndescribe A do\n  {inner}end\n")
    assert [unit.name for unit in found] == [
        *("A::B#a .b is", "A::B#a #c", "A::B#a when ::D is"),
        *("A.b is", "A #c", "A when ::D is"),
    ]


@pytest.mark.parametrize(
    ("path", "text", "reported", "name"),
    [
        ("test_it.py", PYTHON, "TestIt::test_method[1-a::b]", "TestIt::test_method"),
        ("test_it.py", PYTHON, "test_plain", "test_plain"),
        ("a.test.ts", SCRIPT, "outer > inner::adds", "outer > inner > adds"),
        ("a.test.ts", SCRIPT, "outer > is 5", "outer > is ${dynamic}"),
        ("a.test.ts", SCRIPT, "outer::adds 1 to x", "outer > adds %i to $b"),
        ("a.test.ts", SCRIPT, "top > sub", "top"),
        ("a.test.ts", SCRIPT, "play", "block > play"),
        ("a_test.go", GO, "TestAdds/one_two/three", "TestAdds"),
        ("src/lib.rs", RUST, "tests::deep::waits", "tests::deep::waits"),
        ("src/lib.rs", RUST, "money::tests::adds", "tests::adds"),
        ("CalcTest.java", JAVA, "CalcTest::rows(int)[1]", "CalcTest::rows"),
        ("CalcTest.java", JAVA, "a.CalcTest$Inner::deep", "CalcTest::Inner::deep"),
        ("CalcTests.cs", CSHARP, "A.CalcTests.Rows(a: 1)", "CalcTests::Rows"),
        ("CalcTests.cs", CSHARP, "A.CalcTests+Inner.Deep", "CalcTests::Inner::Deep"),
        ("CalcTest.php", PHP, 'CalcTest::testAdds with data set "one"', "CalcTest::testAdds"),
        ("CalcTest.php", PHP, r"App\\CalcTest::testAdds", "CalcTest::testAdds"),
        ("calc_spec.rb", RSPEC, "Calc old #add when big is x", "Calc old #add when big is #{name}"),
        ("calc_spec.rb", RSPEC, "Calc old #add when big is expected to eq 1", "Calc old #add when big is #{name}"),
        ("calc_test.rb", MINITEST, "CalcTest::test_adds", "CalcTest::test_adds"),
        ("calc_test.rb", MINITEST, "calc::test_0001_works", "calc works"),
        ("calc_test.rb", MINITEST, "calc::test_works", "calc works"),
        ("calc_test.rb", DESCRIBED, "Shop::Calc::test_works", "Shop::Calc works"),
        ("calc_test.rb", DESCRIBED, "Shop::Calc::when big::test_works", "Shop::Calc when big works"),
        ("calc_test.rb", DESCRIBED, "Shop::Calc::#sum::test_works", "Shop::Calc#sum works"),
        ("calc_test.rb", DESCRIBED, "Shop::Calc::#sum::.of::test_is", "Shop::Calc#sum .of is"),
        ("test_it.py", PYTHON, "test_unknown", None),
    ],
)
def test_a_reported_name_finds_its_test(path: str, text: str, reported: str, name: str | None) -> None:
    found = unit_of(reported, units(path, text))
    assert (found.name if found else None) == name


SKIPPED = [
    ("test_a.py", "@pytest.mark.skip\ndef test_a(): assert 1"),
    ("test_a.py", "@pytest.mark.skipif(sys.platform == 'x', reason='y')\ndef test_a(): assert 1"),
    ("test_a.py", "@pytest.mark.xfail\ndef test_a(): assert 1"),
    ("test_a.py", "@unittest.expectedFailure\ndef test_a(): assert 1"),
    ("test_a.py", "def test_a():\n    pytest.skip('later')\n    assert 1"),
    ("test_a.py", "def test_a():\n    return\n    assert 1"),
    ("test_a.py", "pytestmark = [pytest.mark.skip]\ndef test_a(): assert 1"),
    ("test_a.py", "pytest.importorskip('numpy')\ndef test_a(): assert 1"),
    ("test_a.py", "pytest.skip('x', allow_module_level=True)\ndef test_a(): assert 1"),
    ("test_a.py", "@pytest.mark.skip\nclass TestA:\n    def test_a(self): assert 1"),
    ("test_a.py", "class TestA:\n    pytestmark = pytest.mark.skip\n    def test_a(self): assert 1"),
    ("test_a.py", "class A(unittest.TestCase):\n    def test_a(self):\n        self.skipTest('x')"),
    ("a.test.js", "it.skip('a', () => {})"),
    ("a.test.js", "xit('a', () => {})"),
    ("a.test.js", "it.todo('a')"),
    ("a.test.js", "it('a', { skip: true }, () => {})"),
    ("a.test.js", "describe.skip('d', () => { it('a', () => {}) })"),
    ("a.test.js", "it('a', function () { this.skip(); })"),
    ("a.test.js", "it('a', () => {}); it.only('b', () => {})"),
    ("a_test.go", "package a\nfunc TestA(t *testing.T) {\n\tt.Skip()\n}"),
    ("a.rs", "#[test]\n#[ignore]\nfn a() {}"),
    ("ATest.java", '@Disabled("x") class ATest { @Test void a() {} }'),
    ("ATest.java", "class ATest { @Test @Ignore public void a() {} }"),
    ("ATest.php", "<?php class ATest extends TestCase { function testA() { $this->markTestSkipped('x'); } }"),
    ("A.cs", 'class A { [Fact(Skip = "x")] public void B() {} }'),
    ("a_spec.rb", "describe 'a' do xit('b') { } end"),
    ("a_spec.rb", "describe 'a' do it('b', skip: true) { } end"),
    ("a_spec.rb", "describe 'a' do it('b') { skip 'x' } end"),
    ("a_test.rb", "class ATest < Minitest::Test\n  def test_a\n    skip 'x'\n  end\nend"),
]


@pytest.mark.parametrize(("path", "text"), SKIPPED)
def test_a_skipped_test_is_known_as_such(path: str, text: str) -> None:
    assert units(path, text)[0].skipped


def test_ordinary_tests_are_not_skipped() -> None:
    for path, text in [(path, text) for path, text, _ in EXPECTED] + [("a.test.ts", SCRIPT), ("calc_spec.rb", RSPEC)]:
        assert not any(unit.skipped for unit in units(path, text)), path


@pytest.mark.parametrize(
    ("path", "text", "cases"),
    [
        ("test_a.py", "@pytest.mark.parametrize('a', [1, 2, pytest.param(3)])\ndef test_a(a): ...", 3),
        (
            "test_a.py",
            "@pytest.mark.parametrize('a', [1, 2])\n@pytest.mark.parametrize('b', [1])\ndef test_a(a, b): ...",
            3,
        ),
        ("test_a.py", "@pytest.mark.parametrize('a', made())\ndef test_a(a): ...", 1),
        ("a.test.js", "it.each([[1], [2]])('a %s', () => {})", 2),
        ("a.test.js", "for (const a of [1, 2]) { it(`a ${a}`, () => {}) }", 2),
        ("a.test.js", "const rows = [1, 2];\nrows.forEach((a) => { it(`a ${a}`, () => {}) });", 2),
        (
            "a_test.go",
            "package a\nfunc TestA(t *testing.T) {\n\tfor _, c := range []int{1, 2} {\n\t\tuse(c)\n\t}\n}",
            2,
        ),
        (
            "a_test.go",
            "package a\nfunc TestA(t *testing.T) {\n\tr := []int{1, 2}\n\tfor _, c := range r {\n\t\tuse(c)\n\t}\n}",
            2,
        ),
        ("a.rs", "#[rstest]\n#[case(1)]\n#[case(2)]\nfn a(#[case] x: u8) {}", 2),
        ("A.java", 'class A { @ParameterizedTest @CsvSource({"1", "2"}) void a(int x) {} }', 2),
        (
            "ATest.php",
            "<?php class ATest extends TestCase { function rows() { return [[1], [2]]; }\n"
            "#[DataProvider('rows')] function testA($x) {} }",
            2,
        ),
        ("A.cs", "class A { [Theory] [InlineData(1)] [InlineData(2)] public void B(int x) {} }", 2),
    ],
)
def test_cases_are_counted_one_by_one(path: str, text: str, cases: int) -> None:
    (unit,) = units(path, text)
    assert len(unit.cases) == cases
