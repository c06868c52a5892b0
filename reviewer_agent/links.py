"""How a pull request names the issue it belongs to (pure)."""

from __future__ import annotations

import re

from shared.git.names import issue_of_branch
from shared.models import PullRequest

_CLOSES = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):? +#(\d{1,10})\b", re.IGNORECASE)
"""GitHub's own words for it."""

_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
"""What a template says to its reader is no link."""


def issue_named_by(pull_request: PullRequest) -> int | None:
    """The issue that the body says is closed by the merge: what the change is judged against."""
    found = _CLOSES.search(_HIDDEN.sub("", pull_request.body))
    return int(found[1]) if found else None


def issue_of(pull_request: PullRequest) -> int | None:
    """The issue whose work branch is the head; None for a person's branch and for a fork's of any name."""
    return issue_of_branch(pull_request.head_branch) if pull_request.from_own_branch else None


_REVERT = re.compile(r"auto/revert-[1-9]\d{0,9}")


def revert_branch(number: int) -> str:
    """The branch on which the merge of a pull request is taken back."""
    return f"auto/revert-{number}"


def is_revert(pull_request: PullRequest) -> bool:
    """Whether it takes back a merge, as the engine proposes: people alone merge it."""
    return pull_request.from_own_branch and _REVERT.fullmatch(pull_request.head_branch) is not None
