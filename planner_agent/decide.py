"""The planner's next step, what a claim would be for, and when a person wants it to stop (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum

from planner_agent.conversation import PlanCommand
from planner_agent.plan import Plan
from planner_agent.plan_comment import PlanComment
from shared.commands.command import Verb
from shared.lock.fence import Fence
from shared.models import Issue
from shared.reconcile import label_drift
from shared.specification import body_sha256
from shared.workflow import TERMINAL, UNLABELLED, Event, Role, Stage, Track
from shared.workflow.labels import Flag, Labels


class Phase(StrEnum):
    """Next step at a stage; stands in the fence."""

    DRAFT = "draft"
    CREATE = "create"
    TRIAGE = "triage"
    TRIAGED = "triaged"


UNBEGUN = frozenset({Phase.TRIAGE, Phase.TRIAGED})
"""Phases of an issue that was looked at without being a story: as a story it was never begun."""


class Action(StrEnum):
    """One step of the planner."""

    DRAFT = "draft a plan"
    ASK = "ask"
    SUBMIT = "submit for approval"
    APPROVE_AS_CONFIGURED = "approve as configured"
    APPROVE = "approve"
    REDRAFT = "draft again"
    CREATE = "create specifications"
    WAIT = "wait for a person"
    CLOSE = "close the story"
    HAND_OVER = "hand over"
    GIVE_UP_ON_ROUNDS = "give up: sent back too often"
    GIVE_UP_ON_PLAN = "give up: the plan was changed"
    SHOW_HALT = "show that it halted"


class Wish(Enum):
    """Purpose of a claim, which determines what has to be true before it."""

    BEGIN = "begin"
    RESTART = "begin anew"
    RESUME = "go on"
    RESUME_UNLABELLED = "go on unless a person removed the label"
    DECIDE = "carry out a decision"
    CLOSE = "close"


STAGES = frozenset({Stage.PLANNING, Stage.AWAITING_APPROVAL, Stage.SPECIFIED})
"""Stages in which the planner may have something to do."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The facts of one look at a held story."""

    fence: Fence
    issue: Issue
    posted: PlanComment | None = None
    order: PlanCommand | None = None
    closed: bool = False
    auto: bool = False
    rounds: int = 3

    @property
    def story(self) -> str:
        """The hash of title and body as they are now."""
        return body_sha256(self.issue.title, self.issue.body)

    @property
    def plan(self) -> Plan | None:
        """The plan that was posted; None if there is none, or somebody changed its comment."""
        return self.posted.plan if self.posted is not None else None

    @property
    def questions(self) -> bool:
        """True if the plan asks something that a person answers first."""
        return self.plan is not None and bool(self.plan.questions)


def decide(s: Snapshot) -> Action:
    """Return the next step of a held story."""
    match s.fence.stage:
        case Stage.PLANNING | Stage.AWAITING_APPROVAL if s.fence.phase == Phase.CREATE:
            return Action.CREATE if s.plan is not None else Action.GIVE_UP_ON_PLAN
        case Stage.PLANNING:
            return _decide_planning(s)
        case Stage.AWAITING_APPROVAL:
            return _decide_awaiting(s)
        case Stage.SPECIFIED:
            return Action.CLOSE if s.closed or not s.issue.open else Action.HAND_OVER
        case _:
            return Action.SHOW_HALT


def _decide_planning(s: Snapshot) -> Action:
    if s.posted is None:
        return Action.DRAFT
    if s.plan is None:
        return Action.GIVE_UP_ON_PLAN
    if s.questions:
        return Action.ASK
    # The configuration stands in for a person only while the text is the one that a person labelled.
    unchanged = s.story == s.posted.story == s.fence.body_sha256
    return Action.APPROVE_AS_CONFIGURED if s.auto and unchanged and s.order is None else Action.SUBMIT


def _decide_awaiting(s: Snapshot) -> Action:
    if s.order is None:
        return Action.WAIT
    unchanged = s.plan is not None and s.posted is not None and s.posted.story == s.story
    if s.order.verb is Verb.APPROVE and unchanged:
        return Action.APPROVE
    return Action.REDRAFT if s.fence.round < s.rounds else Action.GIVE_UP_ON_ROUNDS


def sent_back(order: PlanCommand | None) -> Event:
    """Return the event of a plan that is drafted again; approving one that no longer fits asks for a new one."""
    if order is None or order.verb in {Verb.APPROVE, Verb.EDIT}:
        return Event.EDITED
    return Event.REJECTED if order.verb is Verb.REJECT else Event.ANSWERED


def wish(issue: Issue, fence: Fence | None, names: Labels, *, unasked: bool = False) -> Wish | str:
    """Return what a claim of this story would be for, or the reason why there is nothing to claim.

    `unasked`: it needs no label, because a person at our terminal has said that it is a story.
    """
    refused = _refusal(issue, names, unasked)
    if refused:
        return refused
    shown = names.read(issue.labels).stages
    if fence is None:
        return Wish.BEGIN
    if fence.stage is Stage.PLANNING:
        return _lagging(shown, Stage.PLANNING) if shown else Wish.RESUME_UNLABELLED
    if not shown and fence.stage in STAGES:
        return Wish.RESUME_UNLABELLED
    if fence.phase == Phase.CREATE and fence.stage in STAGES:
        return Wish.RESUME
    if fence.stage is Stage.SPECIFIED:
        return Wish.CLOSE if shown == {Stage.SPECIFIED} else _lagging(shown, fence.stage)
    return Wish.DECIDE if shown == {Stage.AWAITING_APPROVAL} == {fence.stage} else Wish.RESTART


def _refusal(issue: Issue, names: Labels, unasked: bool) -> str:
    labels = names.read(issue.labels)
    if not issue.open or issue.locked:
        return "the story is closed or locked"
    if Flag.PAUSED in labels.flags:
        return f"the story carries '{names.of(Flag.PAUSED)}'"
    if not labels.story and not unasked:
        return f"the label '{names.story}' is gone"
    if labels.stages and not labels.stages & STAGES:
        return "no stage of the planner"
    return ""


def triggers(issue: Issue, names: Labels) -> tuple[str, ...]:
    """Return the labels by which a person asks for a plan: the story's own, and the stage set by hand."""
    shown = names.read(issue.labels).stages
    if Stage.PLANNING in shown:
        return names.story, names.of(Stage.PLANNING)
    return () if shown else (names.story,)


def _lagging(shown: frozenset[Stage], stage: Stage) -> Wish | str:
    return "a person moved the stage label" if label_drift.ordered_to_stop(shown, stage, before(stage)) else Wish.RESUME


def lags(issue: Issue, fence: Fence, names: Labels) -> bool:
    """Return whether the stage labels are not yet those of the fence's stage."""
    shown = names.read(issue.labels).stages
    return fence.stage not in TERMINAL and bool(shown) and shown != {fence.stage}


def stop_request(issue: Issue, fence: Fence, names: Labels, *, labelled: bool, unasked: bool = False) -> str | None:
    """Return why a person wants a held story stopped, or None; `labelled` once its label was shown in this lease.

    A story that is `unasked` has no label before that.
    """
    labels, stage = names.read(issue.labels), fence.stage
    if not issue.open or issue.locked:
        return None if stage is Stage.SPECIFIED else "the story was closed or locked"
    if Flag.PAUSED in labels.flags:
        return f"'{names.of(Flag.PAUSED)}' was set"
    if not labels.story and (labelled or not unasked):
        return f"the label '{names.story}' was removed"
    unshown = not labels.stages and not labelled and stage in {Stage.PLANNING, Stage.FAILED}
    if stage in UNLABELLED or unshown or not label_drift.ordered_to_stop(labels.stages, stage, before(stage)):
        return None
    return "a person moved or removed the stage label"


def before(stage: Stage) -> frozenset[Stage]:
    """Return the stages that lead to `stage`: their label may not be removed yet."""
    return label_drift.before(stage, tracks={Track.STORY}, movers={Role.PLANNER, Role.PERSON})


def flags(stage: Stage, *, questions: bool) -> tuple[tuple[Flag, ...], tuple[Flag, ...]]:
    """Return the flags to set and the flags to take off at a stage of a story."""
    match stage:
        case Stage.PLANNING:
            ended = (Flag.MANUAL_INTERVENTION, Flag.SPEC_REVIEW_NEEDED, Flag.BUDGET_EXCEEDED)
            return (), (Flag.NEEDS_ANSWER, *ended)
        case Stage.AWAITING_APPROVAL if questions:
            return (Flag.NEEDS_ANSWER,), ()
        case Stage.AWAITING_APPROVAL | Stage.SPECIFIED:
            return (), (Flag.NEEDS_ANSWER,)
        case Stage.FAILED:
            return (Flag.MANUAL_INTERVENTION,), ()
        case _:
            return (), ()
