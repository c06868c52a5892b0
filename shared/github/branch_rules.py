"""GitHub's rules for changes to a branch: rulesets and classic protection, as far as server and token show them.

A server without rulesets answers 404 to them, and a token without administration rights gets 403 or 404 for classic
protection: everywhere in the engine that means that no requirement is known.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from enum import StrEnum
from functools import reduce
from typing import Any

from shared.errors import NotAllowed
from shared.github import wire
from shared.github.address import segment
from shared.github.client import GitHub
from shared.github.errors import NotFound

DISMISS_STALE = "Dismiss stale pull request approvals when new commits are pushed"
LAST_PUSH = "Require approval of the most recent reviewable push"
"""The two settings, in the words of GitHub's page: with both, no approval is of another commit than the merged one."""


async def rules(github: GitHub, repository: str, branch: str) -> list[Any]:
    """Return the rules of all rulesets that hold for a branch, as GitHub shows them; raises `Transient`."""
    try:
        return await github.pages(f"/repos/{repository}/rules/branches/{segment(branch)}")
    except (NotFound, NotAllowed):
        return []


REFUSE_PUSHES = {
    "creation": "creating branches",
    "update": "updating branches",
    "required_signatures": "signed commits",
    "pull_request": "pull requests",
    "required_status_checks": "checks before a push",
    "branch_name_pattern": "names of branches",
    "commit_message_pattern": "messages of commits",
    "commit_author_email_pattern": "addresses of authors",
    "committer_email_pattern": "addresses of committers",
}
"""Types of rules that may refuse a push, and what each is about."""


async def refusing_pushes(github: GitHub, repository: str, branch: str) -> tuple[str, ...]:
    """Return what the rules are about that may refuse a push to `branch`; those may hold for others alone.

    GitHub shows the same rules to accounts that may bypass them. Raises `Transient`.
    """
    found = {str(one.get("type")) for one in await rules(github, repository, branch)}
    return tuple(said for kind, said in REFUSE_PUSHES.items() if kind in found)


async def _classic(github: GitHub, repository: str, branch: str) -> Any | None:
    """Return the classic protection of a branch, as GitHub shows it; None if there is none to be seen."""
    try:
        return await github.get(f"/repos/{repository}/branches/{segment(branch)}/protection")
    except (NotFound, NotAllowed):
        return None


@dataclass(frozen=True, slots=True)
class MergeRules:
    """Requirements for a merge besides green checks; the requirements of several rules add up.

    `last_push`: an approval by somebody other than the author of the last push. `conversations`: all of them resolved.
    `up_to_date`: the branch has all that its base has. `queue`: merges go through GitHub's merge queue. `dismisses`:
    a push dismisses the approvals of earlier commits. `pull_requests`: the branch changes by pull requests only.
    `other`: something else, which GitHub alone can tell.
    """

    approvals: int = 0
    code_owners: bool = False
    last_push: bool = False
    conversations: bool = False
    up_to_date: bool = False
    queue: bool = False
    dismisses: bool = False
    pull_requests: bool = False
    other: bool = False

    def __or__(self, other: MergeRules) -> MergeRules:
        return MergeRules(*map(max, astuple(self), astuple(other)))


async def merge_rules(github: GitHub, repository: str, branch: str) -> MergeRules:
    """Return the requirements for a merge into `branch`; only administrators see classic protection."""
    found = await rules(github, repository, branch)
    classic = await _classic(github, repository, branch)
    by_protection = MergeRules() if classic is None else wire.read(_protection, classic)
    return reduce(MergeRules.__or__, wire.each(_rule, found), by_protection)


async def missing_for_approvals(github: GitHub, repository: str, branch: str) -> tuple[str, ...] | None:
    """Return which of `DISMISS_STALE` and `LAST_PUSH` `branch` lacks; None if no rule asks for pull requests.

    Only administrators see classic protection. Raises `Transient`.
    """
    found = await merge_rules(github, repository, branch)
    settings = {DISMISS_STALE: found.dismisses, LAST_PUSH: found.last_push}
    return tuple(one for one, is_set in settings.items() if not is_set) if found.pull_requests else None


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
                pull_requests=True,
            )
        case "required_status_checks":
            return MergeRules(up_to_date=bool(asked.get("strict_required_status_checks_policy")))
        case "merge_queue":
            return MergeRules(queue=True)
        case "creation" | "deletion" | "non_fast_forward":  # about the branch itself, not about what is merged into it
            return MergeRules()
        case _:
            return MergeRules(other=True)


def _protection(value: Any) -> MergeRules:
    reviews = value.get("required_pull_request_reviews") or {}
    return MergeRules(
        approvals=int(reviews.get("required_approving_review_count") or 0),
        code_owners=bool(reviews.get("require_code_owner_reviews")),
        last_push=bool(reviews.get("require_last_push_approval")),
        conversations=bool((value.get("required_conversation_resolution") or {}).get("enabled")),
        up_to_date=bool((value.get("required_status_checks") or {}).get("strict")),
        dismisses=bool(reviews.get("dismiss_stale_reviews")),
        pull_requests="required_pull_request_reviews" in value,
    )


class Protection(StrEnum):
    """The protection of a branch."""

    ABSENT = "absent"
    """There is no such branch."""
    NONE = "none"
    PUSHABLE = "pushable"
    """Protected, but no rule asks for pull requests."""
    PULL_REQUESTS = "pull requests"
    """It changes by pull requests only."""
    UNKNOWN = "unknown"
    """Protected in a way that only administrators can see."""


async def protection(github: GitHub, repository: str, branch: str) -> Protection:
    """Return the protection of `branch`, by rulesets (which everybody sees) or classic protection (which few do)."""
    path = f"/repos/{repository}/branches/{segment(branch)}"
    try:
        protected = wire.read(_protected, await github.get(path))
    except NotFound:
        return Protection.ABSENT
    found = wire.each(_rule, await rules(github, repository, branch))
    if any(one.pull_requests for one in found):
        return Protection.PULL_REQUESTS
    if not protected:
        return Protection.NONE
    classic = await _classic(github, repository, branch)
    if classic is None:
        return Protection.PUSHABLE if found else Protection.UNKNOWN
    return Protection.PULL_REQUESTS if wire.read(_protection, classic).pull_requests else Protection.PUSHABLE


def _protected(value: Any) -> bool:
    return bool(value["protected"])
