"""One repository: its permissions, its threads, pull requests and checks, and its git half.

Relations of the issues of one repository: sub-issues, and issues that block others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from lab.github.http.refusals import Refusal, custom
from lab.github.repositories.bare import Bare
from lab.github.world.accounts import LEVELS
from lab.github.world.checks import Checks
from lab.github.world.comments import Comments
from lab.github.world.issues import IssueRecord, Issues
from lab.github.world.labels import LabelBook
from lab.github.world.pulls import Pulls
from lab.github.world.records import Numbering

MERGE_METHODS = ("merge", "squash", "rebase")
"""Methods of merging a pull request."""


@dataclass(frozen=True, slots=True)
class Protection:
    """Requirements of a protected branch for a merge, and for the approvals that it counts.

    `code_owners`: an owner of each changed file by CODEOWNERS has to approve. `last_push`: somebody other than the last
    pusher has to. `conversations`: every inline remark has to be resolved. `strict`: the branch has to be up to date.
    `merge_queue`: nothing is merged but through the queue. `hidden`: by classic protection, which only administrators
    can read; else by rulesets as well, which everybody can.
    """

    checks: tuple[str, ...] = ()
    approvals: int = 0
    dismiss_stale: bool = False
    last_push: bool = False
    code_owners: bool = False
    conversations: bool = False
    strict: bool = False
    merge_queue: bool = False
    hidden: bool = False

    @property
    def reviews(self) -> bool:
        """True if it asks for reviews at all."""
        return self.approvals > 0 or self.code_owners or self.last_push


@dataclass(frozen=True, slots=True)
class Hook:
    """A webhook in a repository's settings: its address, its secret, and its events (none: all of them)."""

    url: str
    secret: str = ""
    events: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RepositoryFacts:
    """Properties of a repository, apart from what happens in it.

    `collaborators` maps login to level; `apps` are the bots' logins of the Apps installed in it; `former_branches` maps
    a branch's name before it was renamed to its present one.
    """

    id: int
    full_name: str
    created_at: int
    default_branch: str = "main"
    private: bool = False
    archived: bool = False
    collaborators: Mapping[str, str] = field(default_factory=dict)
    check_command: str | None = None
    protections: Mapping[str, Protection] = field(default_factory=dict)
    merge_methods: tuple[str, ...] = MERGE_METHODS
    apps: tuple[str, ...] = ()
    hooks: tuple[Hook, ...] = ()
    former_branches: Mapping[str, str] = field(default_factory=dict)

    @property
    def owner(self) -> str:
        """The part of the name before the slash: the login of the owner."""
        return self.full_name.partition("/")[0]

    @property
    def name(self) -> str:
        """The part of the name after the slash."""
        return self.full_name.partition("/")[2]

    def level(self, login: str) -> str:
        """`admin`, `write`, `read` or `none` for an account."""
        if login.lower() == self.owner.lower():
            return "admin"
        known = {one.lower(): level for one, level in self.collaborators.items()}
        return known.get(login.lower(), "none" if self.private else "read")

    def reaches(self, login: str, level: str) -> bool:
        """Return whether the account has at least this level; an installed App is limited by its token alone."""
        return login in self.apps or LEVELS.index(self.level(login)) >= LEVELS.index(level)


class RepositoryRecord:
    """A repository with everything in it. `bare` is its git half.

    `rerun`, set where there is a CI, queues jobs again: it takes a commit and the jobs' names.
    `merging_number` is the pull request that is being merged while `merging` is held.
    """

    def __init__(self, facts: RepositoryFacts, bare: Bare, registrar: Numbering) -> None:
        self.facts = facts
        self.bare = bare
        self.registrar = registrar
        self.labels = LabelBook(registrar)
        self.issues = Issues(registrar, self.labels)
        self.relations = Relations(self.issues)
        self.comments = Comments(registrar, self.issues)
        self.pulls = Pulls(registrar, self.issues)
        self.checks = Checks(registrar)
        self.merging = asyncio.Lock()
        self.merging_number = 0
        self.pushed_at = facts.created_at
        self.rerun: Callable[[str, Collection[str]], None] | None = None

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return self.facts.full_name


MAX_SUB_ISSUES = 100
"""Sub-issues that one issue may have, at most."""


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
        """Return the issues that block this one and still are in this repository."""
        return [other for other in self.blockers.get(number, []) if self._is_here(other)]

    def blocking(self, number: int) -> list[int]:
        """Return the issues that this one blocks."""
        return [other for other in self.blockers if number in self.blocked_by(other) and self._is_here(other)]

    def adopt(self, parent: int, child_id: int, actor: str, *, replace: bool) -> None:
        """Make the issue with that id a sub-issue of `parent`; 404 and 422 as GitHub has them."""
        child = next((issue.number for issue in self._issues.records.values() if issue.id == child_id), None)
        if child is None:
            raise Refusal(404, "The provided sub-issue does not exist")
        present = self.parent(child)
        if present == parent:
            raise _refuse("Issue may not contain duplicate sub-issues")
        if present is not None and not replace:
            raise _refuse("Sub issue may only have one parent")
        if child in self._ancestors(parent):
            raise _refuse("Sub issue may not create a circular dependency")
        if len(self.children(parent)) >= MAX_SUB_ISSUES:
            raise _refuse(f"Parent cannot have more than {MAX_SUB_ISSUES} sub-issues")
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


def _refuse(reason: str) -> Refusal:
    return custom("Issue", f"An error occurred while adding the sub-issue to the parent issue. {reason}")


def transfer_issue(source: RepositoryRecord, number: int, target: RepositoryRecord, actor: str) -> IssueRecord:
    """Move an issue to another repository: text, comments and what is known there go along; events stay.

    Labels that the target does not define and people without access there are left behind.
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
        **{name: getattr(old, name) for name in _KEPT_BY_A_TRANSFER},
    )
    for comment in source.comments.of(number):
        source.comments.records.remove(comment.id)
        target.comments.records.put(comment.id, replace(comment, number=arrived.number))
    source.issues.leave(number, target.facts.id, arrived.number)
    target.issues.record(arrived.number, "transferred", actor)
    return target.issues.touch(arrived.number)


_KEPT_BY_A_TRANSFER = ("created_at", "open", "state_reason", "closed_at", "closed_by", "locked", "comments")
"""Fields that a transferred issue keeps besides its text."""
