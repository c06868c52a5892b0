"""What the planner needs of the world; the adapters in `shared` satisfy these without importing them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from shared.github.status import Status
from shared.labels import Flag
from shared.lock.write_permit import WritePermit
from shared.models import Comment, Issue, LabelEvent, Permission, PullRequest
from shared.workflow import Stage


class Inbox(Protocol):
    """Open items, as hints."""

    @property
    def known(self) -> Mapping[int, Issue]: ...

    @property
    def orphans(self) -> Mapping[int, Issue]:
        """Items, open or closed, that no list shows although their fence says that there is work."""
        ...

    async def look(self) -> Mapping[int, Issue]: ...

    def dismiss(self, number: int) -> None: ...


class NewIssues(Protocol):
    """Where issues are opened."""

    async def create(self, title: str, body: str, labels: Collection[str], permit: WritePermit) -> Issue: ...


class Issues(NewIssues, Protocol):
    """Single issues, read before acting, and those that we created."""

    async def issue(self, number: int) -> Issue: ...

    async def label_events(self, number: int) -> tuple[LabelEvent, ...]: ...

    async def created_by(self, login: str, since: datetime) -> tuple[Issue, ...]: ...

    async def close(self, number: int, permit: WritePermit) -> Issue: ...


class Comments(Protocol):
    """Threads."""

    async def lately(self, number: int, *, witness: int = 0) -> tuple[Comment, ...]: ...

    async def post(self, number: int, body: str, permit: WritePermit) -> Comment: ...


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


class StatusBoard(Protocol):
    """The planner's one status comment per story."""

    async def show(self, number: int, status: Status, permit: WritePermit) -> None: ...

    async def data(self, number: int) -> Mapping[str, Any]: ...


class Texts(Protocol):
    """What lists have shown of titles and bodies."""

    def stood(self, issue: Issue, at: datetime) -> bool: ...


class Closing(Protocol):
    """Takes the labels off what has ended."""

    async def unlabel(self, item: Issue | PullRequest, permit: WritePermit) -> None: ...


class Replies(Protocol):
    """Replies that are given once in a thread."""

    async def once(self, number: int, purpose: str, text: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Forge:
    """The GitHub side of one repository, as the planner uses it."""

    inbox: Inbox
    issues: Issues
    comments: Comments
    people: People
    labels: LabelBoard
    status: StatusBoard
    texts: Texts
    closing: Closing
    replies: Replies


class Subject(Protocol):
    """A commit, of which only the first line is shown."""

    @property
    def subject(self) -> str: ...


class Source(Protocol):
    """The repository's code, as last fetched."""

    async def ensure(self) -> None: ...

    async def fetch(self) -> None: ...

    async def tip(self, branch: str) -> str | None: ...

    async def paths(self, commit: str) -> tuple[str, ...]: ...

    async def show(self, commit: str, path: str) -> bytes | None: ...

    async def log(self, ref: str, limit: int) -> Sequence[Subject]: ...
