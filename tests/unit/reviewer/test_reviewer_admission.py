"""The start of a claim on a pull request, by its labels and its fence, and the labels that are orders."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes.lock_server import EPOCH
from fakes.reviewer_world import HEAD, KEY, NAMES, NEXT, OPENED

from reviewer_agent.candidates import STAGES, before, expected_stage, find_intent, reopening
from shared.ci.ci_round import SENT_BACK
from shared.lock.claim import Intent
from shared.lock.fence import Fence
from shared.reconcile.label_drift import ordered_to_stop
from shared.workflow import Role, Stage, Track, owner
from shared.workflow.labels import Flag

REVIEW, APPROVED = Stage.IN_REVIEW, Stage.APPROVED


def fence(stage: Stage, **facts: Any) -> Fence:
    return replace(Fence(KEY, 1, "n", "reviewer-1", stage, EPOCH, work_head=HEAD, pr=57), **facts)


@pytest.mark.parametrize(
    ("old", "intent"),
    [
        (fence(REVIEW), Intent(Stage.REVIEWING, attempt=1, work_head=NEXT)),
        (fence(APPROVED, attempt=2), Intent(Stage.REVIEWING, attempt=3, work_head=NEXT)),
        (fence(Stage.REVIEWING), Intent(Stage.REVIEWING, attempt=1, work_head=NEXT)),
    ],
)
def test_another_head_is_named_by_the_claim_that_takes_it_up(old: Fence, intent: Intent) -> None:
    assert reopening(replace(OPENED, head_sha=NEXT), old) == intent


def labelled(*stages: Stage, flags: tuple[Flag, ...] = (), **facts: Any) -> Any:
    shown = [*map(NAMES.of, stages), *map(NAMES.of, flags)]
    return replace(OPENED, labels=frozenset(shown), **facts)


FRESH = Intent(REVIEW, attempt=0, round=0, pr=57, work_head=HEAD)


@pytest.mark.parametrize(
    ("pull_request", "old", "intent"),
    [
        (labelled(Stage.REVIEWING), None, FRESH),
        (labelled(Stage.IN_REVIEW), None, FRESH),
        (labelled(Stage.REVIEWING), fence(Stage.WITHDRAWN, round=1), replace(FRESH, attempt=1, round=1)),
        (labelled(Stage.IN_REVIEW), fence(Stage.WITHDRAWN), replace(FRESH, attempt=1)),
        (labelled(Stage.REVIEWING), fence(REVIEW), Intent(REVIEW)),
        (labelled(Stage.IN_REVIEW), fence(REVIEW), Intent(REVIEW)),
        (labelled(Stage.IN_REVIEW), fence(Stage.REVIEWING), Intent(Stage.REVIEWING)),
        (labelled(APPROVED), fence(Stage.REVIEWING), Intent(Stage.REVIEWING)),
        (labelled(Stage.IN_REVIEW), fence(APPROVED), Intent(APPROVED)),
        (labelled(APPROVED), fence(APPROVED), Intent(APPROVED)),
        (labelled(Stage.IN_REVIEW), fence(Stage.CHANGES_REQUESTED), Intent(Stage.CHANGES_REQUESTED)),
        (
            labelled(Stage.IN_REVIEW),
            fence(Stage.CHANGES_REQUESTED, phase=SENT_BACK),
            Intent(Stage.CHANGES_REQUESTED, SENT_BACK),
        ),
        (
            labelled(Stage.IN_REVIEW, Stage.CHANGES_REQUESTED),
            fence(Stage.CHANGES_REQUESTED, phase=SENT_BACK),
            Intent(Stage.CHANGES_REQUESTED, SENT_BACK),
        ),
        (labelled(Stage.IN_REVIEW), fence(Stage.FAILED), Intent(Stage.FAILED)),
        (labelled(Stage.REVIEWING), fence(Stage.FAILED, attempt=10, round=2), replace(FRESH, round=2)),
        (labelled(Stage.REVIEWING), fence(APPROVED, attempt=3), replace(FRESH, attempt=4)),
        (labelled(Stage.REVIEWING), fence(Stage.CHANGES_REQUESTED), replace(FRESH, attempt=1)),
        (
            labelled(Stage.REVIEWING, head_sha=NEXT),
            fence(Stage.CHANGES_REQUESTED, round=1),
            replace(FRESH, attempt=1, round=2, work_head=NEXT),
        ),
        (labelled(APPROVED, open=False, merged=True), fence(APPROVED), Intent(APPROVED)),
        (labelled(), fence(REVIEW), Intent(REVIEW)),  # a person who took the label off is heard after the claim
        (labelled(), fence(Stage.CHANGES_REQUESTED), Intent(Stage.CHANGES_REQUESTED)),
    ],
)
def test_what_a_claim_begins(pull_request: Any, old: Fence | None, intent: Intent) -> None:
    assert find_intent(pull_request, old, NAMES) == intent


@pytest.mark.parametrize(
    ("pull_request", "old", "reason"),
    [
        (labelled(Stage.REVIEWING, open=False), None, "closed"),
        (labelled(Stage.REVIEWING, open=False, merged=True), None, "closed"),
        (labelled(APPROVED, open=False, merged=True), fence(Stage.DONE), "closed"),
        (labelled(Stage.REVIEWING, flags=(Flag.PAUSED,)), None, "flag:paused"),
        (labelled(Stage.CHANGES_REQUESTED), None, "no stage of the reviewer"),
        (labelled(), fence(Stage.FAILED), "no stage of the reviewer"),
        (labelled(), fence(Stage.WITHDRAWN), "no stage of the reviewer"),
        (labelled(APPROVED), None, "has not reviewed it"),
        (labelled(APPROVED), fence(Stage.WITHDRAWN), "has not reviewed it"),
    ],
)
def test_what_is_not_claimed_says_why(pull_request: Any, old: Fence | None, reason: str) -> None:
    found = find_intent(pull_request, old, NAMES)
    assert isinstance(found, str)
    assert reason in found


def test_labels_follow_the_fence_until_it_ends() -> None:
    assert expected_stage(fence(APPROVED)) is APPROVED
    assert expected_stage(fence(Stage.DONE)) is None


@pytest.mark.parametrize(
    ("shown", "expected", "order"),
    [
        ({REVIEW}, REVIEW, False),
        ({Stage.REVIEWING}, REVIEW, False),
        ({Stage.REVIEWING, REVIEW}, REVIEW, False),
        ({APPROVED}, Stage.REVIEWING, False),
        ({REVIEW}, APPROVED, False),
        ({APPROVED}, Stage.CHANGES_REQUESTED, False),
        ({REVIEW}, Stage.FAILED, False),
        (set(), REVIEW, True),
        ({APPROVED}, REVIEW, True),
        ({Stage.CHANGES_REQUESTED}, REVIEW, True),
        ({Stage.CHANGES_REQUESTED}, APPROVED, True),
        ({Stage.REVIEWING}, APPROVED, True),
    ],
)
def test_a_label_that_no_agent_left_is_a_persons_order(shown: set[Stage], expected: Stage, order: bool) -> None:
    assert ordered_to_stop(frozenset(shown), expected, before(expected)) is order


def test_the_reviewer_works_on_the_stages_that_the_table_gives_it() -> None:
    owned = {stage for stage in Stage if owner(Track.PULL_REQUEST, stage) is Role.REVIEWER}
    assert owned == STAGES
