"""The reviewer's next step for everything that a look can show."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from fakes.lock_server import EPOCH
from fakes.reviewer_world import BASE, HEAD, KEY, NEXT, OPENED

from reviewer_agent.candidates import STAGES
from reviewer_agent.decide import IDLE, Action, decide
from reviewer_agent.merge.blockers import ON_ORDER, PASSING, UNANNOUNCED, Blocker, WaitReason
from reviewer_agent.merge.merge_decision import first_blocker
from reviewer_agent.review.verdict import Judgement, PersonOnly, ReviewVerdict
from reviewer_agent.snapshot import ASKED, MERGE_REFUSED, TO_BASE, Bounds, Merge, Snapshot
from shared.ci.verdict import CiVerdict
from shared.lock.fence import Fence, Wait
from shared.workflow import Stage
from shared.workflow.labels import Flag

NOW = EPOCH + timedelta(minutes=5)
LATE = EPOCH + timedelta(minutes=11)

REVIEW, APPROVED = Stage.IN_REVIEW, Stage.APPROVED


def fence(stage: Stage = REVIEW, **facts: Any) -> Fence:
    return replace(Fence(KEY, 1, "n", "reviewer-1", stage, EPOCH, work_head=HEAD, pr=57), **facts)


def verdict(
    judgement: Judgement = Judgement.APPROVED, care: PersonOnly = PersonOnly.NONE, sha: str = HEAD
) -> ReviewVerdict:
    return ReviewVerdict(sha, 0, judgement, care, 9, EPOCH)


def seen(
    stage: Stage = REVIEW, *, round: int = 0, attempt: int = 0, pull: dict[str, Any] | None = None, **facts: Any
) -> Snapshot:
    return Snapshot(fence(stage, round=round, attempt=attempt), replace(OPENED, **(pull or {})), **facts)


MERGEABLE = seen(APPROVED, verdict=verdict(), checks=CiVerdict.GREEN, merge=Merge.AUTO)
"""Nothing hinders this one."""


def passed_on(request: int, times: int, *, head: str = HEAD) -> Snapshot:
    """Return a snapshot with request number 9 of a person, after `request` was passed on so often."""
    told = ((ASKED, f"{head} {request} {times}"),)
    return replace(MERGEABLE, person_asks=True, requested=True, request=9, fence=fence(APPROVED, more=told))


COLLIDING = replace(OPENED, mergeable=False)


@pytest.mark.parametrize(
    ("snapshot", "action"),
    [
        (seen(), Action.REVIEW),
        (seen(verdict=verdict()), Action.ACCEPT),
        (seen(verdict=verdict(Judgement.CHANGES_REQUESTED)), Action.REQUEST_CHANGES),
        (seen(verdict=verdict(Judgement.CHANGES_REQUESTED), round=1), Action.REQUEST_CHANGES),
        (seen(verdict=verdict(Judgement.CHANGES_REQUESTED), round=2), Action.GIVE_UP_ON_ROUNDS),
        (
            seen(verdict=verdict(Judgement.CHANGES_REQUESTED), bounds=Bounds(rounds=1)),
            Action.GIVE_UP_ON_ROUNDS,
        ),
        (seen(verdict=verdict(Judgement.INCOMPLETE)), Action.GIVE_UP_ON_SIZE),
        (seen(attempt=9), Action.REVIEW),
        (seen(attempt=10), Action.GIVE_UP_ON_REVIEWS),
        (seen(attempt=10, verdict=verdict()), Action.ACCEPT),
        (seen(attempt=1, bounds=Bounds(reviews=1)), Action.GIVE_UP_ON_REVIEWS),
        (seen(pull={"head_sha": NEXT}, verdict=verdict()), Action.LET_GO),
        (seen(pull={"head_sha": NEXT}, verdict=verdict(), review_asked=True), Action.REOPEN),
        (seen(Stage.REVIEWING), Action.BEGIN),
        (seen(Stage.REVIEWING, pull={"head_sha": NEXT}), Action.LET_GO),
        (seen(Stage.REVIEWING, pull={"head_sha": NEXT}, review_asked=True), Action.REOPEN),
        (seen(Stage.CHANGES_REQUESTED), Action.HAND_BACK),
        (seen(Stage.FAILED), Action.SHOW_HALT),
        (seen(APPROVED), Action.HAND_OVER),
        (seen(APPROVED, pull={"head_sha": NEXT}), Action.LET_GO),
        (seen(APPROVED, pull={"head_sha": NEXT}, review_asked=True), Action.REOPEN),
        (seen(APPROVED, person_asks=True), Action.YIELD),
        (replace(MERGEABLE, person_asks=True), Action.YIELD),
        (replace(MERGEABLE, review_asked=True), Action.REOPEN),
        (passed_on(9, 1), Action.YIELD),
        (passed_on(9, 2), Action.HAND_OVER),
        (passed_on(8, 2), Action.YIELD),
        (passed_on(9, 2, head="b" * 40), Action.YIELD),
        (MERGEABLE, Action.MERGE),
        (replace(MERGEABLE, queue=True), Action.ENQUEUE),
        (replace(MERGEABLE, unmet=("1 approval of a person",)), Action.HAND_OVER),
        (replace(MERGEABLE, updatable=True), Action.SEND_TO_BASE),
        (replace(MERGEABLE, updatable=True, by_turn=True), Action.SEND_TO_BASE),
        (replace(MERGEABLE, updatable=True, by_turn=True, waits_behind=58), Action.HAND_OVER),
        (replace(MERGEABLE, updatable=True, merge=Merge.NEVER), Action.SEND_TO_BASE),
        (replace(MERGEABLE, updatable=True, flags=frozenset({Flag.HAD_CONFLICT})), Action.SEND_TO_BASE),
        (replace(MERGEABLE, updatable=True, flags=frozenset({Flag.MANUAL_INTERVENTION})), Action.HAND_OVER),
        (replace(MERGEABLE, pull_request=COLLIDING), Action.HAND_OVER),
        (seen(updatable=True), Action.SEND_TO_BASE),
        (seen(verdict=verdict(), updatable=True), Action.ACCEPT),
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
        ({"merge": Merge.NEVER}, Blocker.NEVER, Action.HAND_OVER),
        *(
            ({"flags": frozenset({flag})}, Blocker.FLAGGED, Action.HAND_OVER)
            for flag in Flag
            if flag is not Flag.HAD_CONFLICT
        ),
        ({"held_up": Blocker.FLAGGED}, Blocker.FLAGGED, Action.HAND_OVER),
        ({"verdict": None}, Blocker.UNSEEN, Action.WAIT),
        ({"verdict": verdict(sha=NEXT)}, Blocker.UNSEEN, Action.WAIT),
        ({"verdict": verdict(Judgement.CHANGES_REQUESTED)}, Blocker.UNSEEN, Action.WAIT),
        ({"verdict": verdict(Judgement.INCOMPLETE)}, Blocker.UNSEEN, Action.WAIT),
        ({"requested": True}, Blocker.REQUESTED, Action.HAND_OVER),
        ({"remarked_by": ("ada",)}, Blocker.REMARKED, Action.PARK),
        ({"pull_request": replace(OPENED, head_repository="mallory/r")}, Blocker.FORK, Action.PARK),
        ({"pull_request": replace(OPENED, head_repository="")}, Blocker.FORK, Action.PARK),
        ({"pull_request": replace(OPENED, head_repository="", base_repository="")}, Blocker.FORK, Action.PARK),
        ({"merge": Merge.APPROVE}, Blocker.NOT_ORDERED, Action.PARK),
        ({"verdict": verdict(care=PersonOnly.BREAKING)}, Blocker.BREAKING, Action.PARK),
        ({"verdict": verdict(care=PersonOnly.PROTECTED)}, Blocker.PROTECTED, Action.PARK),
        ({"checks": CiVerdict.RED}, Blocker.CHECKS_RED, Action.HAND_OVER),
        ({"checks": CiVerdict.NONE}, Blocker.CHECKS_MISSING, Action.HAND_OVER),
        ({"checks": CiVerdict.NONE, "ordered": True}, Blocker.CHECKS_MISSING, Action.HAND_OVER),
        ({"checks": CiVerdict.NONE, "no_ci": True}, Blocker.NO_CI, Action.PARK),
        ({"checks": CiVerdict.NONE, "no_ci": True, "own_order": True}, Blocker.OWN_ORDER, Action.PARK),
        ({"checks": CiVerdict.RUNNING}, Blocker.CHECKS_RUNNING, Action.WAIT),
        ({"base_checks": CiVerdict.RED}, Blocker.BASE_RED, Action.HAND_OVER),
        ({"held_up": Blocker.STOPPED}, Blocker.STOPPED, Action.HAND_OVER),
        ({"held_up": Blocker.EDITED}, Blocker.EDITED, Action.HAND_OVER),
        ({"held_up": Blocker.BLOCKED}, Blocker.BLOCKED, Action.HAND_OVER),
        ({"barred": "it carries the label"}, Blocker.BARRED, Action.HAND_OVER),
        ({"verdict": replace(verdict(), lines=801)}, Blocker.LARGE, Action.PARK),
        ({"verdict": replace(verdict(), lines=None)}, Blocker.LARGE, Action.PARK),
        ({"verdict": verdict(care=PersonOnly.BREAKING), "own_order": True}, Blocker.OWN_ORDER, Action.PARK),
        ({"merge": Merge.APPROVE, "own_order": True}, Blocker.OWN_ORDER, Action.PARK),
        ({"merge": Merge.APPROVE, "verdict": replace(verdict(), lines=801)}, Blocker.NOT_ORDERED, Action.PARK),
    ],
)
def test_each_guard_alone_keeps_it_from_being_merged(facts: dict[str, Any], reason: Blocker, action: Action) -> None:
    guarded = replace(MERGEABLE, **facts)
    assert first_blocker(guarded) is reason
    assert decide(guarded, now=NOW) is action


def test_without_any_ci_a_persons_word_merges() -> None:
    assert decide(replace(MERGEABLE, checks=CiVerdict.NONE, no_ci=True, ordered=True), now=NOW) is Action.MERGE


@pytest.mark.parametrize("facts", [{"checks": CiVerdict.RUNNING}, {"verdict": None}])
def test_a_wait_ends(facts: dict[str, Any]) -> None:
    assert decide(replace(MERGEABLE, **facts), now=LATE) is Action.HAND_OVER


@pytest.mark.parametrize(
    "facts",
    [
        {"merge": Merge.APPROVE, "ordered": True},
        {"verdict": verdict(care=PersonOnly.BREAKING), "ordered": True},
        {"pull_request": replace(OPENED, head_repository="mallory/r"), "ordered": True},
        {"merge": Merge.APPROVE, "verdict": verdict(care=PersonOnly.PROTECTED), "ordered": True},
        {"checks": CiVerdict.NONE, "bounds": Bounds(none_is_green=True)},
        {"base_checks": CiVerdict.RUNNING},
        {"base_checks": CiVerdict.GREEN},
    ],
)
def test_what_does_not_hinder_a_merge(facts: dict[str, Any]) -> None:
    assert decide(replace(MERGEABLE, **facts), now=NOW) is Action.MERGE


@pytest.mark.parametrize(
    "facts",
    [
        {"checks": CiVerdict.RED},
        {"flags": frozenset({Flag.HAD_CONFLICT})},
        {"merge": Merge.NEVER},
        {"requested": True},
        {"base_checks": CiVerdict.RED},
        {"verdict": None},
        {"held_up": Blocker.STOPPED},
        {"barred": "it carries the label"},
    ],
)
def test_an_order_to_merge_clears_nothing_else(facts: dict[str, Any]) -> None:
    assert decide(replace(MERGEABLE, ordered=True, **facts), now=LATE) is Action.HAND_OVER


def test_every_hindrance_is_reached_and_idle_actions_are_no_waits() -> None:
    assert Blocker.NOT_ORDERED in ON_ORDER
    assert PASSING < UNANNOUNCED
    assert not ON_ORDER & UNANNOUNCED
    assert Action.WAIT not in IDLE


def test_what_was_given_back_for_its_base_is_not_given_back_for_the_same_one_again() -> None:
    sent = fence(APPROVED, more=((TO_BASE, f"{HEAD} {BASE}"),))
    found = replace(MERGEABLE, fence=sent, updatable=True, base_tip=BASE, pull_request=COLLIDING)
    assert (decide(found, now=NOW), first_blocker(found)) == (Action.HAND_OVER, Blocker.CONFLICT)
    assert decide(replace(found, base_tip=NEXT), now=NOW) is Action.SEND_TO_BASE, "the base has moved again"


@pytest.mark.parametrize(
    ("state", "now", "action"),
    [("clean", NOW, Action.HAND_OVER), ("blocked", NOW, Action.MERGE), ("clean", LATE, Action.MERGE)],
)
def test_a_refused_merge_is_tried_again_in_its_time_or_when_githubs_word_changes(
    state: str, now: datetime, action: Action
) -> None:
    refused = fence(APPROVED, more=((MERGE_REFUSED, f"{HEAD} clean"),), wait=Wait(WaitReason.REFUSED, LATE))
    found = replace(MERGEABLE, fence=refused, pull_request=replace(OPENED, merge_state=state))
    assert decide(found, now=now) is action


def test_a_resolved_conflict_is_a_persons_stop_of_its_own() -> None:
    assert first_blocker(replace(MERGEABLE, flags=frozenset({Flag.HAD_CONFLICT}))) is Blocker.RESOLVED
    both = frozenset({Flag.HAD_CONFLICT, Flag.MANUAL_INTERVENTION})
    assert first_blocker(replace(MERGEABLE, flags=both)) is Blocker.FLAGGED
