"""What the planner needs of the world; the adapters in `shared` satisfy these without importing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from shared.commands.text_history import Texts
from shared.github.ports import Closing, Comments, Issues, LabelBoard, People, Replies, StatusComments
from shared.models import Issue


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


@dataclass(frozen=True, slots=True)
class Forge:
    """The GitHub side of one repository, as the planner uses it."""

    inbox: Inbox
    issues: Issues
    comments: Comments
    people: People
    labels: LabelBoard
    status: StatusComments
    texts: Texts
    closing: Closing
    replies: Replies


class CommitSubject(Protocol):
    """A commit, of which only the first line is shown."""

    @property
    def subject(self) -> str: ...


class RepositoryCode(Protocol):
    """The repository's code, as last fetched."""

    async def ensure(self) -> None: ...

    async def fetch(self) -> None: ...

    async def tip(self, branch: str) -> str | None: ...

    async def paths(self, commit: str) -> tuple[str, ...]: ...

    async def show(self, commit: str, path: str) -> bytes | None: ...

    async def log(self, ref: str, limit: int) -> Sequence[CommitSubject]: ...
