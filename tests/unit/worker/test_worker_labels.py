"""Labels that follow the worker's fence, those that are a person's order, and the ownership of a pull request."""

from __future__ import annotations

import pytest
from worker_decision_scene import fence

from shared.git.names import issue_of_branch
from shared.github.pulls import issue_named_by
from shared.lock.fence import Fence
from shared.reconcile.label_drift import ordered_to_stop
from shared.workflow import Stage
from worker_agent.expected_labels import ExpectedLabels, before, expected_labels, of_pull_request

READY, IMPLEMENTING, TESTING, REVIEWING = Stage.READY, Stage.IMPLEMENTING, Stage.TESTING, Stage.REVIEWING
CHANGES, FAILED, CI_FAILED, WITHDRAWN = Stage.CHANGES_REQUESTED, Stage.FAILED, Stage.CI_FAILED, Stage.WITHDRAWN


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (fence(IMPLEMENTING), ExpectedLabels(IMPLEMENTING, None)),
        (fence(TESTING, pr=57), ExpectedLabels(TESTING, None)),
        (fence(REVIEWING, pr=57), ExpectedLabels(REVIEWING, REVIEWING)),
        (fence(IMPLEMENTING, round=1), ExpectedLabels(REVIEWING, IMPLEMENTING)),
        (fence(TESTING, round=2), ExpectedLabels(REVIEWING, TESTING)),
        (fence(FAILED), ExpectedLabels(FAILED, FAILED)),
        (fence(CI_FAILED, round=1), ExpectedLabels(CI_FAILED, CI_FAILED)),
        (fence(WITHDRAWN), ExpectedLabels(None, None)),
        (fence(Stage.DONE, round=1), ExpectedLabels(None, None)),
    ],
)
def test_labels_follow_the_fence(shown: Fence, expected: ExpectedLabels) -> None:
    assert expected_labels(shown) == expected


@pytest.mark.fault(16)
@pytest.mark.fault(17)
@pytest.mark.parametrize(
    ("shown", "expected", "order"),
    [
        ({IMPLEMENTING}, IMPLEMENTING, False),
        ({READY}, IMPLEMENTING, False),
        ({TESTING}, IMPLEMENTING, False),
        ({READY, IMPLEMENTING}, IMPLEMENTING, False),
        ({IMPLEMENTING, FAILED}, IMPLEMENTING, False),
        ({IMPLEMENTING}, TESTING, False),
        (set(), IMPLEMENTING, True),
        ({FAILED}, IMPLEMENTING, True),
        ({REVIEWING}, IMPLEMENTING, True),
        ({READY}, TESTING, True),
        (set(), REVIEWING, True),
        ({TESTING}, REVIEWING, False),
        ({FAILED}, REVIEWING, False),
        ({CI_FAILED}, REVIEWING, False),
    ],
)
def test_a_stage_that_we_could_not_have_left_behind_is_a_persons_order(
    shown: set[Stage], expected: Stage, order: bool
) -> None:
    assert ordered_to_stop(frozenset(shown), expected, before(expected)) is order


@pytest.mark.parametrize(
    ("body", "number"),
    [
        ("Closes #42", 42),
        ("text\nCloses #42\nCloses #43", 42),
        ("Closes #42.", 42),
        ("closes #42", None),
        ("It Closes #42", None),
        ("Closes #42abc", None),
        ("Closes #12345678901", None),
        ("", None),
    ],
)
def test_a_body_hints_at_its_issue(body: str, number: int | None) -> None:
    assert issue_named_by(body) == number


@pytest.mark.fault(32)
@pytest.mark.parametrize(
    ("branch", "number"),
    [("auto/issue-42", 42), ("auto/issue-42-old-1", None), ("mine/auto/issue-42", None), ("main", None)],
)
def test_only_the_branch_decides_whose_pull_request_it_is(branch: str, number: int | None) -> None:
    assert issue_of_branch(branch) == number


@pytest.mark.parametrize(
    ("stage", "round", "shown", "wanted"),
    [
        (REVIEWING, 0, {Stage.IN_REVIEW}, None),
        (REVIEWING, 0, {Stage.APPROVED}, None),
        (REVIEWING, 1, {Stage.APPROVED}, None),
        (REVIEWING, 1, {CHANGES}, None),
        (REVIEWING, 1, {FAILED}, None),
        (REVIEWING, 1, {REVIEWING, Stage.IN_REVIEW}, None),
        (REVIEWING, 1, set(), REVIEWING),
        (REVIEWING, 0, {TESTING}, REVIEWING),
        (REVIEWING, 1, {TESTING, CHANGES}, REVIEWING),
        (TESTING, 1, {CHANGES}, TESTING),
        (TESTING, 0, {Stage.APPROVED}, None),
        (FAILED, 0, {Stage.APPROVED}, FAILED),
    ],
)
def test_the_label_of_a_pull_request_is_the_reviewers_once_it_is_handed_over(
    stage: Stage, round: int, shown: set[Stage], wanted: Stage | None
) -> None:
    assert of_pull_request(fence(stage, round=round, pr=57), frozenset(shown)) is wanted
