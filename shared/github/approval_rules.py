"""A branch's requirements for the approvals of a pull request, by rulesets and by classic protection together."""

from __future__ import annotations

from typing import Any

from shared.github import branch_rules, wire
from shared.github.client import GitHub

DISMISS_STALE = "Dismiss stale pull request approvals when new commits are pushed"
LAST_PUSH = "Require approval of the most recent reviewable push"
"""The two settings, in the words of GitHub's page: with both, no approval is of another commit than the merged one."""

_RULE = {"dismiss_stale_reviews_on_push": DISMISS_STALE, "require_last_push_approval": LAST_PUSH}
_CLASSIC = {"dismiss_stale_reviews": DISMISS_STALE, "require_last_push_approval": LAST_PUSH}


async def missing(github: GitHub, repository: str, branch: str) -> tuple[str, ...] | None:
    """Return which of the two settings `branch` lacks; None if no rule that this token sees asks for pull requests.

    Only administrators see classic protection. Raises `Transient`.
    """
    rules = await branch_rules.rules(github, repository, branch)
    found = [one for one in wire.each(_rule, rules) if one is not None]
    if (protection := await branch_rules.classic(github, repository, branch)) is not None:
        asked = wire.read(_reviews, protection)
        found += [] if asked is None else [asked]
    if not found:
        return None
    there = frozenset[str]().union(*found)
    return tuple(setting for setting in (DISMISS_STALE, LAST_PUSH) if setting not in there)


def _rule(value: Any) -> frozenset[str] | None:
    """Return the settings of one rule; None if it is not about pull requests."""
    if value["type"] != "pull_request":
        return None
    asked = value.get("parameters") or {}
    return frozenset(setting for key, setting in _RULE.items() if asked.get(key))


def _reviews(value: Any) -> frozenset[str] | None:
    asked = value.get("required_pull_request_reviews")
    return None if asked is None else frozenset(setting for key, setting in _CLASSIC.items() if asked.get(key))
