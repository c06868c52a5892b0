"""The Protocols of GitHub for agents, commands and reconciliation: one for each adapter, with all that they use.

Whoever only reads needs no narrower one: what writes takes a permit, which a reader does not have.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from shared.github.attachments import Image
from shared.github.branch_rules import MergeRules
from shared.github.label_board import WantedLabels
from shared.github.status import Status
from shared.github.status_record import Record
from shared.lock.fence import Fence
from shared.lock.hold import Held
from shared.lock.write_permit import OperatorPermit, WritePermit
from shared.models import (
    Assignment,
    Blocker,
    Check,
    Comment,
    Finding,
    Issue,
    LabelEvent,
    Permission,
    PullRequest,
    QueuePlace,
    Review,
    ReviewComment,
    ReviewState,
)
from shared.workflow import Stage
from shared.workflow.labels import Flag


class Inbox(Protocol):
    """The open items that an agent follows, as hints, and the items that its lists lack."""

    @property
    def known(self) -> Mapping[int, Issue]: ...

    @property
    def gone(self) -> Mapping[int, Issue]:
        """The known items that the last look found closed; told once."""
        ...

    @property
    def orphans(self) -> Mapping[int, Issue]:
        """Items, open or closed, that no list shows although their fence says that there is work."""
        ...

    def version(self, number: int) -> datetime | None: ...

    def follow(self, listed: Issue) -> None: ...

    def dismiss(self, number: int) -> None: ...

    async def look(self) -> Mapping[int, Issue]: ...


class Issues(Protocol):
    """Issues, and pull requests as issues: lists as hints, single ones read before acting, and changed."""

    async def recent(self) -> tuple[Issue, ...] | None: ...

    async def open(self) -> tuple[Issue, ...]: ...

    async def labelled(self, label: str) -> tuple[Issue, ...]: ...

    async def assigned(self, login: str) -> tuple[Issue, ...]: ...

    async def created_by(self, login: str, since: datetime) -> tuple[Issue, ...]: ...

    async def issue(self, number: int) -> Issue: ...

    async def named(self, number: int, at: datetime) -> Issue:
        """One that may be so new that GitHub does not show it yet."""
        ...

    async def blocked_by(self, number: int) -> tuple[Blocker, ...]: ...

    async def label_events(self, number: int) -> tuple[LabelEvent, ...]: ...

    async def assignments(self, number: int) -> tuple[Assignment, ...]: ...

    async def create(self, title: str, body: str, labels: Collection[str], permit: WritePermit) -> Issue: ...

    async def close(self, number: int, permit: WritePermit) -> Issue: ...

    async def retitle(self, number: int, title: str, permit: WritePermit) -> Issue: ...

    async def assign(self, number: int, login: str, permit: WritePermit) -> None: ...

    async def unassign(self, number: int, login: str, permit: WritePermit) -> None: ...


class Comments(Protocol):
    """The comments below issues and pull requests; only the lock and the status comment edit or delete any."""

    def known(self, number: int) -> tuple[Comment, ...] | None:
        """Return the comments of a thread that are known without a request; None if that has gaps."""
        ...

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]: ...

    async def recent_thread(self, number: int, *, witness: int = 0) -> tuple[Comment, ...]:
        """`thread`, perhaps as it was some seconds ago, unless that lacks the comment `witness`."""
        ...

    async def newest(self) -> tuple[Comment, ...]:
        """The last comments of the repository, whatever they are about."""
        ...

    async def post(self, number: int, body: str, permit: WritePermit) -> Comment: ...


class Pulls(Protocol):
    """Pull requests, single ones and those of a branch; merged only at the commit that was judged."""

    async def pull_request(self, number: int) -> PullRequest: ...

    async def of_branch(self, branch: str) -> tuple[PullRequest, ...]: ...

    async def open(self, title: str, body: str, head: str, base: str, permit: WritePermit) -> PullRequest: ...

    async def edit(
        self, number: int, *, title: str | None = None, body: str | None = None, permit: WritePermit
    ) -> PullRequest: ...

    async def close(self, number: int, permit: WritePermit) -> PullRequest: ...

    async def request_reviewers(self, number: int, logins: Sequence[str], held: Held) -> None: ...

    async def merge(self, number: int, sha: str, method: str, message: str, held: Held) -> str: ...

    async def enqueue(self, node_id: str, head: str, held: Held) -> None: ...

    async def queue_place(self, node_id: str, held: Held) -> QueuePlace: ...


class Reviews(Protocol):
    """The reviews of pull requests, by people and by the engine, and their threads."""

    async def of(self, number: int) -> tuple[Review, ...]: ...

    async def at_start(self, number: int) -> tuple[Review, ...]:
        """`of`, for the beginning of a review, right after its label was set."""
        ...

    async def comments(self, number: int) -> tuple[ReviewComment, ...]: ...

    async def submit(
        self, number: int, sha: str, state: ReviewState, body: str, findings: Sequence[Finding], held: Held
    ) -> Review: ...

    async def reply(self, number: int, comment_id: int, body: str, held: Held) -> ReviewComment: ...

    async def resolve(self, number: int, roots: Collection[int], held: Held) -> int: ...

    async def hide(self, reviews: Sequence[Review], held: Held) -> int: ...


class Checks(Protocol):
    """CI of one commit, what its jobs say of themselves, and what a branch requires of it."""

    async def of(self, sha: str) -> tuple[Check, ...]: ...

    async def ever(self, tip: str) -> bool:
        """Return whether anything was ever checked in this repository; `tip` is a commit to look at."""
        ...

    async def unstarted(self, sha: str) -> tuple[Check, ...]: ...

    async def required(self, branch: str) -> frozenset[str]: ...

    async def merge_rules(self, branch: str) -> MergeRules: ...

    async def annotations(self, check_run_id: int) -> tuple[str, ...]: ...

    async def log(self, job_id: int) -> str: ...

    async def rerun(self, run_id: int, permit: WritePermit) -> None: ...


class LabelBoard(Protocol):
    """Stage labels, flags and other labels of items, and their definitions in the repository."""

    async def add(self, number: int, names: Collection[str], permit: WritePermit) -> frozenset[str]: ...

    async def remove(self, number: int, name: str, permit: WritePermit) -> None: ...

    async def exchange(
        self, number: int, on: str, off: str, permit: WritePermit
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Sets one label in place of another."""
        ...

    async def show(
        self,
        number: int,
        stage: Stage,
        permit: WritePermit,
        *,
        known: frozenset[str] | None = None,
        flags_on: Collection[Flag] = (),
        flags_off: Collection[Flag] = (),
    ) -> frozenset[str]: ...

    async def show_all(self, wanted: Sequence[WantedLabels], permit: WritePermit) -> tuple[frozenset[str], ...]: ...

    async def is_defined(self, stage: Stage) -> bool: ...

    async def create_all(self, permit: OperatorPermit) -> tuple[str, ...]: ...


class StatusComments(Protocol):
    """An agent's one status comment per thread, as told and read: the worker's board of notes is one as well."""

    async def show(self, number: int, status: Status, permit: WritePermit) -> None: ...

    async def data(self, number: int) -> Mapping[str, Any]: ...


class StatusBoard(StatusComments, Protocol):
    """The status comments themselves, in which commands are recorded as well."""

    async def revise(self, number: int, status: Status, permit: WritePermit) -> None:
        """`show`, but only where a comment stands already."""
        ...

    async def note(
        self,
        number: int,
        permit: WritePermit,
        *,
        commands: Sequence[Mapping[str, Any]] = (),
        ignored: Sequence[Mapping[str, Any]] = (),
    ) -> None: ...

    def record_in(self, number: int, thread: Iterable[Comment]) -> Record: ...


class Replies(Protocol):
    """Posts one comment per thread and purpose, and tells whether it was."""

    async def once(self, number: int, purpose: str, text: str, mention: Sequence[str] = ()) -> bool: ...

    async def is_posted(self, number: int, purpose: str) -> bool: ...


class Closing(Protocol):
    """The report that a specification is done, and the removal of labels from ended items."""

    async def merged(self, fence: Fence, pull_request: PullRequest, permit: WritePermit) -> None: ...

    async def unlabel(self, item: Issue | PullRequest, permit: WritePermit) -> None: ...

    async def close(self, item: Issue, permit: WritePermit) -> None: ...


class People(Protocol):
    """People's permissions."""

    async def permission(self, login: str) -> Permission: ...


class Attachments(Protocol):
    """The images that people have put into issues."""

    def covers(self, address: str) -> bool: ...

    async def image(self, address: str) -> Image:
        """Raises `NotFetched`."""
        ...
