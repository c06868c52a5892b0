"""Requirements of the base branch that an approved pull request does not meet yet, by name (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from shared.github.merge_rules import MergeRules
from shared.models import PullRequest, Review

_LETS_MERGE = frozenset({"clean", "unstable", "has_hooks"})
"""GitHub's merge states of a pull request that it would merge now."""

_BLOCKED = "blocked"
"""GitHub's merge state of one that lacks something which a rule requires."""


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
