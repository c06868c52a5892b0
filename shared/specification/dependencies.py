"""The issues that an issue waits for, by its text and by GitHub's own relationships (pure)."""

from __future__ import annotations

from collections.abc import Iterable

from shared.models import Blocker, Issue
from shared.specification import read


def written(issue: Issue) -> tuple[int, ...]:
    """Return the numbers that the issue's text depends on, except itself and its story, which ends only after it."""
    own = _own_numbers(issue)
    return tuple(number for number in read(issue.body).depends_on if number not in own)


def holding(issue: Issue, blockers: Iterable[Blocker]) -> tuple[Blocker, ...]:
    """Return the open blockers by GitHub's relationships, with the same exceptions."""
    own = _own_numbers(issue)
    return tuple(one for one in blockers if one.open and (one.repository or one.number not in own))


def _own_numbers(issue: Issue) -> set[int | None]:
    return {issue.number, read(issue.body).part_of}
