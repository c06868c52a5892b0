"""Issues as lists keep them, thousands of them: without the parts that only a single reading is used for."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

from shared.github import wire
from shared.models import Account, Issue
from shared.specification import touched
from shared.text import digest
from shared.text.markdown import unticked

BRIEF = 2000
"""Most characters that are kept of a body."""

_NAMES_AN_ITEM = re.compile(r"^.*#\d.*$", re.MULTILINE)


def issues(value: Any) -> tuple[Issue, ...]:
    """Return one page of a list of issues, each as `brief` keeps it; raises `Transient` for anything else."""
    return wire.read(_page, value)


def brief(issue: Issue) -> Issue:
    """Return the issue with those lines of its body that name others, like `Depends on #4`, and the files in it.

    Lists decide by no more than that. A last line, a hash of the whole body, shows that it was edited; a tick is no
    edit. Equal labels and accounts become the same object.
    """
    lines = "\n".join(_NAMES_AN_ITEM.findall(issue.body))[:BRIEF]
    body = f"{lines}\n{digest(unticked(issue.body))[:16]}" if issue.body else ""
    assignees = tuple(map(_same_account, issue.assignees))
    author = _same_account(issue.author)
    files = () if issue.is_pull_request else tuple(sorted(touched(issue.body)))
    kept = replace(issue, body=body, labels=_same_labels(issue.labels), author=author, assignees=assignees)
    return replace(kept, files=files)


def _page(value: Any) -> tuple[Issue, ...]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return tuple(brief(wire.issue(item)) for item in value)


@lru_cache(maxsize=4096)
def _same_labels(labels: frozenset[str]) -> frozenset[str]:
    return labels


@lru_cache(maxsize=4096)
def _same_account(account: Account) -> Account:
    return account
