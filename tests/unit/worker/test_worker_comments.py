"""Every sentence the worker posts, word for word."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from worker_comment_scene import FENCE

from shared.commands.command_rules import offered
from shared.errors import Blocked
from shared.github.status import Status
from shared.lock.fence import Wait
from shared.models import Account, PullRequest
from shared.retry.failures import Category
from shared.retry.run_errors import RunEnded
from shared.workflow import Stage, Track
from shared.workflow.labels import Labels
from worker_agent import comments
from worker_agent.decide import NextStep
from worker_agent.intake import intake_comments
from worker_agent.intake.blockers import Link

OPENED = replace(FENCE, stage=Stage.TESTING, pr=57)

ROWS = (("Stage", "implementing"), ("Agent", "worker-a1b2c3d4"), ("Attempts", "1"))
OPENED_ROWS = (("Stage", "testing"), *ROWS[1:], ("Pull request", "#57"))
DATA = {"stage": "implementing", "holder": "worker-a1b2c3d4", "attempts": 1}
OPENED_DATA = DATA | {"stage": "testing"}


def test_the_branch() -> None:
    assert comments.branch(FENCE) == "auto/issue-42"


def test_a_commit_message() -> None:
    assert comments.commit_message("Implement Search users", fence=replace(FENCE, round=2), phase="green") == (
        "Implement Search users\n\nIssue: #42\nAgent: worker-a1b2c3d4\nRun: abababababab\nPhase: green\nRound: 2\n"
    )


def test_every_phase_has_words_for_what_it_begins_with() -> None:
    assert set(comments.BEGINNINGS) == set(NextStep)


@pytest.mark.parametrize(
    ("phase", "attempt", "round", "text"),
    [
        ("", 0, 0, "writing the tests, attempt 1 of 3"),
        (NextStep.GREEN, 1, 0, "writing the code, attempt 2 of 3"),
        (NextStep.GREEN, 3, 0, "writing the code, attempt 3 of 3"),
        (NextStep.REFACTOR, 1, 0, "tidying up the code"),
        (NextStep.FIX, 1, 0, "repairing what CI reports"),
        (NextStep.CI, 1, 1, "reading what CI reports"),
        (NextStep.FEEDBACK, 1, 1, "answering the review"),
        ("unknown to this version", 0, 0, "writing the change"),
    ],
)
def test_what_an_epoch_begins_with(phase: str, attempt: int, round: int, text: str) -> None:
    fence = replace(FENCE, phase=phase, attempt=attempt, round=round)
    assert comments.beginning(fence, most=3) == text


def test_after_the_coding_an_epoch_begins_with_watching_ci_or_says_nothing() -> None:
    assert comments.beginning(replace(FENCE, stage=Stage.TESTING, phase=NextStep.CI), most=3) == "watching CI"
    assert comments.beginning(replace(FENCE, stage=Stage.REVIEWING), most=3) == ""


def test_tests_written() -> None:
    assert comments.tests_written(FENCE, ["t.py::a"], (), "", 0) == Status(
        "1 new test written; failing as expected. Implementing now.",
        (*ROWS, ("New tests", "`t.py::a`")),
        DATA | {"new_tests": ["t.py::a"]},
    )
    many = comments.tests_written(FENCE, [f"t{n}" for n in range(7)], ["t9: repeats t1"], "AC2", 2)
    assert many.sentence == "7 new tests written; failing as expected. Implementing now."
    assert many.rows[-2] == ("New tests", "`t0`, `t1`, `t2`, `t3`, `t4`")
    assert many.rows[-1] == ("Images", "2, not shown to the coder: put what matters into words")


def test_attempt_failed() -> None:
    assert comments.attempt_failed(FENCE, 3, ["t.py::a: failed:\nassert 1 == 2"]) == Status(
        "Attempt 1 of 3 did not pass the tests.",
        ROWS,
        DATA | {"error": ["t.py::a: failed:\nassert 1 == 2"]},
        "- t.py::a: failed: assert 1 == 2",
    )


def test_waiting_for_ci() -> None:
    assert comments.waiting_for_ci(OPENED) == Status(
        "Tests pass. Waiting for CI on #57 since 10:32 UTC.",
        OPENED_ROWS,
        OPENED_DATA | {"waiting": {"why": "ci", "since": "2026-01-05T10:32:00+00:00"}},
    )


def test_handed_over() -> None:
    assert comments.handed_over(replace(OPENED, round=1)) == Status(
        "CI is green; #57 waits for review.",
        (*OPENED_ROWS[:3], ("Review round", "1"), ("Pull request", "#57")),
        OPENED_DATA,
    )


def test_given_up_before_there_was_a_pull_request() -> None:
    status = comments.given_up(FENCE, Blocked("It failed."), "nothing was written yet", Labels(status_prefix="s/"))
    assert status == Status(
        "It failed.",
        (*ROWS, ("Category", "needs-a-person"), ("Failed runs", "none")),
        DATA | {"error": "It failed.", "category": "needs-a-person"},
        "**What was kept:** nothing was written yet\n\n"
        "**What to do:** correct the specification or the code, "
        "then set the label `s/ready` on the issue again to start over.\n\n"
        + offered(Track.SPECIFICATION, FENCE.stage),
    )


def test_given_up_with_a_pull_request() -> None:
    status = comments.given_up(OPENED, Blocked("It failed."), "branch `auto/issue-42` and #57", Labels())
    assert status.notes == (
        "**What was kept:** branch `auto/issue-42` and #57\n\n"
        "**What to do:** correct the specification or the code, then set the label `status:changes-requested` on #57 "
        "to continue on its branch; or close #57 and set the label `status:ready` on the issue "
        "again to start over.\n\n" + offered(Track.SPECIFICATION, OPENED.stage)
    )


def test_given_up_with_what_was_tried() -> None:
    status = comments.given_up(FENCE, Blocked("It failed."), "nothing", Labels(), ("first: no", "second: no"))
    assert "\n\n**What was tried:**\n\n- first: no\n- second: no\n\n" in status.notes


def test_the_base_has_the_work_already() -> None:
    done = replace(FENCE, stage=Stage.DONE, work_head="c" * 40)
    assert comments.nothing_left(done, "main") == Status(
        "Done without a pull request: `main` has cccccccccccc already.",
        (("Stage", "done"), *ROWS[1:]),
        DATA | {"stage": "done"},
    )


def test_a_pull_request_that_was_closed_is_asked_about() -> None:
    status = comments.pull_request_closed(replace(FENCE, pr=57), Labels(status_prefix="s/"))
    assert status.sentence == "Stopped: #57 was closed without being merged. The branch `auto/issue-42` is kept."
    deleted = comments.pull_request_closed(replace(FENCE, pr=57), Labels(), remains=False)
    assert deleted.sentence.endswith("The branch `auto/issue-42` was deleted.")
    assert "restore the branch `auto/issue-42` (#57 has a button for it), then reopen #57" in deleted.notes
    unknown = comments.pull_request_closed(replace(FENCE, pr=57), Labels(), remains=None)
    assert unknown.sentence == "Stopped: #57 was closed without being merged."
    for step in ("reopen #57 and set `s/changes-requested`", "`s/reviewing`", "`s/ready`"):
        assert step in status.notes
    assert status.data["waiting"] == {"why": "pull request closed"}


def test_paused_and_withdrawn() -> None:
    assert comments.paused(FENCE) == Status("Paused. Remove the label to continue.", ROWS, DATA)
    there = comments.withdrawn(FENCE, "the issue was closed", Labels(status_prefix="s/"), remains=True)
    assert there == Status(
        "Stopped: the issue was closed. The branch `auto/issue-42` is kept.",
        ROWS,
        DATA,
        "**What to do:** set `s/ready` on this issue to start again.",
    )
    for remains in (False, None):
        told = comments.withdrawn(FENCE, "the issue was closed", Labels(), remains=remains)
        assert told.sentence == "Stopped: the issue was closed.", "nothing is said to be kept that is not"


@pytest.mark.parametrize(
    ("open", "steps"),
    [
        (
            True,
            "set `status:reviewing` on this issue and on #57 to have it reviewed as it is; "
            "or close it and set `status:ready` on this issue to start again.",
        ),
        (False, "set `status:ready` on this issue to start again."),
    ],
)
def test_after_a_stop_it_is_said_how_to_go_on_from_the_pull_request(open: bool, steps: str) -> None:
    names = frozenset[str]()
    pull = PullRequest(57, "Title", "", Account(1, "ada"), names, "auto/issue-42", "b" * 40, "main", open, False)
    told = comments.withdrawn(OPENED, "a person moved the label", Labels(), pull_request=pull)
    assert told.notes == f"**What to do:** {steps}"


def test_ready_beside_an_open_pull_request_is_answered() -> None:
    names = frozenset[str]()
    pull = PullRequest(57, "Title", "", Account(1, "ada"), names, "auto/issue-42", "b" * 40, "main", True, False)
    told = comments.ready_in_vain(OPENED, Labels(), pull)
    assert told.sentence == "`status:ready` starts nothing here while #57 is open."
    assert told.notes == comments.withdrawn(OPENED, "x", Labels(), pull_request=pull).notes


def test_two_issues_that_wait_for_each_other() -> None:
    told = intake_comments.cycle_status((Link(42, 43), Link(43, 42)))
    assert told.sentence == "Waiting forever: this issue depends on #43, and #43 on this one."
    assert told.notes == (
        "**What to do:** take `Depends on #43` out of this issue, or take `Depends on #42` out of #43."
    )
    assert told.data == {"waiting": {"why": "circular", "by": 43}}


def test_three_issues_that_wait_for_each_other() -> None:
    told = intake_comments.cycle_status((Link(42, 43), Link(43, 44), Link(44, 42)))
    assert told.sentence == "Waiting forever: this issue depends on #43, #43 on #44, and #44 on this one."
    assert told.notes.endswith("this issue, or take `Depends on #44` out of #43, or take `Depends on #42` out of #44.")


def test_a_circle_through_a_relationship_says_where_to_cut_it() -> None:
    told = intake_comments.cycle_status((Link(42, 43, written=False), Link(43, 42)))
    assert told.notes == (
        '**What to do:** remove the relationship "blocked by #43" from this issue, or take `Depends on #42` out of #43.'
    )


def test_a_failed_run_names_what_fits_and_what_is_left() -> None:
    error = RunEnded("The run 'implement' used up its turns.", Category.TURNS, "Raise `max_turns`.")
    error.kept = "`kept/patch.diff` in the state directory of worker-1"
    status = comments.given_up(FENCE, error, "nothing was written yet", Labels())
    assert ("Category", "turns-used-up") in status.rows
    assert "written yet; `kept/patch.diff` in the state directory of worker-1" in status.notes
    assert "**What to do:** Raise `max_turns`. Or correct" in status.notes


def test_a_wait_says_until_when() -> None:
    until = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    status = comments.waiting(replace(FENCE, wait=Wait("usage-limit", until)), "the account's limit")
    assert status.sentence == "Waiting until 2026-03-01 12:30 UTC, this uses no attempt: the account's limit"
    assert status.data["waiting"] == {"why": "usage-limit", "until": until.isoformat()}
