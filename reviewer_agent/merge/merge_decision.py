"""The order in which the reasons against merging an approved pull request are checked (pure)."""

from __future__ import annotations

from reviewer_agent.links import is_revert
from reviewer_agent.merge.blockers import OF_CARE, Blocker
from reviewer_agent.review.verdict import Judgement, PersonOnly
from reviewer_agent.snapshot import Merge, Snapshot
from shared.ci.verdict import CiVerdict, is_green
from shared.workflow.labels import Flag


def first_blocker(s: Snapshot) -> Blocker | None:
    """Return the first reason not to merge the fence's head; None if it may be merged, once its cooling time is over.

    Nothing is merged without our own approval of exactly this commit and without green checks.
    """
    if s.merge is Merge.NEVER:
        return Blocker.NEVER
    if is_revert(s.pull_request):
        return Blocker.REVERT
    if s.flags:
        return Blocker.RESOLVED if s.flags == {Flag.HAD_CONFLICT} else Blocker.FLAGGED
    if s.barred:
        return Blocker.BARRED
    if s.verdict is None or s.verdict.sha != s.fence.work_head or s.verdict.judgement is not Judgement.APPROVED:
        return Blocker.UNSEEN
    if s.requested:
        return Blocker.REQUESTED
    if s.waits_behind:
        return Blocker.TURN
    missing = _order_blocker(s, s.verdict.care)
    conflict = s.held_up or Blocker.CONFLICT if s.pull_request.out_of_step else None
    remarked = Blocker.REMARKED if s.remarked_by else None
    return missing or conflict or _ci_blocker(s) or _rule_blocker(s) or s.held_up or remarked or _text_blocker(s)


def _text_blocker(s: Snapshot) -> Blocker | None:
    """Return `REWORDED` if the issue's new text needs a review and none is left."""
    return Blocker.REWORDED if s.reworded and s.fence.attempt + 1 >= s.bounds.reviews else None


def _rule_blocker(s: Snapshot) -> Blocker | None:
    """Return the reason for which GitHub would refuse the merge."""
    if s.unmet:
        return Blocker.REQUIRED
    if s.outside is not None and s.outside.held:
        return Blocker.TAKEN_OUT
    return Blocker.REFUSED if s.refused else None


def _order_blocker(s: Snapshot, care: PersonOnly) -> Blocker | None:
    if s.ordered or not s.needs_order:
        return None
    if s.own_order:
        return Blocker.OWN_ORDER
    if not s.pull_request.from_own_branch:
        return Blocker.FORK
    large = Blocker.LARGE if s.large and s.merge is Merge.AUTO else Blocker.NOT_ORDERED
    return OF_CARE.get(care, large)


def _ci_blocker(s: Snapshot) -> Blocker | None:
    if s.checks is CiVerdict.RED:
        return Blocker.CHECKS_RED
    if s.checks in {CiVerdict.RUNNING, CiVerdict.UNKNOWN}:
        return Blocker.CHECKS_AWAITED if s.awaited else Blocker.CHECKS_RUNNING
    if not is_green(s.checks, none_is_green=s.bounds.none_is_green):
        if not s.no_ci:
            return Blocker.CHECKS_MISSING
        if not s.ordered:
            return Blocker.OWN_ORDER if s.own_order else Blocker.NO_CI
    if s.base_checks is CiVerdict.RED:
        return Blocker.BASE_RED
    return Blocker.BASE_RUNNING if s.settling else None
