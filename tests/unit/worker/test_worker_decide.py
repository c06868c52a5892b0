"""The worker's next step with an item that it holds: each row of the decision."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from worker_decision_scene import AT, BOT, NAMES, fence, pull

from shared.ci.verdict import CiVerdict
from shared.lock.fence import Fence
from shared.models import Issue
from shared.specification import body_sha256
from shared.workflow import Stage
from worker_agent.decide import UNCHECKED, Action, Bounds, Head, NextStep, Snapshot, decide
from worker_agent.expected_labels import ExpectedLabels, expected_labels

IMPLEMENTING, TESTING, REVIEWING, FAILED = Stage.IMPLEMENTING, Stage.TESTING, Stage.REVIEWING, Stage.FAILED


def issue(*labels: Stage | str, open: bool = True, locked: bool = False) -> Issue:
    names = frozenset(NAMES.of(one) if isinstance(one, Stage) else one for one in labels)
    return Issue(42, "Title", "", names, BOT, AT, AT, open, locked)


def done(fence: Fence, **facts: object) -> Action:
    late = facts.pop("late", False)
    snapshot = replace(Snapshot(fence, issue(fence.stage)), **facts)  # type: ignore[arg-type]
    return decide(snapshot, now=AT + timedelta(seconds=601 if late else 600))


@pytest.mark.parametrize(
    ("facts", "action"),
    [
        ({"pull_request": pull(open=False, merged=True)}, Action.FINISH),
        ({"pull_request": pull(open=False, merged=True), "issue": issue(open=False)}, Action.FINISH),
        ({"pull_request": pull(open=False)}, Action.WITHDRAW),
        ({"issue": issue(open=False)}, Action.WITHDRAW),
        ({"issue": issue(locked=True)}, Action.WITHDRAW),
    ],
)
@pytest.mark.parametrize("stage", [IMPLEMENTING, TESTING, REVIEWING, FAILED])
def test_what_has_ended_comes_first(stage: Stage, facts: dict[str, object], action: Action) -> None:
    assert done(fence(stage, NextStep.RED), **facts) is action


@pytest.mark.parametrize(
    ("phase", "attempt", "action"),
    [
        ("", 0, Action.WRITE_TESTS),
        (NextStep.RED, 9, Action.WRITE_TESTS),
        (NextStep.GREEN, 0, Action.IMPLEMENT),
        (NextStep.GREEN, 2, Action.IMPLEMENT),
        (NextStep.GREEN, 3, Action.GIVE_UP_ON_ATTEMPTS),
        (NextStep.REFACTOR, 3, Action.REFACTOR),
        (NextStep.FIX, 3, Action.FIX_CI),
        (NextStep.FEEDBACK, 0, Action.READ_CI),
        (NextStep.CI, 0, Action.READ_CI),
        (NextStep.ROUNDS, 0, Action.GIVE_UP_ON_ROUNDS),
    ],
)
def test_the_phase_says_which_paid_step_is_next(phase: str, attempt: int, action: Action) -> None:
    assert done(fence(IMPLEMENTING, phase, attempt=attempt)) is action


@pytest.mark.parametrize(
    ("phase", "action"), [(NextStep.FEEDBACK, Action.ADDRESS_REVIEW), (NextStep.ANSWER, Action.ANSWER_REVIEW)]
)
def test_what_was_said_of_an_open_pull_request_is_worked_on_and_what_was_done_is_only_said(
    phase: NextStep, action: Action
) -> None:
    assert done(fence(IMPLEMENTING, phase, attempt=3, pr=57), pull_request=pull()) is action


@pytest.mark.parametrize("changed", [{"title": "Other"}, {"body": "Other"}])
def test_an_issue_that_says_something_else_now_is_asked_about_before_anything_is_paid_for(
    changed: dict[str, str],
) -> None:
    for stage, phase in ((IMPLEMENTING, NextStep.RED), (IMPLEMENTING, NextStep.FEEDBACK), (TESTING, NextStep.CI)):
        bound = replace(fence(stage, phase), body_sha256=body_sha256("Title", ""))
        assert done(bound) is done(fence(stage, phase))
        assert done(bound, issue=replace(issue(stage), **changed)) is Action.ASK_ABOUT_EDIT  # type: ignore[arg-type]
        by_writer = {"issue": replace(issue(stage), **changed), "rewritten": True}  # type: ignore[arg-type]
        assert done(bound, **by_writer) is Action.TAKE_UP_EDIT
        assert done(bound, issue=replace(issue(stage, open=False), **changed)) is Action.WITHDRAW  # type: ignore[arg-type]
    settled = replace(fence(REVIEWING, pr=57), body_sha256=body_sha256("Title", ""))
    assert done(settled, issue=replace(issue(REVIEWING), **changed)) is Action.HAND_OVER  # type: ignore[arg-type]


@pytest.mark.fault(42)
@pytest.mark.parametrize(
    ("facts", "action"),
    [
        ({"checks": CiVerdict.GREEN}, Action.HAND_OVER),
        ({"checks": CiVerdict.GREEN, "late": True}, Action.HAND_OVER),
        ({"checks": CiVerdict.RED}, Action.REPAIR),
        ({"checks": CiVerdict.RED, "ci_fixes": 2}, Action.REPAIR),
        ({"checks": CiVerdict.RED, "ci_fixes": 3}, Action.GIVE_UP_ON_CI),
        ({"checks": CiVerdict.RUNNING}, Action.WAIT_FOR_CI),
        ({"checks": CiVerdict.RUNNING, "late": True}, Action.HAND_OVER_UNCHECKED),
        ({"checks": CiVerdict.NONE}, Action.WAIT_FOR_CI),
        ({"checks": CiVerdict.NONE, "late": True}, Action.HAND_OVER_UNCHECKED),
        ({"checks": CiVerdict.NONE, "bounds": Bounds(none_is_green=True)}, Action.HAND_OVER),
        ({"checks": CiVerdict.RUNNING, "bounds": Bounds(none_is_green=True)}, Action.WAIT_FOR_CI),
        ({"checks": CiVerdict.GREEN, "head": Head.FOREIGN}, Action.ASK_ABOUT_HEAD),
        ({"checks": CiVerdict.GREEN, "head": Head.BEHIND}, Action.WAIT_FOR_CI),
        ({"checks": CiVerdict.GREEN, "head": Head.BEHIND, "late": True}, Action.ASK_ABOUT_HEAD),
        ({"checks": CiVerdict.GREEN, "head": Head.AHEAD}, Action.ADOPT),
        ({"checks": CiVerdict.RED, "head": Head.REWOUND, "late": True}, Action.ADOPT),
    ],
)
def test_an_open_pull_request_waits_for_what_ci_says_of_our_own_head(facts: dict[str, object], action: Action) -> None:
    assert done(fence(TESTING, NextStep.CI, pr=57), pull_request=pull(), **facts) is action


@pytest.mark.parametrize("checks", CiVerdict)
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    "facts",
    [
        {"pull_request": replace(pull(), mergeable=False)},
        {"pull_request": replace(pull(), behind=True)},
        {"pull_request": pull(), "collides": True},
    ],
    ids=["a conflict", "behind", "git says so"],
)
def test_what_cannot_be_merged_is_brought_in_step_whatever_ci_says(
    facts: dict[str, object], checks: CiVerdict, late: bool
) -> None:
    held = fence(TESTING, NextStep.CI, pr=57)
    assert done(held, checks=checks, late=late, **facts) is Action.SYNC
    assert done(held, checks=checks, late=late, head=Head.AHEAD, **facts) is Action.ADOPT
    assert done(held, checks=checks, late=late, **facts | {"pull_request": pull(merged=True)}) is Action.FINISH


@pytest.mark.parametrize("checks", CiVerdict)
@pytest.mark.parametrize("head", Head)
def test_what_a_round_has_led_to_is_answered_before_ci_is_looked_at(checks: CiVerdict, head: Head) -> None:
    answering = fence(TESTING, NextStep.ANSWER, pr=57, round=1)
    assert done(answering, pull_request=pull(), checks=checks, head=head) is Action.ANSWER_REVIEW
    assert done(answering, pull_request=pull(merged=True), checks=checks, head=head) is Action.FINISH


def test_green_tests_without_a_pull_request_open_one() -> None:
    assert done(fence(TESTING, NextStep.CI)) is Action.OPEN_PULL_REQUEST


@pytest.mark.parametrize(
    ("phase", "action"),
    [
        (NextStep.REFACTOR, Action.AWAIT_APPROVAL),
        (NextStep.CONFIRMED, Action.KEEP_REFACTORING),
        (NextStep.DECLINED, Action.DROP_REFACTORING),
    ],
)
def test_a_refactoring_that_a_person_is_asked_about_waits_for_a_word(phase: NextStep, action: Action) -> None:
    assert done(fence(Stage.AWAITING_APPROVAL, phase)) is action
    assert expected_labels(fence(Stage.AWAITING_APPROVAL, phase)) == ExpectedLabels(Stage.AWAITING_APPROVAL, None)


@pytest.mark.parametrize("stage", sorted(set(Stage) - {IMPLEMENTING, TESTING, REVIEWING, Stage.AWAITING_APPROVAL}))
def test_where_the_worker_has_nothing_to_do_it_only_shows_that(stage: Stage) -> None:
    assert decide(Snapshot(fence(stage), issue()), now=AT) is Action.SHOW_HALT


def test_a_hand_over_that_was_interrupted_is_finished() -> None:
    assert done(fence(REVIEWING, pr=57), pull_request=pull()) is Action.HAND_OVER
    assert done(fence(REVIEWING, UNCHECKED, pr=57), pull_request=pull()) is Action.HAND_OVER_UNCHECKED
