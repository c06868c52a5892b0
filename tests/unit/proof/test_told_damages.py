"""Damages that may be reported as unnoticed: those that all tests were run with, and none failed with."""

from __future__ import annotations

import pytest

from shared.specification import Specification
from worker_agent.tdd.proof.change import Change
from worker_agent.tdd.proof.damage_detection import noticing
from worker_agent.tdd.proof.doubts import of_unchecked
from worker_agent.tdd.proof.execution import Overlay
from worker_agent.tdd.proof.subject import ProofSubject, Rules
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind, PurposeKind, RunPurpose, TestResult, TestRun

FILE, CODE = "tests/test_page.py", "page.py"
ONE, OTHER = f"{FILE}::test_one", f"{FILE}::test_other"
HEAD = b"def page(number, size):\n    first = number * size\n    return [first, first + size]\n"


@pytest.mark.parametrize(
    ("failing", "seen", "silent"),
    [
        (set(), 0, "all"),
        ({ONE}, 1, "none"),
        ({ONE, OTHER}, 1, "none"),
    ],
    ids=["nobody notices", "the other one is run alone after the first", "both notice the first"],
)
async def test_what_only_some_tests_were_run_with_is_not_told(failing: set[str], seen: int, silent: str) -> None:
    purposes: list[RunPurpose] = []

    async def run(tree: str, over: Overlay, selection: Selection | None, limit: float | None) -> TestRun:
        assert selection is not None
        purposes.append(over.purpose)
        results = [
            TestResult(
                test, FILE, CaseOutcome.FAILED, FailureKind.ASSERTION_OR_EXCEPTION, "AssertionError", asserted=True
            )
            if test in failing
            else TestResult(test, FILE, CaseOutcome.PASSED, None, "")
            for test in sorted(selection.tests)
        ]
        return TestRun({result.id: result for result in results})

    change = Change("base", "head", old={}, new={CODE: HEAD, FILE: b""})
    subject = ProofSubject.of(change, run, Rules(), Specification(""))
    found = await noticing(subject, {ONE: (ONE,), OTHER: (OTHER,)}, TestRun(), 1.0)
    assert found.tried > 1 or failing == {ONE, OTHER}
    assert [(one.kind, one.number) for one in purposes] == [
        (PurposeKind.DAMAGE, number) for number in range(1, found.tried + 1)
    ]
    assert {one.of for one in purposes} == {purposes[0].of}
    assert purposes[0].of >= found.tried
    assert (found.seen, len(found.silent)) == (seen, found.tried if silent == "all" else 0)


@pytest.mark.parametrize("asserted", [True, False])
async def test_a_test_whose_checks_could_not_be_damaged_has_to_fail_by_one(asserted: bool) -> None:
    async def run(tree: str, over: Overlay, selection: Selection | None, limit: float | None) -> TestRun:
        kind = FailureKind.ASSERTION_OR_EXCEPTION
        return TestRun({ONE: TestResult(ONE, FILE, CaseOutcome.FAILED, kind, "an error", asserted=asserted)})

    change = Change(
        "base", "head", old={CODE: b"def page(number, size):\n    return []\n"}, new={CODE: HEAD, FILE: b""}
    )
    subject = ProofSubject.of(change, run, Rules(), Specification(""))
    usual = await noticing(subject, {ONE: (ONE,)}, TestRun(), 1.0)
    found = await noticing(subject, {ONE: (ONE,)}, TestRun(), 1.0, idle={ONE})
    told = (f"{ONE}: no damage made any of its checks fail: they may be caught, or not awaited",)
    assert of_unchecked({ONE}, found) == (() if asserted else told)
    assert of_unchecked((), found) == ()
    assert ONE in usual.by_unit
    assert (found.tried > usual.tried) is not asserted
