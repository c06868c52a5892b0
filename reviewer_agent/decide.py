"""What the reviewer does next: pure decisions on what it saw."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from reviewer_agent.opinion import Care, Judgement, Opinion
from shared.ci.verdict import Verdict, is_green
from shared.governance.retrying import reviewed_again
from shared.lock.codec import Fence
from shared.models import PullRequest
from shared.workflow import Flag, Stage


class Merge(StrEnum):
    """Who merges an approved pull request: people, the engine after `/merge`, or the engine."""

    NEVER = "never"
    APPROVE = "approve"
    AUTO = "auto"


class Action(StrEnum):
    """One step of the reviewer."""

    FINISH = "finish"
    WITHDRAW = "withdraw"
    BEGIN = "begin"
    REVIEW = "review"
    REOPEN = "reopen"
    LET_GO = "let go of commits that nobody asked about"
    ACCEPT = "accept"
    REQUEST_CHANGES = "request changes"
    GIVE_UP_ON_ROUNDS = "give up: rounds used up"
    GIVE_UP_ON_REVIEWS = "give up: reviews used up"
    GIVE_UP_ON_SIZE = "give up: too large to judge"
    YIELD = "yield to a person"
    MERGE = "merge"
    WAIT = "wait"
    PARK = "wait for a person's order"
    HAND_OVER = "hand over"
    HAND_BACK = "hand back"
    SHOW_HALT = "show that it halted"


class Hindrance(StrEnum):
    """Why an approved pull request is not merged by the engine now."""

    NEVER = "merging is configured to be done by people"
    FLAGGED = "a flag says that a person decides"
    UNSEEN = "the engine's approval of this commit is not on GitHub"
    REQUESTED = "somebody's request for changes still stands"
    FORK = "its branch is in another repository, so a person merges"
    NOT_ORDERED = "it waits for `/merge`"
    BREAKING = "it breaks callers, so a person merges"
    PROTECTED = "it touches protected files or dependencies, so a person merges"
    DISPUTED = "its review objects to what an earlier one had let pass, so a person merges"
    CHECKS_RED = "its checks are red"
    CHECKS_MISSING = "it has no checks"
    CHECKS_RUNNING = "its checks have not finished"
    BASE_RED = "the checks of the base branch are red"
    BASE_RUNNING = "the checks of the base branch have not finished since the last merge"
    STOPPED = "its issue was closed, paused or taken back"


IDLE = frozenset({Action.HAND_OVER, Action.PARK})
"""Actions that only say why nothing happens: no reason to claim."""

OF_CARE = {
    Care.BREAKING: Hindrance.BREAKING,
    Care.PROTECTED: Hindrance.PROTECTED,
    Care.DISPUTED: Hindrance.DISPUTED,
}
"""What a review says of a change that only a person merges."""

ON_ORDER = frozenset({Hindrance.NOT_ORDERED, Hindrance.FORK, *OF_CARE.values()})
"""What a person's `/merge` clears."""

PASSING = frozenset({Hindrance.UNSEEN, Hindrance.CHECKS_RUNNING, Hindrance.BASE_RUNNING})
"""What is worth waiting for with the lease kept."""

UNANNOUNCED = PASSING | {
    Hindrance.REQUESTED,
    Hindrance.CHECKS_RED,
    Hindrance.CHECKS_MISSING,
    Hindrance.BASE_RED,
    Hindrance.STOPPED,
}
"""What can change without GitHub showing the pull request as changed."""

STOPPED = "stopped"
"""The reason in the fence of a review that waits for its issue."""

RED_BASE = "red-base"
"""The reason in the fence of an approved pull request that waits for its base branch."""

HOLDING = frozenset({Flag.HAD_CONFLICT, Flag.MANUAL_INTERVENTION, Flag.PAUSED})
"""Flags with which nothing is merged."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How often and how long; `reviews` counts the heads of one pull request that are taken up."""

    rounds: int = 3
    reviews: int = 10
    ci_seconds: float = 600.0
    none_is_green: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one look at a pull request showed; `opinion` is ours on the commit that the fence names.

    `asked`: somebody who may asks for a review of a head that the fence does not name. `person_asks`:
    somebody requests changes of what we approved. `requested`: any such request stands, however old.
    `base_tip` is the commit of the base branch that `base_checks` are about; `settling`: the last merge made it
    and its checks have not ended. `stopped`: a person stopped its issue; only read when nothing else keeps it
    from being merged.
    """

    fence: Fence
    pull_request: PullRequest
    flags: frozenset[Flag] = frozenset()
    opinion: Opinion | None = None
    asked: bool = False
    person_asks: bool = False
    requested: bool = False
    ordered: bool = False
    checks: Verdict = Verdict.NONE
    base_checks: Verdict = Verdict.NONE
    base_tip: str = ""
    settling: bool = False
    stopped: bool = False
    merge: Merge = Merge.NEVER
    bounds: Bounds = field(default_factory=Bounds)

    @property
    def head_moved(self) -> bool:
        """Whether the head is another commit than the one that the fence names."""
        return self.pull_request.head_sha != self.fence.work_head

    @property
    def again(self) -> bool:
        """Whether a person had it go on after its review of this head: one more review, or one more round."""
        return self.fence.phase == reviewed_again(self.fence.work_head)

    @property
    def needs_order(self) -> bool:
        """Whether only a person's `/merge` merges it."""
        careful = self.opinion is not None and self.opinion.care is not Care.NONE
        return self.merge is Merge.APPROVE or careful or not self.pull_request.from_own_branch


def decide(s: Snapshot, *, now: datetime) -> Action:
    """The next step of a pull request whose fence stands at `s.fence`."""
    if s.pull_request.merged:
        return Action.FINISH
    if not s.pull_request.open:
        return Action.WITHDRAW
    match s.fence.stage:
        case Stage.REVIEWING | Stage.IN_REVIEW | Stage.APPROVED if s.head_moved:
            # Whoever can push to a pull request may be anybody: a push alone does not buy a review.
            return Action.REOPEN if s.asked else Action.LET_GO
        case Stage.REVIEWING:
            return Action.BEGIN
        case Stage.IN_REVIEW:
            return _in_review(s)
        case Stage.APPROVED:
            return _approved(s, now)
        case Stage.CHANGES_REQUESTED:
            return Action.HAND_BACK
        case _:
            return Action.SHOW_HALT


def _in_review(s: Snapshot) -> Action:
    if s.opinion is None:
        return Action.REVIEW if s.fence.attempt < s.bounds.reviews else Action.GIVE_UP_ON_REVIEWS
    if s.opinion.judgement is Judgement.APPROVED:
        return Action.ACCEPT
    if s.opinion.judgement is Judgement.INCOMPLETE:
        return Action.REVIEW if s.again else Action.GIVE_UP_ON_SIZE
    return Action.REQUEST_CHANGES if s.again or s.fence.round + 1 < s.bounds.rounds else Action.GIVE_UP_ON_ROUNDS


def _approved(s: Snapshot, now: datetime) -> Action:
    if s.person_asks:
        return Action.YIELD
    reason = hindrance(s)
    if reason is None:
        return Action.MERGE
    if reason in ON_ORDER:
        return Action.PARK
    overdue = now - s.fence.at > timedelta(seconds=s.bounds.ci_seconds)
    return Action.WAIT if reason in PASSING and not overdue else Action.HAND_OVER


def hindrance(s: Snapshot) -> Hindrance | None:
    """The first reason not to merge the head that the fence names; None when it may be merged.

    Nothing is merged without our own approval of exactly this commit and without green checks.
    """
    if s.merge is Merge.NEVER:
        return Hindrance.NEVER
    if s.flags & HOLDING:
        return Hindrance.FLAGGED
    if s.opinion is None or s.opinion.sha != s.fence.work_head or s.opinion.judgement is not Judgement.APPROVED:
        return Hindrance.UNSEEN
    if s.requested:
        return Hindrance.REQUESTED
    return _missing_order(s, s.opinion.care) or _ci(s) or (Hindrance.STOPPED if s.stopped else None)


def _missing_order(s: Snapshot, care: Care) -> Hindrance | None:
    if s.ordered or not s.needs_order:
        return None
    if not s.pull_request.from_own_branch:
        return Hindrance.FORK
    return OF_CARE.get(care, Hindrance.NOT_ORDERED)


def _ci(s: Snapshot) -> Hindrance | None:
    if s.checks is Verdict.RED:
        return Hindrance.CHECKS_RED
    if s.checks in {Verdict.RUNNING, Verdict.UNKNOWN}:
        return Hindrance.CHECKS_RUNNING
    if not is_green(s.checks, none_is_green=s.bounds.none_is_green):
        return Hindrance.CHECKS_MISSING
    if s.base_checks is Verdict.RED:
        return Hindrance.BASE_RED
    return Hindrance.BASE_RUNNING if s.settling else None
