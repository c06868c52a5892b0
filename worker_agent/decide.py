"""What the worker does next: pure decisions on what it saw."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from shared.ci.verdict import Verdict
from shared.lock.codec import Fence
from shared.models import Issue, PullRequest
from shared.reconcile import labels
from shared.specification import body_sha256
from shared.workflow import HALTED, TERMINAL, Event, Role, Stage, Track


class Phase(StrEnum):
    """What the next paid step of an item at `implementing` is; stands in the fence."""

    RED = "red"
    GREEN = "green"
    FIX = "fix"
    FEEDBACK = "feedback"
    CI = "ci"
    ROUNDS = "rounds"


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
    ASK_ABOUT_EDIT = "ask about an edit"
    HAND_OVER = "hand over"
    HAND_OVER_UNCHECKED = "hand over with a warning"
    GIVE_UP_ON_ATTEMPTS = "give up: attempts used up"
    GIVE_UP_ON_CI = "give up: CI stays red"
    GIVE_UP_ON_ROUNDS = "give up: rounds used up"
    SHOW_HALT = "show that it halted"


WORKING = frozenset({Stage.IMPLEMENTING, Stage.TESTING})
"""Stages in which the worker has something to do."""

HANDS_OVER = frozenset({Action.HAND_OVER, Action.HAND_OVER_UNCHECKED})
"""Actions after which the item rests at `reviewing`."""

NO_LABELS = frozenset({Action.FINISH, Action.WITHDRAW})
"""Actions for what has ended: it keeps the labels that it had."""

UNCHECKED = "unchecked"
"""The fence's phase at `reviewing` when CI did not finish in time: a hand-over that is resumed says the same."""

TAKEN_UP = frozenset({Stage.IN_REVIEW, Stage.APPROVED, Stage.CHANGES_REQUESTED, Stage.FAILED})
"""Stages that a reviewer gives a pull request after the hand-over."""

SETTLED = frozenset({Stage.REVIEWING}) | HALTED
"""Stages that the worker leaves items in; labels that lag behind them are finished by a claim."""


ROUNDS = 3
"""How many rounds of changes follow one another before a person is asked."""


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
    rounds: int = ROUNDS

    def lowered(self, attempts: int | None) -> Bounds:
        """With as many attempts as a specification asks for; it can raise nothing."""
        return self if attempts is None else replace(self, attempts=min(attempts, self.attempts))


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
    if s.fence.stage in WORKING and _is_edited(s):
        return Action.ASK_ABOUT_EDIT
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


def _is_edited(s: Snapshot) -> bool:
    """Whether the issue says something else than the text that the fence is bound to."""
    return s.fence.body_sha256 not in {"", body_sha256(s.issue.title, s.issue.body)}


def _implementing(s: Snapshot) -> Action:
    match Phase(s.fence.phase or Phase.RED):
        case Phase.RED:
            return Action.WRITE_TESTS
        case Phase.GREEN:
            return Action.IMPLEMENT if s.fence.attempt < s.bounds.attempts else Action.GIVE_UP_ON_ATTEMPTS
        case Phase.FIX:
            return Action.FIX_CI
        case Phase.ROUNDS:
            return Action.GIVE_UP_ON_ROUNDS
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


def of_pull_request(fence: Fence, shown: frozenset[Stage]) -> Stage | None:
    """The stage label that a pull request which shows these should carry; None leaves its labels alone.

    Once it is handed over, its stage is the reviewer's. A label of the worker's own work beside it means
    that the hand-over is not finished.
    """
    if fence.stage is Stage.REVIEWING and shown & TAKEN_UP and not shown & WORKING:
        return None
    return projection(fence).pull_request


def is_doubled(shown: frozenset[Stage]) -> bool:
    """Whether an issue in review carries a second stage label: the fence decides which of them stays."""
    return Stage.REVIEWING in shown and len(shown) > 1


def ordered_to_stop(shown: frozenset[Stage], projected: Stage) -> bool:
    """Whether the labels on an item are a person's order and not our own lag."""
    return labels.sign(shown, projected, before(projected)) in labels.ORDERS


def before(stage: Stage) -> frozenset[Stage]:
    """The stages from which the worker itself moves to `stage` (the old label of a move whose second half has not
    happened), and the halt from which a person leads on by the pull request's label.
    """
    movers, events = {Role.WORKER, Role.PLANNER}, {Event.RETRIED_PULL_REQUEST}
    return labels.before(stage, tracks=tuple(Track), movers=movers, events=events)
