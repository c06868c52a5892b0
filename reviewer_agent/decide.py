"""The reviewer's next step, decided from one snapshot (pure)."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from reviewer_agent.merge.blockers import ON_ORDER, PASSING, Blocker
from reviewer_agent.merge.merge_decision import first_blocker
from reviewer_agent.review.verdict import Judgement
from reviewer_agent.snapshot import PASSED_ON, Snapshot
from shared.workflow import Stage
from shared.workflow.labels import Flag


class Action(StrEnum):
    """One step of the reviewer."""

    FINISH = "finish"
    WITHDRAW = "withdraw"
    BEGIN = "begin"
    REVIEW = "review"
    REOPEN = "reopen"
    READ_ANEW = "review again, by another text of its issue"
    LET_GO = "let go of commits that nobody asked about"
    ACCEPT = "accept"
    REQUEST_CHANGES = "request changes"
    SEND_BACK = "send back to have its CI repaired"
    SEND_TO_BASE = "send back to have its base merged in"
    PUT_OFF = "put off until its checks are not red"
    GIVE_UP_ON_ROUNDS = "give up: rounds used up"
    GIVE_UP_ON_REVIEWS = "give up: reviews used up"
    GIVE_UP_ON_SIZE = "give up: too large to judge"
    YIELD = "yield to a person"
    MERGE = "merge"
    ENQUEUE = "have GitHub's merge queue merge it"
    COOL = "wait for the time of the merge"
    WAIT = "wait"
    PARK = "wait for a person's order"
    HAND_OVER = "hand over"
    HAND_BACK = "hand back"
    SHOW_HALT = "show that it halted"


IDLE = frozenset({Action.HAND_OVER, Action.PARK})
"""Actions that only report why nothing happens: no reason to claim."""


def decide(s: Snapshot, *, now: datetime) -> Action:
    """Return the next step of a pull request whose fence is at `s.fence`."""
    if s.pull_request.merged:
        return Action.FINISH
    if not s.pull_request.open:
        return Action.WITHDRAW
    match s.fence.stage:
        case Stage.REVIEWING | Stage.IN_REVIEW | Stage.APPROVED if s.head_moved:
            # Whoever can push to a pull request may be anybody: a push alone does not buy a review.
            return Action.REOPEN if s.review_asked else Action.LET_GO
        case Stage.APPROVED if s.review_asked:
            return Action.REOPEN
        case Stage.REVIEWING:
            return Action.BEGIN
        case Stage.IN_REVIEW:
            return _decide_in_review(s)
        case Stage.APPROVED:
            return _decide_approved(s, now)
        case Stage.CHANGES_REQUESTED:
            return Action.HAND_BACK
        case _:
            return Action.SHOW_HALT


def _decide_in_review(s: Snapshot) -> Action:
    if s.verdict is None and s.repairable:
        return Action.PUT_OFF if s.sent_back else Action.SEND_BACK
    if s.verdict is None and s.updatable and not s.sent_to_base:
        return Action.SEND_TO_BASE
    if s.verdict is None:
        return Action.REVIEW if s.fence.attempt < s.bounds.reviews else Action.GIVE_UP_ON_REVIEWS
    if s.verdict.judgement is Judgement.APPROVED:
        return Action.ACCEPT
    if s.verdict.judgement is Judgement.INCOMPLETE:
        return Action.REVIEW if s.again else Action.GIVE_UP_ON_SIZE
    return Action.REQUEST_CHANGES if s.again or s.fence.round + 1 < s.bounds.rounds else Action.GIVE_UP_ON_ROUNDS


def _decide_approved(s: Snapshot, now: datetime) -> Action:
    if s.person_asks and s.times_passed_on < PASSED_ON:
        return Action.YIELD
    if s.repairable and not s.sent_back and Flag.MANUAL_INTERVENTION not in s.flags:
        return Action.SEND_BACK
    if s.updatable and not s.sent_to_base and not s.waits_behind and Flag.MANUAL_INTERVENTION not in s.flags:
        return Action.SEND_TO_BASE
    reason = first_blocker(s)
    if reason is Blocker.REFUSED and s.fence.wait is not None and s.fence.wait.until <= now:
        reason = None  # once more
    if reason is None and s.reworded:
        return Action.READ_ANEW
    if reason is None:
        merge = Action.ENQUEUE if s.queue else Action.MERGE
        return Action.COOL if s.cool_at is not None and now < s.cool_at else merge
    if reason in ON_ORDER:
        return Action.PARK
    overdue = now - s.fence.at > timedelta(seconds=s.bounds.ci_seconds)
    return Action.WAIT if reason in PASSING and not overdue else Action.HAND_OVER
