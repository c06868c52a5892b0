"""What the worker does next: pure decisions on what it saw."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from shared.ci.verdict import Verdict
from shared.lock.claim import Intent
from shared.lock.codec import Fence
from shared.models import Issue, PullRequest
from shared.workflow import HALTED, TERMINAL, TRANSITIONS, Event, Flag, Labels, Role, Stage, Track, move


class Phase(StrEnum):
    """What the next paid step of an item at `implementing` is; stands in the fence."""

    RED = "red"
    GREEN = "green"
    FIX = "fix"
    FEEDBACK = "feedback"
    CI = "ci"


class Action(StrEnum):
    """One step of the worker."""

    FINISH = "finish"
    WITHDRAW = "withdraw"
    WRITE_TESTS = "write tests"
    IMPLEMENT = "implement"
    ADDRESS_REVIEW = "address review"
    FIX_CI = "fix CI"
    OPEN_PULL_REQUEST = "open pull request"
    WAIT_FOR_CI = "wait for CI"
    REPAIR = "repair"
    ASK_ABOUT_HEAD = "ask about the head"
    HAND_OVER = "hand over"
    HAND_OVER_UNCHECKED = "hand over with a warning"
    GIVE_UP_ON_ATTEMPTS = "give up: attempts used up"
    GIVE_UP_ON_CI = "give up: CI stays red"
    SHOW_HALT = "show that it halted"


WORKING = frozenset({Stage.IMPLEMENTING, Stage.TESTING})
"""Stages in which the worker has something to do."""

UNCHECKED = "unchecked"
"""The fence's phase at `reviewing` when CI did not finish in time: a hand-over that is resumed says the same."""

SETTLED = frozenset({Stage.REVIEWING}) | HALTED
"""Stages that the worker leaves items in; labels that lag behind them are finished by a claim."""


class Head(StrEnum):
    """How the pull request's head relates to the commit that the fence names."""

    OURS = "ours"
    BEHIND = "behind"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How often and how long; from the configuration and the specification."""

    attempts: int = 3
    ci_fixes: int = 3
    ci_seconds: float = 600.0
    none_is_green: bool = False
    rounds: int = 3


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one look at a held item showed."""

    fence: Fence
    issue: Issue
    pull_request: PullRequest | None = None
    checks: Verdict = Verdict.NONE
    head: Head = Head.OURS
    ci_fixes: int = 0
    bounds: Bounds = field(default_factory=Bounds)


def decide(s: Snapshot, *, now: datetime) -> Action:
    """The next step of a held item."""
    ended = _ended(s)
    if ended is not None:
        return ended
    match s.fence.stage:
        case Stage.IMPLEMENTING:
            return _implementing(s)
        case Stage.TESTING:
            return _testing(s, now)
        case Stage.REVIEWING:
            return Action.HAND_OVER_UNCHECKED if s.fence.phase == UNCHECKED else Action.HAND_OVER
        case _:
            return Action.SHOW_HALT


def _ended(s: Snapshot) -> Action | None:
    if s.pull_request is not None and s.pull_request.merged:
        return Action.FINISH
    if not s.issue.open or s.issue.locked:
        return Action.WITHDRAW
    if s.pull_request is not None and not s.pull_request.open:
        return Action.WITHDRAW
    return None


def _implementing(s: Snapshot) -> Action:
    match Phase(s.fence.phase or Phase.RED):
        case Phase.RED:
            return Action.WRITE_TESTS
        case Phase.GREEN:
            return Action.IMPLEMENT if s.fence.attempt < s.bounds.attempts else Action.GIVE_UP_ON_ATTEMPTS
        case Phase.FIX:
            return Action.FIX_CI
        case Phase.FEEDBACK | Phase.CI:  # pragma: no branch - mypy sees that nothing is left
            return Action.ADDRESS_REVIEW


def _testing(s: Snapshot, now: datetime) -> Action:
    if s.pull_request is None:
        return Action.OPEN_PULL_REQUEST
    overdue = now - s.fence.at > timedelta(seconds=s.bounds.ci_seconds)
    if s.head is not Head.OURS:  # GitHub shows a push late; a branch that somebody moved back stays behind
        return Action.ASK_ABOUT_HEAD if s.head is Head.FOREIGN or overdue else Action.WAIT_FOR_CI
    match s.checks:
        case Verdict.GREEN:
            return Action.HAND_OVER
        case Verdict.RED:
            return Action.REPAIR if s.ci_fixes < s.bounds.ci_fixes else Action.GIVE_UP_ON_CI
        case Verdict.NONE if s.bounds.none_is_green:
            return Action.HAND_OVER
        case Verdict.NONE | Verdict.RUNNING:  # pragma: no branch - mypy sees that nothing is left
            return Action.HAND_OVER_UNCHECKED if overdue else Action.WAIT_FOR_CI


def intent(issue: Issue, pull_request: PullRequest | None, fence: Fence | None, names: Labels) -> Intent | str:
    """What a claim of this item would begin, or the sentence why there is nothing to claim."""
    if not issue.open or issue.locked:
        return "the issue is closed or locked"
    labels = names.read(issue.labels)
    if Flag.PAUSED in labels.flags:
        return f"the issue carries '{names.of(Flag.PAUSED)}'"
    if pull_request is not None and pull_request.open:
        return _fix_round(names.read(pull_request.labels).stages, labels.stages, fence, pull_request)
    if Stage.READY in labels.stages and (fence is None or fence.stage not in WORKING):
        return Intent(Stage.IMPLEMENTING, Phase.RED, attempt=0, round=0, pr=0, base="", work_head="")
    if fence is not None and (fence.stage in WORKING or (fence.stage in SETTLED and labels.stages & WORKING)):
        return Intent(fence.stage, fence.phase)
    if labels.stages & WORKING and fence is None:
        return Intent(Stage.IMPLEMENTING, Phase.RED, attempt=0)
    return "no stage of the worker"


def _fix_round(
    stages: frozenset[Stage], of_issue: frozenset[Stage], fence: Fence | None, pull_request: PullRequest
) -> Intent | str:
    """What an item with an open pull request is claimed for; labels of either that lag count as work."""
    if fence is None:
        return "the pull request is not of this engine's making"
    if fence.stage in WORKING or (fence.stage in SETTLED and (stages | of_issue) & WORKING):
        return Intent(fence.stage, fence.phase, pr=pull_request.number)
    if Stage.CHANGES_REQUESTED not in stages:
        return "no changes are requested"
    to = move(Track.PULL_REQUEST, Stage.CHANGES_REQUESTED, Event.CLAIMED).to
    return Intent(
        to,
        Phase.FEEDBACK,
        round=fence.round + 1,
        pr=pull_request.number,
        work_head=pull_request.head_sha,
    )


@dataclass(frozen=True, slots=True)
class Projection:
    """Which stage labels the issue and its pull request should carry; None leaves one alone."""

    issue: Stage | None
    pull_request: Stage | None


def projection(fence: Fence) -> Projection:
    """Labels follow the fence; from round 1 on the issue stays at `reviewing` while its pull request moves."""
    if fence.stage in TERMINAL:
        return Projection(None, None)
    if fence.stage in HALTED:
        return Projection(fence.stage, fence.stage)
    if fence.round:
        return Projection(Stage.REVIEWING, fence.stage)
    return Projection(fence.stage, fence.stage if fence.stage is Stage.REVIEWING else None)


def ordered_to_stop(shown: frozenset[Stage], projected: Stage) -> bool:
    """Whether the labels on an item are a person's order and not our own lag.

    Ours: the projected stage, or one from which the worker itself moves to it (the old label of a
    move whose second half has not happened). Anything else, and no stage label at all, is an order.
    """
    ours = {projected} | {
        stage
        for (_, stage, _), there in TRANSITIONS.items()
        if there.to is projected and there.by in {Role.WORKER, Role.PLANNER}
    }
    return not shown & ours
