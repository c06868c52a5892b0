"""Fences that are suspects, and the decision on each: the reconciler's second table."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from fakes.closing import FakeClosing
from reconcile_scene import IMPLEMENTING, NAMES, NOW, READY, REVIEWING, TESTING, fence, item

from planner_agent.reconcile_rules import rules as of_planner
from reviewer_agent.reconcile_rules import rules as of_reviewer
from shared.github.status import Status
from shared.lock.fence import Fence
from shared.models import Issue
from shared.reconcile.orphans import (
    KEPT,
    ItemEnd,
    OrphanDecision,
    ReconcileRules,
    SuspectFence,
    is_unclear,
    judge,
    suspects,
)
from shared.workflow import TERMINAL, Role, Stage
from worker_agent.decide import WORKING
from worker_agent.expected_labels import before as before_of_worker


async def dropped(fence: Fence) -> ItemEnd:
    return ItemEnd.DROPPED


async def nothing(fence: Fence, item: Issue, reason: str) -> Status:
    return Status(reason)


async def unchanged(fence: Fence, item: Issue) -> None:
    """Do nothing, so that nothing shows that it has ended."""


WORK = ReconcileRules(
    Role.WORKER,
    NAMES,
    expected_stage=lambda fence: None if fence.stage in TERMINAL else fence.stage,
    before=before_of_worker,
    outcome=dropped,
    status_for=nothing,
    closed=unchanged,
    owned_stages=WORKING | {REVIEWING},
)
"""Specification issues, without rounds."""
NO_PULLS: Any = None
REVIEWS = of_reviewer(NAMES, NO_PULLS, FakeClosing())
STORIES = of_planner(NAMES, FakeClosing(), FakeClosing())


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (SuspectFence(fence(TESTING), None), OrphanDecision.WITHDRAW),
        (SuspectFence(fence(TESTING), item(TESTING, open=False)), OrphanDecision.WITHDRAW),
        (SuspectFence(fence(REVIEWING), item(REVIEWING, open=False), outcome=ItemEnd.DONE), OrphanDecision.FINISH),
        (
            SuspectFence(fence(REVIEWING), item(REVIEWING, open=False), outcome=ItemEnd.UNCLEAR),
            OrphanDecision.LOOK_AGAIN,
        ),
        (SuspectFence(fence(Stage.FAILED), item(open=False)), OrphanDecision.WITHDRAW),
        (SuspectFence(fence(TESTING), item(TESTING, locked=True)), OrphanDecision.WITHDRAW),
        (SuspectFence(fence(TESTING), item(TESTING)), OrphanDecision.CONTINUE),
        (SuspectFence(fence(TESTING), item(IMPLEMENTING)), OrphanDecision.CONTINUE),
        (SuspectFence(fence(TESTING), item(Stage.FAILED)), OrphanDecision.WITHDRAW),
        (SuspectFence(fence(TESTING), item()), OrphanDecision.WITHDRAW),
        (SuspectFence(fence(TESTING), item(), lost=True), OrphanDecision.CONTINUE),
        (SuspectFence(fence(TESTING), item(TESTING, "flag:paused")), OrphanDecision.LEAVE),
        (SuspectFence(fence(Stage.FAILED), item()), OrphanDecision.LEAVE),
        (SuspectFence(fence(Stage.CI_FAILED), item(Stage.CI_FAILED)), OrphanDecision.LEAVE),
        (SuspectFence(fence(Stage.CHANGES_REQUESTED), item(IMPLEMENTING)), OrphanDecision.LEAVE),
        (SuspectFence(fence(Stage.CHANGES_REQUESTED), item(), lost=True), OrphanDecision.CONTINUE),
        (SuspectFence(fence(Stage.APPROVED), item(locked=True)), OrphanDecision.LEAVE),
    ],
)
def test_what_becomes_of_a_suspect(found: SuspectFence, verdict: OrphanDecision) -> None:
    assert judge(found, WORK, NOW) is verdict


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (SuspectFence(fence(Stage.APPROVED, role=Role.REVIEWER), item()), OrphanDecision.WITHDRAW),
        (SuspectFence(fence(Stage.APPROVED, role=Role.REVIEWER), item(), lost=True), OrphanDecision.CONTINUE),
        (SuspectFence(fence(Stage.APPROVED, role=Role.REVIEWER), item(Stage.CHANGES_REQUESTED)), OrphanDecision.LEAVE),
        (SuspectFence(fence(Stage.CHANGES_REQUESTED, role=Role.REVIEWER), item()), OrphanDecision.LEAVE),
    ],
)
def test_an_approval_ends_where_a_person_takes_its_label_off_and_sets_no_other(
    found: SuspectFence, verdict: OrphanDecision
) -> None:
    assert judge(found, REVIEWS, NOW) is verdict


@pytest.mark.parametrize(
    ("stage", "labels", "verdict"),
    [
        (Stage.PLANNING, ("story",), OrphanDecision.CONTINUE),
        (Stage.AWAITING_APPROVAL, ("story",), OrphanDecision.WITHDRAW),
        (Stage.PLANNING, ("story", Stage.FAILED), OrphanDecision.CONTINUE),
        (Stage.PLANNING, ("story", READY), OrphanDecision.WITHDRAW),
    ],
)
def test_a_story_may_have_no_label_yet(stage: Stage, labels: tuple[Stage | str, ...], verdict: OrphanDecision) -> None:
    assert judge(SuspectFence(fence(stage, role=Role.PLANNER), item(*labels)), STORIES, NOW) is verdict


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (SuspectFence(fence(Stage.DONE, age=KEPT), item(open=False, closed=KEPT)), OrphanDecision.PRUNE),
        (SuspectFence(fence(Stage.WITHDRAWN, age=KEPT), None), OrphanDecision.PRUNE),
        (SuspectFence(fence(Stage.DONE, age=2 * KEPT), item(open=False, closed=KEPT / 2)), OrphanDecision.LEAVE),
        (SuspectFence(fence(Stage.DONE, age=KEPT), item()), OrphanDecision.LEAVE),
        (SuspectFence(fence(Stage.DONE, age=KEPT), item(open=False)), OrphanDecision.LEAVE),
    ],
)
def test_when_a_tombstone_goes(found: SuspectFence, verdict: OrphanDecision) -> None:
    assert judge(found, WORK, NOW) is verdict


@pytest.mark.parametrize(
    ("one", "listed", "suspected"),
    [
        (fence(TESTING), item(TESTING), False),
        (fence(TESTING), item(IMPLEMENTING, READY), False),
        (fence(TESTING), None, True),
        (fence(TESTING), item(), True),
        (fence(TESTING), item(Stage.FAILED), True),
        (fence(Stage.DONE), None, False),
        (fence(Stage.DONE, age=KEPT), None, True),
    ],
)
def test_which_fences_need_a_closer_look(one: Fence, listed: Issue | None, suspected: bool) -> None:
    known = {} if listed is None else {42: listed}
    assert suspects([one], known, WORK, NOW) == ((one,) if suspected else ())


@pytest.mark.fault(11)
@pytest.mark.parametrize(
    ("verdict", "seconds", "unclear"),
    [
        (OrphanDecision.WITHDRAW, 119, True),
        (OrphanDecision.WITHDRAW, 120, False),
        (OrphanDecision.LOOK_AGAIN, 9999, True),
        (OrphanDecision.CONTINUE, 0, False),
        (OrphanDecision.FINISH, 0, False),
    ],
)
def test_what_disagrees_with_a_fence_that_moved_just_now_is_decided_by_a_second_look(
    verdict: OrphanDecision, seconds: int, unclear: bool
) -> None:
    assert is_unclear(verdict, timedelta(seconds=seconds), timedelta(minutes=2)) is unclear
