"""A branch's protection against direct pushes, as far as this token can see."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from shared.github import branch_rules, wire
from shared.github.address import segment
from shared.github.client import GitHub
from shared.github.errors import NotFound


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
    rules = await branch_rules.rules(github, repository, branch)
    if "pull_request" in wire.each(_type, rules):
        return Protection.PULL_REQUESTS
    if not protected:
        return Protection.NONE
    classic = await branch_rules.classic(github, repository, branch)
    if classic is None:
        return Protection.UNKNOWN if not rules else Protection.PUSHABLE
    return Protection.PULL_REQUESTS if wire.read(_asks_for_reviews, classic) else Protection.PUSHABLE


def _protected(value: Any) -> bool:
    return bool(value["protected"])


def _type(value: Any) -> str:
    return str(value["type"])


def _asks_for_reviews(value: Any) -> bool:
    return "required_pull_request_reviews" in value
