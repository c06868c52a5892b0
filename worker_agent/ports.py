"""What the worker needs of the world; the adapters in `shared` satisfy these without importing them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from shared.github.attachments import Image
from shared.github.status import Status
from shared.items import Skip
from shared.labels import Flag
from shared.lock.claim import Intent
from shared.lock.hold import Held
from shared.lock.record import Fence
from shared.lock.write_permit import WritePermit
from shared.models import Blocker, Check, Comment, Issue, LabelEvent, Permission, PullRequest, Review, ReviewComment
from shared.workflow import Stage


class Inbox(Protocol):
    """Open items, as hints."""

    @property
    def known(self) -> Mapping[int, Issue]: ...

    @property
    def orphans(self) -> Mapping[int, Issue]:
        """Items, open or closed, that no list shows although their fence says that there is work."""
        ...

    def version(self, number: int) -> datetime | None: ...

    async def look(self) -> Mapping[int, Issue]: ...


class Issues(Protocol):
    """Single issues, read before acting."""

    async def issue(self, number: int) -> Issue: ...

    async def label_events(self, number: int) -> tuple[LabelEvent, ...]: ...

    async def blocked_by(self, number: int) -> tuple[Blocker, ...]: ...

    async def close(self, number: int, permit: WritePermit) -> Issue: ...

    async def retitle(self, number: int, title: str, permit: WritePermit) -> Issue: ...

    async def assign(self, number: int, login: str, permit: WritePermit) -> None: ...

    async def unassign(self, number: int, login: str, permit: WritePermit) -> None: ...


class People(Protocol):
    """Who may do what."""

    async def permission(self, login: str) -> Permission: ...


class LabelBoard(Protocol):
    """Stage labels and flags."""

    async def is_defined(self, stage: Stage) -> bool: ...

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

    async def add(self, number: int, names: Collection[str], permit: WritePermit) -> frozenset[str]: ...

    async def remove(self, number: int, name: str, permit: WritePermit) -> None: ...


class Pulls(Protocol):
    """Pull requests."""

    async def pull_request(self, number: int) -> PullRequest: ...

    async def of_branch(self, branch: str) -> tuple[PullRequest, ...]: ...

    async def open(self, title: str, body: str, head: str, base: str, held: Held) -> PullRequest: ...

    async def edit(
        self, number: int, *, title: str | None = None, body: str | None = None, permit: WritePermit
    ) -> PullRequest: ...

    async def request_reviewers(self, number: int, logins: Sequence[str], held: Held) -> None: ...


class Reviews(Protocol):
    """What reviewers said."""

    async def of(self, number: int) -> tuple[Review, ...]: ...

    async def comments(self, number: int) -> tuple[ReviewComment, ...]: ...

    async def reply(self, number: int, comment_id: int, body: str, held: Held) -> ReviewComment: ...


class Conversation(Protocol):
    """The comments below an issue or a pull request."""

    async def thread(self, number: int) -> tuple[Comment, ...]: ...

    async def post(self, number: int, body: str, permit: WritePermit) -> Comment: ...


class Logs(Protocol):
    """What the jobs of CI say of themselves."""

    async def log(self, job_id: int) -> str: ...

    async def annotations(self, check_run_id: int) -> tuple[str, ...]: ...


class Checks(Logs, Protocol):
    """CI of one SHA."""

    async def of(self, sha: str) -> tuple[Check, ...]: ...

    async def ever(self, tip: str) -> bool: ...

    async def unstarted(self, sha: str) -> tuple[Check, ...]: ...

    async def required(self, branch: str) -> frozenset[str]: ...

    async def rerun(self, run_id: int, permit: WritePermit) -> None: ...


class StatusBoard(Protocol):
    """The worker's one status comment per thread."""

    async def data(self, number: int) -> Mapping[str, Any]: ...

    async def show(self, number: int, status: Status, permit: WritePermit) -> None: ...


class Texts(Protocol):
    """What lists have shown of titles and bodies."""

    def stood(self, issue: Issue, at: datetime) -> bool: ...


class Closing(Protocol):
    """Tells that a specification is done, and takes off the labels of what has ended."""

    async def merged(self, fence: Fence, pull_request: PullRequest, permit: WritePermit) -> None: ...

    async def unlabel(self, item: Issue | PullRequest, permit: WritePermit) -> None: ...


class Replies(Protocol):
    """Replies that are given once in a thread."""

    async def once(self, number: int, purpose: str, text: str) -> bool: ...


class Unusable(Protocol):
    """Whether the configuration lets anything begin."""

    def begin(self, number: int, why: str) -> None: ...

    def end(self) -> None: ...

    def skip(self, number: int, wish: Intent) -> Skip | None: ...


class Attachments(Protocol):
    """The images that people have put into issues."""

    def covers(self, address: str) -> bool: ...

    async def image(self, address: str) -> Image:
        """Raises `NotFetched`."""
        ...


@dataclass(frozen=True, slots=True)
class Forge:
    """The GitHub side of one repository, as the worker uses it."""

    inbox: Inbox
    issues: Issues
    people: People
    labels: LabelBoard
    pulls: Pulls
    reviews: Reviews
    conversation: Conversation
    checks: Checks
    status: StatusBoard
    texts: Texts
    closing: Closing
    replies: Replies
    unusable: Unusable
