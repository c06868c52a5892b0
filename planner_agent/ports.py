"""What the planner needs of the world; the adapters in `shared` satisfy these without importing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from shared.commands.text_history import Texts
from shared.github.ports import Closing, Comments, CompleteInbox, Issues, LabelBoard, People, Replies, StatusComments


@dataclass(frozen=True, slots=True)
class Forge:
    """The GitHub side of one repository, as the planner uses it."""

    inbox: CompleteInbox
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
