"""The planner's next step, as tables."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from fakes.lock_server import BOT, EPOCH
from fakes.planner_coder import plan, question

from planner_agent.conversation import PlanCommand
from planner_agent.decide import (
    Action,
    Phase,
    Snapshot,
    Wish,
    decide,
    flags,
    lags,
    sent_back,
    stop_request,
    triggers,
    wish,
)
from planner_agent.plan import read
from planner_agent.plan_comment import PlanComment
from shared.commands.command import Verb
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.models import Issue
from shared.specification import body_sha256
from shared.workflow import TRANSITIONS, Event, Role, Stage, Track
from shared.workflow.labels import Flag, Labels

NAMES = Labels()
ISSUE = Issue(12, "Search", "Find users.", frozenset({"story"}), BOT, EPOCH, EPOCH)
STORY = body_sha256(ISSUE.title, ISSUE.body)
PLAN = PlanComment(100, 1, STORY, "0" * 64, read(json.dumps(plan())))
ASKING = replace(PLAN, plan=read(json.dumps(plan(ambiguities=[question()]))))
VOID = replace(PLAN, plan=None)
STALE = replace(PLAN, story="other")
APPROVE, REJECT, EDIT, ANSWER = (PlanCommand(101, "ada", verb) for verb in (Verb.APPROVE, Verb.REJECT, Verb.EDIT, None))


def fence(stage: Stage, **fields: Any) -> Fence:
    begun = Fence(ItemKey(Role.PLANNER, 12), 1, "0" * 32, "planner-a", stage, EPOCH, attempt=1, body_sha256=STORY)
    return replace(begun, **fields)


def story(*labels: str, **fields: Any) -> Issue:
    return replace(ISSUE, labels=ISSUE.labels | set(labels), **fields)


@pytest.mark.parametrize(
    ("stage", "fields", "seen", "action"),
    [
        (Stage.PLANNING, {}, {}, Action.DRAFT),
        (Stage.PLANNING, {}, {"posted": VOID}, Action.GIVE_UP_ON_PLAN),
        (Stage.PLANNING, {}, {"posted": ASKING, "auto": True}, Action.ASK),
        (Stage.PLANNING, {}, {"posted": PLAN}, Action.SUBMIT),
        (Stage.PLANNING, {}, {"posted": PLAN, "auto": True}, Action.APPROVE_AS_CONFIGURED),
        (Stage.PLANNING, {}, {"posted": PLAN, "auto": True, "order": REJECT}, Action.SUBMIT),
        (Stage.PLANNING, {}, {"posted": STALE, "auto": True}, Action.SUBMIT),
        (Stage.PLANNING, {"body_sha256": "other"}, {"posted": PLAN, "auto": True}, Action.SUBMIT),
        (Stage.PLANNING, {"phase": Phase.CREATE}, {"posted": PLAN}, Action.CREATE),
        (Stage.PLANNING, {"phase": Phase.CREATE}, {"posted": VOID}, Action.GIVE_UP_ON_PLAN),
        (Stage.AWAITING_APPROVAL, {"phase": Phase.CREATE}, {"posted": PLAN}, Action.CREATE),
        (Stage.AWAITING_APPROVAL, {"phase": Phase.CREATE}, {}, Action.GIVE_UP_ON_PLAN),
        (Stage.AWAITING_APPROVAL, {}, {"posted": PLAN}, Action.WAIT),
        (Stage.AWAITING_APPROVAL, {}, {"posted": PLAN, "order": APPROVE}, Action.APPROVE),
        (Stage.AWAITING_APPROVAL, {}, {"posted": ASKING, "order": APPROVE}, Action.APPROVE),
        (Stage.AWAITING_APPROVAL, {}, {"posted": STALE, "order": APPROVE}, Action.REDRAFT),
        (Stage.AWAITING_APPROVAL, {}, {"posted": VOID, "order": APPROVE}, Action.REDRAFT),
        (Stage.AWAITING_APPROVAL, {}, {"posted": PLAN, "order": REJECT}, Action.REDRAFT),
        (Stage.AWAITING_APPROVAL, {}, {"posted": PLAN, "order": EDIT}, Action.REDRAFT),
        (Stage.AWAITING_APPROVAL, {}, {"posted": ASKING, "order": ANSWER}, Action.REDRAFT),
        (Stage.AWAITING_APPROVAL, {"round": 2}, {"posted": PLAN, "order": REJECT}, Action.REDRAFT),
        (Stage.AWAITING_APPROVAL, {"round": 3}, {"posted": PLAN, "order": REJECT}, Action.GIVE_UP_ON_ROUNDS),
        (Stage.AWAITING_APPROVAL, {"round": 3}, {"posted": PLAN, "order": APPROVE}, Action.APPROVE),
        (Stage.SPECIFIED, {}, {}, Action.HAND_OVER),
        (Stage.SPECIFIED, {}, {"closed": True}, Action.CLOSE),
        (Stage.SPECIFIED, {}, {"issue": story(open=False)}, Action.CLOSE),
        (Stage.FAILED, {}, {}, Action.SHOW_HALT),
    ],
)
def test_the_next_step(stage: Stage, fields: dict[str, Any], seen: dict[str, Any], action: Action) -> None:
    assert decide(Snapshot(fence(stage, **fields), **({"issue": ISSUE} | seen))) is action


def test_an_edited_body_is_another_story() -> None:
    changed = Snapshot(fence(Stage.AWAITING_APPROVAL), story(body="Delete users."), PLAN, APPROVE)
    assert decide(changed) is Action.REDRAFT


@pytest.mark.parametrize(
    ("order", "event"),
    [
        (APPROVE, Event.EDITED),
        (EDIT, Event.EDITED),
        (None, Event.EDITED),
        (REJECT, Event.REJECTED),
        (ANSWER, Event.ANSWERED),
    ],
)
def test_why_a_plan_is_drafted_again(order: PlanCommand | None, event: Event) -> None:
    assert sent_back(order) is event
    assert TRANSITIONS[Track.STORY, Stage.AWAITING_APPROVAL, event].to is Stage.PLANNING


@pytest.mark.parametrize(
    ("issue", "stage", "expected"),
    [
        (story(), None, Wish.BEGIN),
        (story("status:planning"), None, Wish.BEGIN),
        (story(open=False), None, "the story is closed or locked"),
        (story(locked=True), None, "the story is closed or locked"),
        (story("flag:paused"), None, "the story carries 'flag:paused'"),
        (replace(ISSUE, labels=frozenset()), None, "the label 'story' is gone"),
        (story("status:ready"), None, "no stage of the planner"),
        (story("status:failed"), Stage.FAILED, "no stage of the planner"),
        (story("status:planning"), Stage.PLANNING, Wish.RESUME),
        (story("status:awaiting-approval"), Stage.PLANNING, Wish.RESUME),
        (story("status:specified"), Stage.PLANNING, "a person moved the stage label"),
        (story(), Stage.PLANNING, Wish.RESUME_UNLABELLED),
        (story("status:awaiting-approval"), Stage.AWAITING_APPROVAL, Wish.DECIDE),
        (story("status:planning"), Stage.AWAITING_APPROVAL, Wish.RESTART),
        (story(), Stage.AWAITING_APPROVAL, Wish.RESUME_UNLABELLED),
        (story("status:specified"), Stage.SPECIFIED, Wish.CLOSE),
        (story("status:awaiting-approval"), Stage.SPECIFIED, Wish.RESUME),
        (story("status:planning", "status:specified"), Stage.SPECIFIED, Wish.RESUME),
        (story(), Stage.SPECIFIED, Wish.RESUME_UNLABELLED),
        (story("status:planning"), Stage.FAILED, Wish.RESTART),
        (story(), Stage.WITHDRAWN, Wish.RESTART),
        (story("status:specified"), Stage.DONE, Wish.RESTART),
    ],
)
def test_what_a_claim_would_be_for(issue: Issue, stage: Stage | None, expected: Wish | str) -> None:
    assert wish(issue, fence(stage) if stage else None, NAMES) == expected


def test_an_approved_plan_is_created_whatever_is_said_later() -> None:
    approved = fence(Stage.AWAITING_APPROVAL, phase=Phase.CREATE)
    assert wish(story("status:awaiting-approval"), approved, NAMES) is Wish.RESUME


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ((), ("story",)),
        (("status:planning", "status:failed"), ("story", "status:planning")),
        (("status:specified",), ()),
    ],
)
def test_by_which_labels_a_plan_is_asked_for(labels: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert triggers(story(*labels), NAMES) == expected


@pytest.mark.parametrize(
    ("labels", "stage", "expected"),
    [
        (("status:planning",), Stage.FAILED, True),
        (("status:failed", "status:planning"), Stage.FAILED, True),
        (("status:failed",), Stage.FAILED, False),
        ((), Stage.FAILED, False),
        (("status:planning",), Stage.WITHDRAWN, False),
    ],
)
def test_which_labels_lag_behind(labels: tuple[str, ...], stage: Stage, expected: bool) -> None:
    assert lags(story(*labels), fence(stage), NAMES) is expected


@pytest.mark.parametrize(
    ("issue", "stage", "labelled", "reason"),
    [
        (story("status:planning"), Stage.PLANNING, True, None),
        (story("status:failed", "status:planning"), Stage.PLANNING, True, None),
        (story(), Stage.PLANNING, False, None),
        (story(), Stage.PLANNING, True, "a person moved or removed the stage label"),
        (story(), Stage.AWAITING_APPROVAL, False, "a person moved or removed the stage label"),
        (story("status:specified"), Stage.AWAITING_APPROVAL, True, "a person moved or removed the stage label"),
        (story(), Stage.WITHDRAWN, True, None),
        (story("flag:paused"), Stage.PLANNING, True, "'flag:paused' was set"),
        (story(open=False), Stage.PLANNING, True, "the story was closed or locked"),
        (story(locked=True), Stage.PLANNING, True, "the story was closed or locked"),
        (story(open=False), Stage.SPECIFIED, True, None),
        (replace(ISSUE, labels=frozenset()), Stage.PLANNING, True, "the label 'story' was removed"),
    ],
)
def test_what_is_an_order_to_stop(issue: Issue, stage: Stage, labelled: bool, reason: str | None) -> None:
    assert stop_request(issue, fence(stage), NAMES, labelled=labelled) == reason


@pytest.mark.parametrize(
    ("stage", "questions", "on", "off"),
    [
        (Stage.PLANNING, True, set(), {Flag.NEEDS_ANSWER, Flag.MANUAL_INTERVENTION}),
        (Stage.AWAITING_APPROVAL, True, {Flag.NEEDS_ANSWER}, set()),
        (Stage.AWAITING_APPROVAL, False, set(), {Flag.NEEDS_ANSWER}),
        (Stage.SPECIFIED, True, set(), {Flag.NEEDS_ANSWER}),
        (Stage.FAILED, True, {Flag.MANUAL_INTERVENTION}, set()),
    ],
)
def test_the_flags_beside_a_stage(stage: Stage, questions: bool, on: set[Flag], off: set[Flag]) -> None:
    set_, taken_off = flags(stage, questions=questions)
    assert set(set_) == on
    assert set(taken_off) >= off
    assert bool(taken_off) is bool(off)
