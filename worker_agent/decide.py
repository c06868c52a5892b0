"""The worker's next step: pure decisions on a snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from shared.ci import ci_round
from shared.ci.ci_round import UNCHECKED_RED, CiObservation
from shared.ci.triage import Cause
from shared.ci.verdict import CiVerdict
from shared.lock.fence import Fence
from shared.models import Issue, PullRequest
from shared.specification import body_sha256
from shared.workflow import HALTED, Stage


class NextStep(StrEnum):
    """The kind of the next step of an item at `implementing`; in the fence, beside `RED_BASE` and `UNCHECKED`."""

    RED = "red"
    """Tests are to be written."""
    GREEN = "green"
    """The tests are there; code is to be written."""
    REFACTOR = "refactor"
    """The tests pass; the code is to be tidied up."""
    CONFIRMED = "confirmed"
    """A person keeps the refactoring that was shown."""
    DECLINED = "declined"
    """A person does not."""
    FIX = "fix"
    """CI is red, and is to be repaired."""
    FEEDBACK = "feedback"
    """Remarks on the pull request are to be worked on."""
    TEXT = "text"
    """The change is to follow the issue's text, which was edited."""
    ANSWER = "answer"
    """The remarks have been worked on, and are to be answered."""
    CI = "ci"
    """Nothing is to be written; CI is to be read."""
    BASE = "base"
    """The base is to be merged into the branch; then CI is to be read."""
    ROUNDS = "rounds"
    """The rounds of changes are used up."""


class Action(StrEnum):
    """One step of the worker."""

    FINISH = "finish"
    WITHDRAW = "withdraw"
    WRITE_TESTS = "write tests"
    IMPLEMENT = "implement"
    REFACTOR = "refactor"
    AWAIT_APPROVAL = "await approval"
    KEEP_REFACTORING = "keep the refactoring"
    DROP_REFACTORING = "drop the refactoring"
    ADDRESS_REVIEW = "address review"
    ANSWER_REVIEW = "answer review"
    FIX_CI = "fix CI"
    READ_CI = "read CI anew"
    UPDATE = "merge the base, then read CI anew"
    OPEN_PULL_REQUEST = "open pull request"
    WAIT_FOR_CI = "wait for CI"
    RERUN_CI = "run CI again"
    WAIT_FOR_BASE = "wait for the base"
    REPAIR = "repair"
    ADOPT = "adopt the head"
    SYNC = "bring in step with the base"
    ASK_ABOUT_HEAD = "ask about the head"
    ASK_ABOUT_EDIT = "ask about an edit"
    TAKE_UP_EDIT = "go by the edited text"
    HAND_OVER = "hand over"
    HAND_OVER_UNCHECKED = "hand over with a warning"
    GIVE_UP_ON_ATTEMPTS = "give up: attempts used up"
    GIVE_UP_ON_CI = "give up: CI stays red"
    GIVE_UP_ON_ROUNDS = "give up: rounds used up"
    SHOW_HALT = "show that it halted"


HANDS_OVER = frozenset({Action.HAND_OVER, Action.HAND_OVER_UNCHECKED})
"""Actions after which the item rests at `reviewing`."""

LEAVES_LABELS = frozenset({Action.FINISH, Action.WITHDRAW})
"""Actions for work that has ended: the item keeps its labels."""

SHOWS_LABELS_ITSELF = frozenset({Action.OPEN_PULL_REQUEST})
"""Actions that update the issue's labels together with those of the pull request that they open."""

WORKING = frozenset({Stage.IMPLEMENTING, Stage.TESTING})
"""Stages in which the worker has work to do."""

SETTLED = frozenset({Stage.REVIEWING, Stage.AWAITING_APPROVAL}) | HALTED
"""Stages that the worker leaves items in; labels that lag behind them are finished by a claim."""

RED_BASE = "red-base"
"""The fence's phase at `testing`, and the reason of its wait, while the base branch fails the same checks."""

UNCHECKED = "unchecked"
"""The fence's phase at `reviewing` when CI did not finish in time: a resumed hand-over posts the same."""

LATE = frozenset({UNCHECKED, UNCHECKED_RED})
"""The phases of a hand-over without a green CI."""

ROUNDS = 3
"""The most rounds of changes in a row before a person is asked."""


class Head(StrEnum):
    """Relation of the pull request's head to the commit that the fence names.

    Other people's commits were added to ours (AHEAD), some of ours were removed (REWOUND), or neither (FOREIGN).
    """

    OURS = "ours"
    BEHIND = "behind"
    AHEAD = "ahead"
    REWOUND = "rewound"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on attempts, repairs, waiting time and rounds; from the configuration and the specification."""

    attempts: int = 3
    ci_fixes: int = 3
    ci_seconds: float = 600.0
    none_is_green: bool = False
    rounds: int = ROUNDS

    def lowered(self, attempts: int | None) -> Bounds:
        """Return the bounds with the specification's number of attempts, which can only be lower."""
        return self if attempts is None else replace(self, attempts=min(attempts, self.attempts))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a held item at one look."""

    fence: Fence
    issue: Issue
    pull_request: PullRequest | None = None
    checks: CiVerdict = CiVerdict.NONE
    ci: CiObservation = field(default_factory=CiObservation)
    head: Head = Head.OURS
    collides: bool = False
    """True if git cannot merge it into its base, whatever GitHub says."""
    rewritten: bool = False
    """True if the issue was edited, and nobody without write access can have done that."""
    ci_fixes: int = 0
    """Number of repairs of a red CI so far."""
    bounds: Bounds = field(default_factory=Bounds)

    @property
    def out_of_step(self) -> bool:
        """True if the pull request cannot be merged before its base is merged into it."""
        pull_request = self.pull_request
        return pull_request is not None and (self.collides or pull_request.out_of_step)


_ANSWERED: Mapping[str, Action] = {
    NextStep.CONFIRMED: Action.KEEP_REFACTORING,
    NextStep.DECLINED: Action.DROP_REFACTORING,
}
"""The action for a person's answer on a refactoring, by the fence's phase."""

_AFTER_CI = {
    ci_round.CiAction.PASS: Action.HAND_OVER,
    ci_round.CiAction.WAIT: Action.WAIT_FOR_CI,
    ci_round.CiAction.RERUN: Action.RERUN_CI,
    ci_round.CiAction.REPAIR: Action.REPAIR,
    ci_round.CiAction.HOLD: Action.WAIT_FOR_BASE,
    ci_round.CiAction.PASS_UNCHECKED: Action.HAND_OVER_UNCHECKED,
    ci_round.CiAction.GIVE_UP: Action.GIVE_UP_ON_CI,
}
"""The action for what follows from the round of CI."""


def decide(s: Snapshot, *, now: datetime) -> Action:
    """Return the next step of a held item."""
    ended = _end_action(s)
    if ended is not None:
        return ended
    if s.fence.stage in WORKING and is_edited(s.fence, s.issue):
        return Action.TAKE_UP_EDIT if s.rewritten else Action.ASK_ABOUT_EDIT
    match s.fence.stage:
        case Stage.IMPLEMENTING:
            return _implementing_action(s)
        case Stage.TESTING:
            return _testing_action(s, now)
        case Stage.AWAITING_APPROVAL:
            return _ANSWERED.get(s.fence.phase, Action.AWAIT_APPROVAL)
        case Stage.REVIEWING:
            return Action.HAND_OVER_UNCHECKED if s.fence.phase in LATE else Action.HAND_OVER
        case _:
            return Action.SHOW_HALT


def _end_action(s: Snapshot) -> Action | None:
    if s.pull_request is not None and s.pull_request.merged:
        return Action.FINISH
    if not s.issue.open or s.issue.locked:
        return Action.WITHDRAW
    if s.pull_request is not None and not s.pull_request.open:
        return Action.WITHDRAW
    return None


def is_edited(fence: Fence, issue: Issue) -> bool:
    """Return whether the issue's text differs from the text that the fence is bound to."""
    return fence.body_sha256 not in {"", body_sha256(issue.title, issue.body)}


def _implementing_action(s: Snapshot) -> Action:
    match NextStep(s.fence.phase or NextStep.RED):
        case NextStep.RED:
            return Action.WRITE_TESTS
        case NextStep.GREEN:
            return Action.IMPLEMENT if s.fence.attempt < s.bounds.attempts else Action.GIVE_UP_ON_ATTEMPTS
        case NextStep.REFACTOR | NextStep.CONFIRMED | NextStep.DECLINED:
            return Action.REFACTOR
        case NextStep.FIX:
            return Action.FIX_CI
        case NextStep.ROUNDS:
            return Action.GIVE_UP_ON_ROUNDS
        case NextStep.CI:
            return Action.READ_CI
        case NextStep.BASE:
            return Action.READ_CI if s.pull_request is None else Action.UPDATE
        case NextStep.ANSWER if s.pull_request is not None:  # what it says is made already, and only to be said
            return Action.ANSWER_REVIEW
        case NextStep.FEEDBACK | NextStep.TEXT | NextStep.ANSWER:  # pragma: no branch - mypy sees that nothing is left
            return Action.READ_CI if s.pull_request is None else Action.ADDRESS_REVIEW


def _testing_action(s: Snapshot, now: datetime) -> Action:
    if s.pull_request is None:
        return Action.OPEN_PULL_REQUEST
    if s.fence.phase == NextStep.ANSWER:
        return Action.ANSWER_REVIEW
    overdue = now - s.fence.at > timedelta(seconds=s.bounds.ci_seconds)
    if s.head is not Head.OURS:
        return _moved_head_action(s, overdue)
    if s.out_of_step:
        return Action.SYNC
    return _AFTER_CI[
        ci_round.decide(
            _ci_round(s, now), ci_round.CiLimits(s.bounds.ci_fixes, s.bounds.ci_seconds, s.bounds.none_is_green)
        )
    ]


def _ci_round(s: Snapshot, now: datetime) -> ci_round.CiRound:
    """Return the state of CI as the round of CI reads it; checks that were red because of the base are rerun first."""
    cause = s.ci.diagnosis.cause if s.ci.diagnosis is not None else Cause.TESTS
    if s.fence.phase == RED_BASE and s.ci.rerunnable and cause is not Cause.BASE:
        cause = Cause.FLAKY
    return ci_round.CiRound(
        s.checks,
        (now - s.fence.at).total_seconds(),
        cause=cause,
        rerunnable=s.ci.rerunnable,
        running=s.ci.running,
        fixes=s.ci_fixes,
        no_ci=s.ci.no_ci,
    )


def _moved_head_action(s: Snapshot, overdue: bool) -> Action:
    """Return the action for a head that is not ours; GitHub shows a push late."""
    if s.head in {Head.AHEAD, Head.REWOUND}:
        return Action.ADOPT
    return Action.ASK_ABOUT_HEAD if s.head is Head.FOREIGN or overdue else Action.WAIT_FOR_CI
