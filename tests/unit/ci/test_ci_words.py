"""The worker's texts about CI, whole."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared.ci.ci_round import CiObservation
from shared.ci.triage import Failure, triage
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, Wait
from shared.models import Check, CheckOutcome
from shared.workflow import Role, Stage
from worker_agent.ci import ci_comments
from worker_agent.errors import CiGivenUp

AT = datetime(2026, 1, 5, 10, 32, tzinfo=UTC)
FENCE = Fence(ItemKey(Role.WORKER, 42), 7, "a" * 32, "worker-1", Stage.TESTING, AT, pr=57, wait=Wait("red-base", AT))
LINT = Check("lint", CheckOutcome.FAILED)
TEST = Check("test\n(3.11)", CheckOutcome.FAILED, job_id=1, run_id=1)
SAID = (Failure(LINT), Failure(TEST, "1 failed, see @ada"))
READING = CiObservation((LINT, TEST, Check("docs", CheckOutcome.RUNNING)), diagnosis=triage(SAID, [LINT]))


def test_a_repair_names_what_is_red_and_why() -> None:
    told = ci_comments.red(FENCE, READING)
    assert told.sentence == "CI failed (lint, test (3.11)); fixing it."
    assert told.notes == "- lint: red on the base too\n- test (3.11): flaky"


def test_a_rerun_says_what_it_is_for_and_a_refusal_what_is_missing() -> None:
    assert "rerunning the failed jobs" in ci_comments.rerun(FENCE, READING, "").sentence
    refused = ci_comments.rerun(FENCE, READING, "GitHub does not allow it")
    assert "`actions: write`" in refused.sentence
    assert "GitHub does not allow it" in refused.notes
    assert "rerun some of it" in ci_comments.rerun(FENCE, READING, "GitHub does not allow it", partly=True).sentence


def test_only_the_checks_that_the_base_fails_are_waited_for() -> None:
    told = ci_comments.base_red(FENCE, READING)
    assert "(lint). This uses no attempt." in told.sentence
    assert told.data["waiting"] == {"why": "red-base", "until": AT.isoformat()}


@pytest.mark.fault(42)
@pytest.mark.parametrize(
    ("reading", "begins"),
    [
        (CiObservation(), "CI has not finished in time; #57"),
        (CiObservation((Check("docs", CheckOutcome.RUNNING),)), "CI has not finished in time (docs); #57"),
        (
            CiObservation((Check("a", CheckOutcome.PASSED),), frozenset({"a", "b"})),
            "Required checks were not reported in time (b); #57",
        ),
        (
            CiObservation((Check("a", CheckOutcome.UNKNOWN), Check("b", CheckOutcome.STALE)), frozenset({"b"})),
            "Required checks were not reported in time (b), and a did not finish; #57",
        ),
        (READING, "CI failed for reasons outside this change (lint, test (3.11)); #57"),
    ],
    ids=["none", "running", "required missing", "stale", "red"],
)
def test_a_hand_over_with_a_warning_names_what_is_missing(reading: CiObservation, begins: str) -> None:
    told = ci_comments.overdue(FENCE, reading)
    assert told.sentence == f"{begins} goes to review **without passing CI** and is not merged before CI passes."
    assert told.data["waiting"] == {"why": "ci overdue"}


def test_giving_up_says_of_each_check_whose_fault_it_is_and_mentions_nobody() -> None:
    told = str(CiGivenUp(1, ci_comments.unrepaired(READING)))
    assert told.startswith("CI still fails after 1 repair.\n- lint: red on the base too.")
    assert "flaky. 1 failed" in told
    assert "@ada" not in told
