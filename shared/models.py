"""What the engine knows about GitHub's things: frozen values, no I/O.

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

    @property
    def owner(self) -> str:
        """The part before the slash."""
        return self.full_name.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Account:
    """Who did something; trust goes by `id`, never by `login`."""

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
    """How many its thread has; one more is no change of the item itself."""
    blocked_by: int = 0
    """How many open issues block it by GitHub's own relationships, whatever its text says."""
    draft: bool = False
    """A pull request that its author has not marked as ready."""
    files: tuple[str, ...] = field(default=(), compare=False)
    """The files that its text names as those of the work, as lists keep them; a single reading has its whole text."""

    @property
    def untouched(self) -> bool:
        """Whether nothing has happened to it since the second in which it was opened: its author set its labels."""
        return self.updated_at == self.created_at


@dataclass(frozen=True, slots=True)
class Blocker:
    """An issue that blocks another one by GitHub's own relationship; it may be of another repository."""

    number: int
    repository: str
    """`owner/repo`; empty for the blocked issue's own."""
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
    """A label was added or removed, and by whom."""

    id: int
    label: str
    added: bool
    actor: Account
    at: datetime


@dataclass(frozen=True, slots=True)
class Assignment:
    """Somebody was assigned to an item, and by whom."""

    id: int
    assignee: Account
    actor: Account
    at: datetime


class Permission(StrEnum):
    """What a person may do in a repository."""

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
    """A pull request; `head_sha` is what every check, review and merge is bound to.

    `head_repository` and `base_repository` are `owner/repo`; the head's is empty when it was deleted. `behind`: the
    base has moved on, and it requires branches to be up to date. `merge_state` is GitHub's own word for whether it
    would merge it now, `node_id` its name in GraphQL.
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
        """Whether GitHub says that it cannot be merged before its base is merged into it."""
        return self.behind or self.mergeable is False

    @property
    def from_own_branch(self) -> bool:
        """Whether the head is a branch of the repository itself; a fork that was deleted has no name."""
        return bool(self.head_repository) and self.head_repository.casefold() == self.base_repository.casefold()


class CheckOutcome(StrEnum):
    """What one check says of one commit."""

    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    NEUTRAL = "neutral"
    UNKNOWN = "unknown"
    """It ended without saying either: a person has to let it go on."""
    STALE = "stale"
    """It never ended, and GitHub has given it up: as good as never reported."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check run or commit status on one SHA.

    `conclusion` is GitHub's own word for how it ended. `run_id` is the workflow run that a job of GitHub Actions
    belongs to; what else reports a check has neither job nor run. `check_run_id` is what annotations are read by; a
    commit status has none.
    """

    name: str
    outcome: CheckOutcome
    summary: str = ""
    job_id: int | None = None
    conclusion: str = ""
    run_id: int | None = None
    check_run_id: int | None = None


class ReviewState(StrEnum):
    """How a review was submitted."""

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
    """Its name in GraphQL."""


@dataclass(frozen=True, slots=True)
class ReviewComment:
    """One inline comment; `line` is None when it is outdated, `hunk` the part of the diff that it was made on."""

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
    """How a pull request left the queue last: GitHub's word for the reason, who did it, by server time."""

    reason: str
    by: str
    by_person: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """Whether a pull request waits in the queue, and how it left that the last time; None where it never did."""

    holds: bool
    left: QueueExit | None = None
