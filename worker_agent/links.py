"""The references between an issue and its pull request (pure)."""

from __future__ import annotations

import re

from shared.git.names import issue_of_branch
from shared.models import PullRequest

_CLOSES = re.compile(r"^Closes #(\d{1,10})\b", re.MULTILINE)


def issue_named_by(body: str) -> int | None:
    """Return the issue that a pull request body says it closes: only a hint, the branch decides."""
    found = _CLOSES.search(body)
    return int(found[1]) if found else None


def issue_of(pull_request: PullRequest) -> int | None:
    """Return the issue whose work branch is the head of a pull request; None for a person's branch."""
    return issue_of_branch(pull_request.head_branch)
