"""Comments of issues and pull requests, in the order of their ids."""

from __future__ import annotations

from datetime import datetime

from shared.github import wire
from shared.github.client import GitHub
from shared.github.errors import NotFound
from shared.models import Comment
from shared.warrant import Warrant


class Comments:
    """The threads of one repository."""

    def __init__(self, github: GitHub, repository: str) -> None:
        self._github = github
        self._path = f"/repos/{repository}/issues"

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]:
        """All comments of an item, ascending by id, or those updated at or after `since`."""
        found = await self._github.pages(f"{self._path}/{number}/comments", since=since)
        # A comment deleted while the pages are read shifts the rest, so one may come twice.
        unique = {comment.id: comment for comment in wire.each(wire.comment, found)}
        return tuple(unique[id] for id in sorted(unique))

    async def comment(self, id: int) -> Comment | None:
        """One comment as it is now; None only when GitHub says that it does not exist."""
        try:
            return wire.read(wire.comment, await self._github.get(f"{self._path}/comments/{id}"))
        except NotFound:
            return None

    async def post(self, number: int, body: str, warrant: Warrant) -> Comment:
        """A new comment; never repeated. `UnknownOutcome` means: look for it before posting again."""
        reply = await self._github.write("POST", f"{self._path}/{number}/comments", {"body": body}, warrant)
        return wire.reply(wire.comment, reply)

    async def edit(self, id: int, body: str, warrant: Warrant, *, urgent: bool = False) -> Comment | None:
        """Replace a comment's body; None when it no longer exists. Leases are kept and released `urgent`."""
        try:
            reply = await self._github.write(
                "PATCH", f"{self._path}/comments/{id}", {"body": body}, warrant, urgent=urgent
            )
        except NotFound:
            return None
        return wire.reply(wire.comment, reply)

    async def delete(self, id: int, warrant: Warrant) -> None:
        """Delete a comment; one that no longer exists is fine."""
        try:
            await self._github.write("DELETE", f"{self._path}/comments/{id}", None, warrant)
        except NotFound:
            return
