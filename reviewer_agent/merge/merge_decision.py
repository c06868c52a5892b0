"""The reasons against merging an approved pull request: their order, and the rules that it does not meet yet (pure)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from reviewer_agent.links import is_revert
from reviewer_agent.merge.blockers import OF_CARE, Blocker
from reviewer_agent.review.verdict import Judgement, PersonOnly
from reviewer_agent.snapshot import Merge, Snapshot
from shared.ci.verdict import CiVerdict, is_green
from shared.github.branch_rules import MergeRules
from shared.models import PullRequest, Review
from shared.workflow.labels import Flag

_LETS_MERGE = frozenset({"clean", "unstable", "has_hooks"})
"""GitHub's merge states of a pull request that it would merge now."""

_BLOCKED = "blocked"
"""GitHub's merge state of one that lacks something which a rule requires."""

_UNKNOWN = "unknown"
"""GitHub's merge state until it has been computed."""


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
    if s.undecided:
        return Blocker.UNDECIDED
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


def is_undecided(rules: MergeRules, required: Collection[str], pull_request: PullRequest) -> bool:
    """Return whether GitHub still computes if the rules of the base branch are met; in its queue it checks them itself.

    A merge is not tried to find that out: GitHub lets administrators, and others who may bypass rules, merge whatever
    lacks something, without a word.
    """
    has_rules = rules != MergeRules() or bool(required)
    return has_rules and not rules.queue and pull_request.merge_state == _UNKNOWN


def unmet(rules: MergeRules, pull_request: PullRequest, approving: Sequence[Review]) -> tuple[str, ...]:
    """Return what is missing, each as a noun that stands after "waits for"; empty if GitHub would merge.

    `approving` are the standing approvals that count for GitHub. If GitHub says that something is missing that cannot
    be counted from here, everything that may be missing is named.
    """
    state = pull_request.merge_state
    if state in _LETS_MERGE:
        return ()
    lacking = rules.approvals - len(approving)
    named = [_approvals(lacking)] if lacking > 0 else []
    if rules.last_push and not any(one.head_sha == pull_request.head_sha for one in approving) and not named:
        named.append("an approval of its newest commit by somebody who did not push it")
    if state != _BLOCKED or rules.queue:
        return tuple(named)
    if rules.code_owners:
        named.append("the approval of a code owner of each file")
    if rules.conversations:
        named.append("every conversation to be resolved")
    return tuple(named) or ("what its rules ask for, which GitHub names beside the merge button",)


def _approvals(count: int) -> str:
    return "1 approval of a person" if count == 1 else f"{count} approvals of people"
