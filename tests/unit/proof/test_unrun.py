"""Old tests that the change keeps have to run: in another file, for another system, in another version."""

from __future__ import annotations

import pytest

from shared.specification import Specification
from worker_agent.tdd.comparison.compare import compare
from worker_agent.tdd.proof.change import Change
from worker_agent.tdd.proof.execution import Overlay
from worker_agent.tdd.proof.subject import ProofSubject, Rules
from worker_agent.tdd.proof.unrun_tests import unrun
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import CaseOutcome, TestResult, TestRun

GO = b'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) {\n\tif F(1) != 2 {\n\t\tt.Error("F")\n\t}\n}\n'
MORE = b"\tif F(2) != 3 {\n\t\tt.Error()\n\t}\n\tif F(1)"
JAVA = b"class ATest {\n    @Test void a() {\n        assertEquals(2, F.f(1));\n    }\n}\n"


def ran(*tests: str, outcome: CaseOutcome = CaseOutcome.PASSED) -> TestRun:
    return TestRun({test: TestResult(test, test.partition("::")[0], outcome) for test in tests})


def told(old: dict[str, bytes], new: dict[str, bytes], baseline: TestRun, head: TestRun, *may_change: str) -> list[str]:
    async def run(tree: str, over: Overlay, selection: Selection | None, limit: float | None) -> TestRun:
        raise AssertionError("nothing runs for it")

    change = Change("base", "head", old=old, new=new, support=old)
    subject = ProofSubject.of(change, run, Rules(), Specification("", may_change=may_change))
    return unrun(subject, compare(old, new), baseline, head)


@pytest.mark.parametrize("place", ["a_windows_test.go", "_a_test.go", "testdata/a_test.go"])
def test_a_file_that_nobody_runs_has_lost_its_tests(place: str) -> None:
    before, after = {"a_test.go": GO}, {place: GO}
    (sentence,) = told(before, after, ran("a_test.go::TestA"), ran())
    assert sentence.startswith(f"a_test.go::TestA: it passed before and does not run on the head as {place}::TestA.")
    skipped = ran(f"{place}::TestA", outcome=CaseOutcome.SKIPPED)
    assert told(before, after, ran("a_test.go::TestA"), skipped)
    assert told(before, after, ran("a_test.go::TestA"), ran(f"{place}::TestA")) == []
    assert told(before, after, ran("a_test.go::TestA"), ran(), "a_test.go") == []
    assert told(before, after, ran("a_test.go::TestA", outcome=CaseOutcome.SKIPPED), ran()) == []


def test_one_check_more_is_no_excuse_for_a_test_that_does_not_run() -> None:
    before, after = {"a_test.go": GO}, {"a_test.go": b"//go:build never\n\n" + GO.replace(b"\tif F(1)", MORE)}
    assert told(before, after, ran("a_test.go::TestA"), ran())
    failed = ran("a_test.go::TestA", outcome=CaseOutcome.FAILED)
    assert told(before, after, ran("a_test.go::TestA"), failed) == [], "that is judged elsewhere"


def test_a_method_of_a_class_that_others_inherit_runs_under_their_names() -> None:
    before, after = {"ATest.java": JAVA}, {"Base.java": JAVA.replace(b"class ATest", b"abstract class Base")}
    baseline = ran("ATest.java::ATest::a")
    assert told(before, after, baseline, ran("BTest.java::BTest::a()")) == []
    assert told(before, after, baseline, ran("BTest.java::BTest::b"))
