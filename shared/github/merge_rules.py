"""A branch's requirements for a merge: rulesets and classic protection together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

from shared.github import branch_rules, wire
from shared.github.client import GitHub
from shared.newest import Newest

RULES_SECONDS = 600.0
"""Seconds for which the rules of a branch are used as read last."""


@dataclass(frozen=True, slots=True)
class MergeRules:
    """Requirements for a merge besides green checks; the requirements of several rules add up.

    `last_push`: an approval by somebody other than the author of the last push. `conversations`: all of them resolved.
    `up_to_date`: the branch has all that its base has. `queue`: merges go through GitHub's merge queue. `dismisses`:
    a push dismisses the approvals of earlier commits.
    """

    approvals: int = 0
    code_owners: bool = False
    last_push: bool = False
    conversations: bool = False
    up_to_date: bool = False
    queue: bool = False
    dismisses: bool = False

    def __or__(self, other: MergeRules) -> MergeRules:
        return MergeRules(
            max(self.approvals, other.approvals),
            self.code_owners or other.code_owners,
            self.last_push or other.last_push,
            self.conversations or other.conversations,
            self.up_to_date or other.up_to_date,
            self.queue or other.queue,
            self.dismisses or other.dismisses,
        )


class BranchRules:
    """The rules of one repository's branches, as far as this token sees them."""

    def __init__(self, github: GitHub, repository: str) -> None:
        self._github = github
        self._repository = repository
        self._known: Newest[str, tuple[float, MergeRules]] = Newest()

    async def of(self, branch: str) -> MergeRules:
        """Return the requirements for a merge into `branch`; only administrators see classic protection.

        Read anew after `RULES_SECONDS`. Raises `Transient`.
        """
        now = self._github.clock.boot()
        at, known = self._known.get(branch, (now, None))
        if known is None or now - at >= RULES_SECONDS:
            known = await self._read(branch)
            self._known[branch] = now, known
        return known

    async def _read(self, branch: str) -> MergeRules:
        rules = await branch_rules.rules(self._github, self._repository, branch)
        protection = await branch_rules.classic(self._github, self._repository, branch)
        by_protection = MergeRules() if protection is None else wire.read(_protection, protection)
        return reduce(MergeRules.__or__, wire.each(_rule, rules), by_protection)


def _rule(value: Any) -> MergeRules:
    asked = value.get("parameters") or {}
    match value["type"]:
        case "pull_request":
            return MergeRules(
                approvals=int(asked.get("required_approving_review_count") or 0),
                code_owners=bool(asked.get("require_code_owner_review")),
                last_push=bool(asked.get("require_last_push_approval")),
                conversations=bool(asked.get("required_review_thread_resolution")),
                dismisses=bool(asked.get("dismiss_stale_reviews_on_push")),
            )
        case "required_status_checks":
            return MergeRules(up_to_date=bool(asked.get("strict_required_status_checks_policy")))
        case "merge_queue":
            return MergeRules(queue=True)
        case _:
            return MergeRules()


def _protection(value: Any) -> MergeRules:
    reviews = value.get("required_pull_request_reviews") or {}
    return MergeRules(
        approvals=int(reviews.get("required_approving_review_count") or 0),
        code_owners=bool(reviews.get("require_code_owner_reviews")),
        last_push=bool(reviews.get("require_last_push_approval")),
        conversations=bool((value.get("required_conversation_resolution") or {}).get("enabled")),
        up_to_date=bool((value.get("required_status_checks") or {}).get("strict")),
        dismisses=bool(reviews.get("dismiss_stale_reviews")),
    )
