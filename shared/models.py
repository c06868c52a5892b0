"""GitHub's objects as frozen values, without I/O.

Adapters turn wire dictionaries into these once; below that edge nobody reads a dictionary.
Times are aware `datetime` values in UTC taken from GitHub's answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

GHOST_ID = 0
"""Account id that stands for a deleted account (`user: null` on the wire)."""


@dataclass(frozen=True, slots=True)
class Repository:
    """One repository as GitHub names it."""

    id: int
    full_name: str
    default_branch: str
    private: bool = False
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Account:
    """A GitHub account; trust goes by `id`, never by `login`."""

    id: int
    login: str


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue, or a pull request seen as an issue."""

    number: int
    title: str
    body: str
    labels: frozenset[str]
    author: Account
    created_at: datetime
    updated_at: datetime
    open: bool = True
    locked: bool = False
    is_pull_request: bool = False
    closed_at: datetime | None = None
    assignees: tuple[Account, ...] = ()
    comments: int = field(default=0, compare=False)
    """Number of comments in its thread; a further comment is no change of the issue itself."""
    blocked_by: int = 0
    """Number of open issues that block it by GitHub's own relationships, whatever its text says."""
    draft: bool = False
    """True for a pull request that its author has not marked as ready."""
    files: tuple[str, ...] = field(default=(), compare=False)
    """Files that its text names as those of the work. Only lists fill it; elsewhere `body` is whole and names them."""

    @property
    def untouched(self) -> bool:
        """True if nothing has happened since the second in which it was opened: its author set its labels."""
        return self.updated_at == self.created_at


@dataclass(frozen=True, slots=True)
class Blocker:
    """An issue that blocks another one by GitHub's own relationship; it may be of another repository."""

    number: int
    repository: str
    """`owner/repo`; empty if it is the blocked issue's own repository."""
    open: bool


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment in the thread of issue or pull request `number`; `association` is its author's with the repository."""

    id: int
    number: int
    author: Account
    body: str
    created_at: datetime
    updated_at: datetime
    association: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class LabelEvent:
    """The addition or removal of a label by `actor`."""

    id: int
    label: str
    added: bool
    actor: Account
    at: datetime


@dataclass(frozen=True, slots=True)
class Assignment:
    """The assignment of `assignee` to an item by `actor`."""

    id: int
    assignee: Account
    actor: Account
    at: datetime


class Permission(StrEnum):
    """The permission of an account in a repository."""

    ADMIN = "admin"
    WRITE = "write"
    READ = "read"
    NONE = "none"

    @property
    def may_write(self) -> bool:
        """True for people whose labels, comments and approvals count."""
        return self in {Permission.ADMIN, Permission.WRITE}


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request; every check, review and merge is bound to `head_sha`.

    `head_repository` and `base_repository` are `owner/repo`; the head's is empty if it was deleted. `behind` is True if
    the base has moved on and requires branches to be up to date. `merge_state` is GitHub's own word for whether it
    would merge it now, `node_id` its id in GraphQL.
    """

    number: int
    title: str
    body: str
    author: Account
    labels: frozenset[str]
    head_branch: str
    head_sha: str
    base_branch: str
    open: bool = True
    merged: bool = False
    merge_sha: str | None = None
    mergeable: bool | None = None
    head_repository: str = ""
    base_repository: str = ""
    behind: bool = False
    merge_state: str = ""
    draft: bool = False
    node_id: str = ""

    @property
    def out_of_step(self) -> bool:
        """True if GitHub says that it cannot be merged before its base is merged into it."""
        return self.behind or self.mergeable is False

    @property
    def from_own_branch(self) -> bool:
        """True if the head is a branch of the repository itself; a deleted fork has no name."""
        return bool(self.head_repository) and self.head_repository.casefold() == self.base_repository.casefold()


class CheckOutcome(StrEnum):
    """The result of one check of one commit."""

    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    NEUTRAL = "neutral"
    UNKNOWN = "unknown"
    """The check ended without passing or failing: a person has to let it go on."""
    STALE = "stale"
    """The check never ended and GitHub has given it up: treated as never reported."""
    SUPERSEDED = "superseded"
    """The check failed or was cancelled, and its workflow began anew: the newer run's check of that name counts."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check run or commit status on one SHA.

    `conclusion` is GitHub's own word for how it ended. `run_id` is the workflow run of a GitHub Actions job; a check
    from elsewhere has neither `job_id` nor `run_id`. Annotations are read by `check_run_id`; a commit status has none.
    """

    name: str
    outcome: CheckOutcome
    summary: str = ""
    job_id: int | None = None
    conclusion: str = ""
    run_id: int | None = None
    check_run_id: int | None = None


class ReviewState(StrEnum):
    """The state with which a review was submitted."""

    APPROVED = "APPROVED"
    CHANGES_REQUESTED = "CHANGES_REQUESTED"
    COMMENTED = "COMMENTED"
    DISMISSED = "DISMISSED"
    PENDING = "PENDING"


@dataclass(frozen=True, slots=True)
class Review:
    """One submitted review, bound to `head_sha`."""

    id: int
    author: Account
    state: ReviewState
    body: str
    head_sha: str
    submitted_at: datetime
    node_id: str = field(default="", compare=False)
    """Its id in GraphQL."""


@dataclass(frozen=True, slots=True)
class ReviewComment:
    """One inline comment; `line` is None if it is outdated, `hunk` is the part of the diff on which it was made."""

    id: int
    author: Account
    path: str
    line: int | None
    body: str
    created_at: datetime
    updated_at: datetime
    in_reply_to: int | None = None
    review_id: int | None = None
    hunk: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A remark on a line that exists in the diff (new side)."""

    path: str
    line: int
    body: str


@dataclass(frozen=True, slots=True)
class QueueExit:
    """The last exit of a pull request from the merge queue: GitHub's reason, the account, and the server time."""

    reason: str
    by: str
    by_person: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """The place of a pull request in the merge queue: `holds` is True while it waits; `queue_exit` is its last exit."""

    holds: bool
    queue_exit: QueueExit | None = None
