"""The link from a pull request to its issue (pure)."""

from __future__ import annotations

from shared.git.names import issue_of_branch
from shared.models import PullRequest


def issue_of(pull_request: PullRequest) -> int | None:
    """Return the issue whose work branch is the head of a pull request; None for a person's branch."""
    return issue_of_branch(pull_request.head_branch)
