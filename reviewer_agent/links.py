"""How a pull request names the issue it belongs to (pure)."""

from __future__ import annotations

import re

from shared.models import PullRequest

_CLOSES = re.compile(r"^Closes #(\d{1,10})\b", re.MULTILINE)
_BRANCH = re.compile(r"auto/issue-(\d{1,10})")


def issue_named_by(pull_request: PullRequest) -> int | None:
    """The issue that the body says is closed by the merge: what the change is judged against."""
    found = _CLOSES.search(pull_request.body)
    return int(found[1]) if found else None


def issue_of(pull_request: PullRequest) -> int | None:
    """The issue whose work branch is the head; None for a person's branch and for a fork's of any name."""
    found = _BRANCH.fullmatch(pull_request.head_branch) if pull_request.from_own_branch else None
    return int(found[1]) if found else None
