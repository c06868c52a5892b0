"""How the issues of one repository hang together: sub-issues, and what blocks what."""

from __future__ import annotations

from lab.github.http.refusals import Refusal, custom
from lab.github.world.issues import Issues

MAX_SUB_ISSUES = 100
"""How many sub-issues one issue may have."""


class Relations:
    """Parents and blockers by issue number, in the order in which they were named."""

    def __init__(self, issues: Issues) -> None:
        self._issues = issues
        self.parents: dict[int, int] = {}
        self.blockers: dict[int, list[int]] = {}

    def children(self, number: int) -> list[int]:
        """The sub-issues that still are in this repository."""
        return [child for child, parent in self.parents.items() if parent == number and self._is_here(child)]

    def parent(self, number: int) -> int | None:
        """The issue that this one is a sub-issue of."""
        found = self.parents.get(number)
        return found if found is not None and self._is_here(found) else None

    def blocked_by(self, number: int) -> list[int]:
        """What blocks an issue and still is in this repository."""
        return [other for other in self.blockers.get(number, []) if self._is_here(other)]

    def blocking(self, number: int) -> list[int]:
        """What an issue blocks."""
        return [other for other in self.blockers if number in self.blocked_by(other) and self._is_here(other)]

    def adopt(self, parent: int, child_id: int, actor: str, *, replace: bool) -> None:
        """Make the issue with that id a sub-issue of `parent`; 404 and 422 as GitHub has them."""
        child = next((issue.number for issue in self._issues.records.values() if issue.id == child_id), None)
        if child is None:
            raise Refusal(404, "The provided sub-issue does not exist")
        present = self.parent(child)
        if present == parent:
            raise _refused("Issue may not contain duplicate sub-issues")
        if present is not None and not replace:
            raise _refused("Sub issue may only have one parent")
        if child in self._ancestors(parent):
            raise _refused("Sub issue may not create a circular dependency")
        if len(self.children(parent)) >= MAX_SUB_ISSUES:
            raise _refused(f"Parent cannot have more than {MAX_SUB_ISSUES} sub-issues")
        self.parents.pop(child, None)
        self.parents[child] = parent
        self._tell(parent, "sub_issue_added", child, actor)
        self._tell(child, "parent_issue_added", parent, actor)

    def block(self, number: int, by: int, actor: str) -> None:
        """One issue waits for another."""
        for one in (number, by):
            self._issues.require(one)
        self.blockers.setdefault(number, []).append(by)
        self._tell(number, "blocked_by_added", by, actor)
        self._tell(by, "blocking_added", number, actor)

    def unblock(self, number: int, by: int, actor: str) -> None:
        """One issue no longer waits for another."""
        self.blockers[number].remove(by)
        self._tell(number, "blocked_by_removed", by, actor)
        self._tell(by, "blocking_removed", number, actor)

    def _is_here(self, number: int) -> bool:
        return self._issues.records.get(number) is not None

    def _ancestors(self, number: int) -> set[int]:
        found = {number}
        parent = self.parent(number)
        while parent is not None and parent not in found:
            found.add(parent)
            parent = self.parent(parent)
        return found

    def _tell(self, number: int, event: str, other: int, actor: str) -> None:
        self._issues.record(number, event, actor, {"issue": str(other)})
        self._issues.touch(number)


def _refused(why: str) -> Refusal:
    return custom("Issue", f"An error occurred while adding the sub-issue to the parent issue. {why}")
