"""The links from a pull request to its issue (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shared.git.names import issue_of_branch
from shared.models import PullRequest

_CLOSES = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):? +#(\d{1,10})\b", re.IGNORECASE)
"""GitHub's own keywords for closing an issue."""

_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
"""HTML comments, such as a template's instructions; a link in them does not count."""


def issue_closed_by(pull_request: PullRequest) -> int | None:
    """Return the issue that the merge closes according to the body: the change is judged against it."""
    found = _CLOSES.search(_HIDDEN.sub("", pull_request.body))
    return int(found[1]) if found else None


def issue_of(pull_request: PullRequest) -> int | None:
    """Return the issue whose work branch is the head; None for a person's branch and for a fork's of any name."""
    return issue_of_branch(pull_request.head_branch) if pull_request.from_own_branch else None


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a pull request; only what is `ours`, of a work branch, has a worker that can change it."""

    ours: bool = True

    @classmethod
    def of(cls, pull_request: PullRequest) -> Source:
        """Return the origin by the branch."""
        return cls(issue_of(pull_request) is not None)


_REVERT = re.compile(r"auto/revert-[1-9]\d{0,9}")


def revert_branch(number: int) -> str:
    """Return the branch on which the merge of a pull request is reverted."""
    return f"auto/revert-{number}"


def is_revert(pull_request: PullRequest) -> bool:
    """Return whether the pull request is the engine's proposal to revert a merge, which only people merge."""
    return pull_request.from_own_branch and _REVERT.fullmatch(pull_request.head_branch) is not None
