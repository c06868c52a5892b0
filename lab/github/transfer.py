"""An issue moves to another repository: text, comments and what is known there go along; events stay."""

from __future__ import annotations

from dataclasses import replace

from lab.github.http.refusals import custom
from lab.github.world.issues import IssueRecord
from lab.github.world.repository import RepositoryRecord


def issue(source: RepositoryRecord, number: int, target: RepositoryRecord, actor: str) -> IssueRecord:
    """Move an issue; labels that the target does not define and people without access there are left behind.

    Raises 422 for a pull request: GitHub moves issues only.
    """
    old = source.issues.require(number)
    if old.is_pull:
        raise custom("Issue", "Pull requests cannot be transferred.")
    arrived = target.issues.open(old.author, old.title, old.body)
    target.issues.records.change(
        arrived.number,
        labels=tuple(name for name in old.labels if target.labels.find(name) is not None),
        assignees=tuple(login for login in old.assignees if target.facts.reaches(login, "write")),
        **{name: getattr(old, name) for name in _KEPT},
    )
    for comment in source.comments.of(number):
        source.comments.records.remove(comment.id)
        target.comments.records.put(comment.id, replace(comment, number=arrived.number))
    source.issues.leave(number, target.facts.id, arrived.number)
    target.issues.record(arrived.number, "transferred", actor)
    return target.issues.touch(arrived.number)


_KEPT = ("created_at", "open", "state_reason", "closed_at", "closed_by", "locked", "comments")
"""Fields that a transferred issue keeps besides its text."""
