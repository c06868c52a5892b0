"""What the reviewer does with everything that a look can show."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from fake_server import EPOCH
from reviewer_world import HEAD, KEY, NAMES, NEXT, OPENED

from reviewer_agent.admission import STAGES, intent, ordered_to_stop, projection
from reviewer_agent.decide import (
    IDLE,
    ON_ORDER,
    PASSING,
    UNANNOUNCED,
    Action,
    Bounds,
    Hindrance,
    Merge,
    Snapshot,
    decide,
    hindrance,
)
from reviewer_agent.opinion import Care, Judgement, Opinion
from shared.ci.verdict import Verdict
from shared.lock.claim import Intent
from shared.lock.codec import Fence
from shared.workflow import Flag, Role, Stage, Track, owner

NOW = EPOCH + timedelta(minutes=5)
LATE = EPOCH + timedelta(minutes=11)

REVIEW, APPROVED = Stage.IN_REVIEW, Stage.APPROVED


def fence(stage: Stage = REVIEW, **facts: Any) -> Fence:
    return replace(Fence(KEY, 1, "n", "reviewer-1", stage, EPOCH, work_head=HEAD, pr=57), **facts)


def opinion(judgement: Judgement = Judgement.APPROVED, care: Care = Care.NONE, sha: str = HEAD) -> Opinion:
    return Opinion(sha, 0, judgement, care, 9, EPOCH)


def seen(stage: Stage = REVIEW, *, round: int = 0, pull: dict[str, Any] | None = None, **facts: Any) -> Snapshot:
    return Snapshot(fence(stage, round=round), replace(OPENED, **(pull or {})), **facts)


MERGEABLE = seen(APPROVED, opinion=opinion(), checks=Verdict.GREEN, merge=Merge.AUTO)
"""Nothing hinders this one."""


@pytest.mark.parametrize(
    ("snapshot", "action"),
    [
        (seen(), Action.REVIEW),
        (seen(opinion=opinion()), Action.ACCEPT),
        (seen(opinion=opinion(Judgement.CHANGES_REQUESTED)), Action.REQUEST_CHANGES),
        (seen(opinion=opinion(Judgement.CHANGES_REQUESTED), round=1), Action.REQUEST_CHANGES),
        (seen(opinion=opinion(Judgement.CHANGES_REQUESTED), round=2), Action.GIVE_UP_ON_ROUNDS),
        (
            seen(opinion=opinion(Judgement.CHANGES_REQUESTED), bounds=Bounds(rounds=1)),
            Action.GIVE_UP_ON_ROUNDS,
        ),
        (seen(opinion=opinion(Judgement.INCOMPLETE)), Action.GIVE_UP_ON_SIZE),
        (seen(pull={"head_sha": NEXT}, opinion=opinion()), Action.REOPEN),
        (seen(Stage.REVIEWING), Action.BEGIN),
        (seen(Stage.CHANGES_REQUESTED), Action.HAND_BACK),
        (seen(Stage.FAILED), Action.SHOW_HALT),
        (seen(APPROVED), Action.HAND_OVER),
        (seen(APPROVED, pull={"head_sha": NEXT}), Action.REOPEN),
        (seen(APPROVED, person_asks=True), Action.YIELD),
        (replace(MERGEABLE, person_asks=True), Action.YIELD),
        (MERGEABLE, Action.MERGE),
    ],
)
def test_the_next_step(snapshot: Snapshot, action: Action) -> None:
    assert decide(snapshot, now=NOW) is action


@pytest.mark.parametrize("stage", [*sorted(STAGES), Stage.CHANGES_REQUESTED, Stage.FAILED])
def test_a_merged_one_is_finished_and_a_closed_one_withdrawn_whatever_the_stage(stage: Stage) -> None:
    assert decide(seen(stage, pull={"open": False, "merged": True}), now=NOW) is Action.FINISH
    assert decide(seen(stage, pull={"open": False}), now=NOW) is Action.WITHDRAW


@pytest.mark.parametrize(
    ("facts", "reason", "action"),
    [
        ({"merge": Merge.NEVER}, Hindrance.NEVER, Action.HAND_OVER),
        ({"flags": frozenset({Flag.HAD_CONFLICT})}, Hindrance.FLAGGED, Action.HAND_OVER),
        ({"flags": frozenset({Flag.MANUAL_INTERVENTION})}, Hindrance.FLAGGED, Action.HAND_OVER),
        ({"flags": frozenset({Flag.PAUSED})}, Hindrance.FLAGGED, Action.HAND_OVER),
        ({"opinion": None}, Hindrance.UNSEEN, Action.WAIT),
        ({"opinion": opinion(sha=NEXT)}, Hindrance.UNSEEN, Action.WAIT),
        ({"opinion": opinion(Judgement.CHANGES_REQUESTED)}, Hindrance.UNSEEN, Action.WAIT),
        ({"opinion": opinion(Judgement.INCOMPLETE)}, Hindrance.UNSEEN, Action.WAIT),
        ({"merge": Merge.APPROVE}, Hindrance.NOT_ORDERED, Action.PARK),
        ({"opinion": opinion(care=Care.BREAKING)}, Hindrance.BREAKING, Action.PARK),
        ({"opinion": opinion(care=Care.PROTECTED)}, Hindrance.PROTECTED, Action.PARK),
        ({"checks": Verdict.RED}, Hindrance.CHECKS_RED, Action.HAND_OVER),
        ({"checks": Verdict.NONE}, Hindrance.CHECKS_MISSING, Action.HAND_OVER),
        ({"checks": Verdict.RUNNING}, Hindrance.CHECKS_RUNNING, Action.WAIT),
        ({"base_checks": Verdict.RED}, Hindrance.BASE_RED, Action.HAND_OVER),
    ],
)
def test_each_guard_alone_keeps_it_from_being_merged(facts: dict[str, Any], reason: Hindrance, action: Action) -> None:
    guarded = replace(MERGEABLE, **facts)
    assert hindrance(guarded) is reason
    assert decide(guarded, now=NOW) is action


@pytest.mark.parametrize("facts", [{"checks": Verdict.RUNNING}, {"opinion": None}])
def test_a_wait_ends(facts: dict[str, Any]) -> None:
    assert decide(replace(MERGEABLE, **facts), now=LATE) is Action.HAND_OVER


@pytest.mark.parametrize(
    "facts",
    [
        {"merge": Merge.APPROVE, "ordered": True},
        {"opinion": opinion(care=Care.BREAKING), "ordered": True},
        {"merge": Merge.APPROVE, "opinion": opinion(care=Care.PROTECTED), "ordered": True},
        {"checks": Verdict.NONE, "bounds": Bounds(none_is_green=True)},
        {"base_checks": Verdict.RUNNING},
        {"base_checks": Verdict.GREEN},
        {"flags": frozenset({Flag.PROBLEMATIC_TEST})},
    ],
)
def test_what_does_not_hinder_a_merge(facts: dict[str, Any]) -> None:
    assert decide(replace(MERGEABLE, **facts), now=NOW) is Action.MERGE


@pytest.mark.parametrize(
    "facts",
    [
        {"checks": Verdict.RED},
        {"flags": frozenset({Flag.HAD_CONFLICT})},
        {"merge": Merge.NEVER},
        {"base_checks": Verdict.RED},
        {"opinion": None},
    ],
)
def test_an_order_to_merge_clears_nothing_else(facts: dict[str, Any]) -> None:
    assert decide(replace(MERGEABLE, ordered=True, **facts), now=LATE) is Action.HAND_OVER


def test_every_hindrance_is_reached_and_idle_actions_are_no_waits() -> None:
    assert Hindrance.NOT_ORDERED in ON_ORDER
    assert PASSING < UNANNOUNCED
    assert not ON_ORDER & UNANNOUNCED
    assert Action.WAIT not in IDLE


def labelled(*stages: Stage, flags: tuple[Flag, ...] = (), **facts: Any) -> Any:
    shown = [*map(NAMES.of, stages), *map(NAMES.of, flags)]
    return replace(OPENED, labels=frozenset(shown), **facts)


FRESH = Intent(REVIEW, attempt=0, round=0, pr=57, work_head=HEAD)


@pytest.mark.parametrize(
    ("pull_request", "old", "wish"),
    [
        (labelled(Stage.REVIEWING), None, FRESH),
        (labelled(Stage.IN_REVIEW), None, FRESH),
        (labelled(Stage.REVIEWING), fence(Stage.WITHDRAWN, round=1), replace(FRESH, round=1)),
        (labelled(Stage.IN_REVIEW), fence(Stage.WITHDRAWN), FRESH),
        (labelled(Stage.REVIEWING), fence(REVIEW), Intent(REVIEW)),
        (labelled(Stage.IN_REVIEW), fence(REVIEW), Intent(REVIEW)),
        (labelled(Stage.IN_REVIEW), fence(Stage.REVIEWING), Intent(Stage.REVIEWING)),
        (labelled(APPROVED), fence(Stage.REVIEWING), Intent(Stage.REVIEWING)),
        (labelled(Stage.IN_REVIEW), fence(APPROVED), Intent(APPROVED)),
        (labelled(APPROVED), fence(APPROVED), Intent(APPROVED)),
        (labelled(Stage.IN_REVIEW), fence(Stage.CHANGES_REQUESTED), Intent(Stage.CHANGES_REQUESTED)),
        (labelled(Stage.IN_REVIEW), fence(Stage.FAILED), Intent(Stage.FAILED)),
        (labelled(Stage.REVIEWING), fence(Stage.FAILED, round=2), replace(FRESH, round=2)),
        (labelled(Stage.REVIEWING), fence(APPROVED), FRESH),
        (labelled(Stage.REVIEWING), fence(Stage.CHANGES_REQUESTED), FRESH),
        (
            labelled(Stage.REVIEWING, head_sha=NEXT),
            fence(Stage.CHANGES_REQUESTED, round=1),
            replace(FRESH, round=2, work_head=NEXT),
        ),
        (labelled(APPROVED, open=False, merged=True), fence(APPROVED), Intent(APPROVED)),
    ],
)
def test_what_a_claim_begins(pull_request: Any, old: Fence | None, wish: Intent) -> None:
    assert intent(pull_request, old, NAMES) == wish


@pytest.mark.parametrize(
    ("pull_request", "old", "reason"),
    [
        (labelled(Stage.REVIEWING, open=False), None, "closed"),
        (labelled(Stage.REVIEWING, open=False, merged=True), None, "closed"),
        (labelled(APPROVED, open=False, merged=True), fence(Stage.DONE), "closed"),
        (labelled(Stage.REVIEWING, flags=(Flag.PAUSED,)), None, "flag:paused"),
        (labelled(Stage.CHANGES_REQUESTED), None, "no stage of the reviewer"),
        (labelled(), fence(REVIEW), "no stage of the reviewer"),
        (labelled(APPROVED), None, "has not reviewed it"),
        (labelled(APPROVED), fence(Stage.WITHDRAWN), "has not reviewed it"),
    ],
)
def test_what_is_not_claimed_says_why(pull_request: Any, old: Fence | None, reason: str) -> None:
    found = intent(pull_request, old, NAMES)
    assert isinstance(found, str)
    assert reason in found


def test_labels_follow_the_fence_until_it_ends() -> None:
    assert projection(fence(APPROVED)) is APPROVED
    assert projection(fence(Stage.DONE)) is None


@pytest.mark.parametrize(
    ("shown", "projected", "order"),
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
def test_a_label_that_no_agent_left_is_a_persons_order(shown: set[Stage], projected: Stage, order: bool) -> None:
    assert ordered_to_stop(frozenset(shown), projected) is order


def test_the_reviewer_works_on_the_stages_that_the_table_gives_it() -> None:
    owned = {stage for stage in Stage if owner(Track.PULL_REQUEST, stage) is Role.REVIEWER}
    assert owned == STAGES
