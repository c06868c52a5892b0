"""An event's facts about a run of tests: its purpose, and its end."""

from __future__ import annotations

from dataclasses import replace

from worker_agent.tdd.proof.execution import Overlay
from worker_agent.tdd.runners.observed_runs import counts, purpose
from worker_agent.tdd.runners.pytest_runner import PytestRunner
from worker_agent.tdd.runners.test_bench import Tests
from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind, PurposeKind, RunPurpose, TestResult, TestRun

ORDINARY = Tests(PytestRunner(), "pytest")


def test_a_run_of_a_proof_says_what_it_is_for_and_which_of_how_many() -> None:
    assert purpose(ORDINARY) == {}
    assert purpose(replace(ORDINARY, deadline_seconds=3.0)) == {}, "a deadline says nothing of why it is run"
    third = RunPurpose(PurposeKind.DAMAGE, 3, 12)
    assert purpose(replace(ORDINARY, purpose=third)) == {"purpose": "damage", "number": 3, "of": 12}
    assert purpose(replace(ORDINARY, purpose=RunPurpose(PurposeKind.TAKEN_BACK))) == {"purpose": "taken back"}


def test_what_a_run_is_for_makes_no_other_run_of_it() -> None:
    damaged = Overlay({"a": b"x"}, purpose=RunPurpose(PurposeKind.DAMAGE, 1, 2))
    assert damaged == Overlay({"a": b"x"})
    assert damaged.digest == Overlay({"a": b"x"}).digest


def test_control_tests_are_no_tests_of_the_repository() -> None:
    """Control tests are put beside the new tests, and some of them have to fail."""
    own = TestResult("t.py::test_greets", "t.py", CaseOutcome.PASSED, None, "")
    planted = TestResult("t.py::test_value_other", "t.py", CaseOutcome.FAILED, FailureKind.ASSERTION_OR_EXCEPTION, "")
    run = TestRun({result.id: result for result in (own, planted)})
    told = counts(run, {"test_value_other"})
    assert (told["outcome"], told["passed"], told["failed"]) == ("passed", 1, 0)
    assert (counts(run)["outcome"], counts(run)["failed"]) == ("failed", 1)
