"""Each way in which a claim can be false, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tdd_runs import BUG, KEPT, N1, N2, NEW, ran

from shared.git.notes import Baseline, CommitKind, Note
from shared.git.proof_claim import Claim, digest
from worker_agent.tdd.judging.judge import judge_baseline, judge_green, judge_red
from worker_agent.tdd.judging.verdict import ErrorType, Verdict
from worker_agent.tdd.runners.test_run import CaseOutcome, TestRun
from worker_agent.verify.compare import History, contradicted, false, unproven
from worker_agent.verify.repeat import Repeated

BASE = ran(KEPT)
RED = replace(ran(KEPT, (N1, BUG), (N2, BUG)), code=1)
GREEN = ran(KEPT, N1, N2)
CLAIM = Claim(
    issue=42,
    base="a" * 40,
    head="b" * 40,
    count=2,
    ids_sha=digest([N1, N2]),
    tests={N1: "failed", N2: "failed"},
    baseline=Baseline(1, 0, BASE.digest()),
    result="3 passed",
    red_exit=1,
    green_exit=0,
    attempts=2,
    cost_usd=1.5,
)


def seen(base: TestRun = BASE, red: TestRun = RED, green: TestRun = GREEN, **more: Any) -> Repeated:
    """Return the results of these runs, judged as `verify` does."""
    verdict = judge_red(base, red, files=[NEW])
    judged = judge_green(base, red, green, files=[NEW], unstable=verdict.skip)
    return Repeated((base,), judge_baseline(base), red, verdict, green, judged, **more)


def test_the_truth() -> None:
    assert false(CLAIM, seen(), History()) == ()
    assert unproven(seen()) == ()


@pytest.mark.parametrize(
    ("change", "what", "sentence"),
    [
        ({"tests": {}}, "tests", "No test is claimed."),
        ({"tests": {N1: "failed"}, "count": 3, "ids_sha": "0"}, "tests", "3 tests are claimed; 2 were seen"),
        ({"tests": {KEPT: "failed"}}, "red", f"{KEPT} passes on the base."),
        ({"tests": {"x.py::test_x": "failed"}}, "tests", "x.py::test_x is not there on the head."),
        ({"tests": {N1: "not collected"}}, "red", f"{N1}: failed on the base, not not collected."),
        ({"baseline": Baseline(7, 0, BASE.digest())}, "baseline", "On the base 7 passed and 0 failed by the claim"),
        ({"baseline": Baseline(1, 0, "0" * 64)}, "baseline", "but not the tests that the claim's digest says"),
        ({"result": "9 passed"}, "result", "On the head 9 passed by the claim; 3 passed when run again."),
        ({"red_exit": 2}, "red", "The tests ended with 1 on the base, not with 2."),
        ({"green_exit": 3}, "green", "The tests ended with 0 on the head, not with 3."),
    ],
)
def test_a_claim_that_says_something_else(change: dict[str, Any], what: str, sentence: str) -> None:
    (found,) = false(replace(CLAIM, **change), seen(), History())
    assert found.what == what
    assert sentence in found.sentence


@pytest.mark.parametrize(
    ("runs", "what"),
    [
        ({"red": replace(ran(KEPT, N1, (N2, BUG)), code=1)}, {"red"}),
        ({"green": replace(ran(KEPT, N1, (N2, BUG)), code=1)}, {"green", "result"}),
        ({"green": ran(N1, N2, (KEPT, BUG))}, {"regression", "result"}),
        ({"green": ran(KEPT, N1)}, {"green", "result", "tests"}),
        ({"red": replace(RED, controlled=False)}, {"red"}),
        ({"red": replace(RED, controlled=True), "green": replace(GREEN, controlled=False)}, {"green", "tests"}),
    ],
    ids=["passes on the base", "fails", "regression", "is gone", "red forced", "green forced"],
)
def test_runs_that_show_something_else(runs: dict[str, Any], what: set[str]) -> None:
    found = false(CLAIM, seen(**runs), History())
    assert {one.what for one in found} == what


def test_a_test_that_proves_nothing_is_named() -> None:
    here = seen()
    hollow = replace(here.red_verdict, error=ErrorType.TEST_UNEXPECTED_PASS, vacuous=(N1,), red=(N2,))
    (found,) = false(CLAIM, replace(here, red_verdict=hollow), History())
    assert (found.what, found.sentence) == ("red", f"{N1} proves nothing.")


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (ErrorType.TEST_UNEXPECTED_PASS, "weak"),
        (ErrorType.IMPLEMENTATION_FAILED, "green"),
        (ErrorType.REGRESSION, "regression"),
    ],
)
def test_what_damage_and_old_tests_have_shown_is_named(error: ErrorType, what: str) -> None:
    here = seen()
    refused = replace(here.green_verdict, error=error, details=(f"{N1}: it passes although the code was damaged.",))
    (found,) = false(CLAIM, replace(here, green_verdict=refused), History())
    assert (found.what, found.sentence) == (what, f"{N1}: it passes although the code was damaged.")


def test_a_base_that_cannot_be_run_proves_nothing() -> None:
    broken = Repeated((TestRun(finished=False),), Verdict(ErrorType.WORKFLOW_ABORTED, ("It cannot be run.", "...")))
    found = false(CLAIM, broken, History())
    assert [(one.what, one.sentence) for one in found] == [("baseline", "It cannot be run."), ("baseline", "...")]


def test_history_that_does_not_fit_is_false_whatever_the_tests_say() -> None:
    (found,) = false(CLAIM, seen(), History(("The claimed base is no commit of 'main'.",)))
    assert found.what == "history"


def test_what_was_measured_elsewhere_is_not_compared() -> None:
    later = replace(CLAIM, baseline=Baseline(9, 9, "0"), result="9 passed", red_exit=5, green_exit=5)
    assert false(later, seen(), History(same_base=False, same_head=False)) == ()


def test_a_base_that_differs_from_run_to_run_may_be_claimed_either_way() -> None:
    flaky = ran(KEPT, ("tests/test_old.py::test_flaky", CaseOutcome.FAILED))
    claim = replace(CLAIM, baseline=Baseline(1, 1, flaky.digest()))
    assert false(claim, replace(seen(), baselines=(BASE, flaky)), History()) == ()


NOTE = Note(42, 1, CommitKind.GREEN, "ci", "a" * 40, attempts=2, cost_usd=1.0, cost_source="claude")


@pytest.mark.parametrize(
    ("notes", "what"),
    [
        ((), set()),
        ((NOTE, replace(NOTE, cost_usd=0.5)), set()),
        ((replace(NOTE, attempts=3),), {"attempts"}),
        ((NOTE, NOTE), {"cost"}),
        ((replace(NOTE, cost_usd=None),), {"cost"}),
    ],
)
def test_effort_is_compared_with_the_notes(notes: tuple[Note, ...], what: set[str]) -> None:
    assert {one.what for one in contradicted(CLAIM, notes)} == what
