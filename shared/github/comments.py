"""Comments of issues and pull requests, in the order of their ids."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext, suppress
from datetime import datetime, timedelta
from typing import Any

from shared.errors import UnknownOutcome
from shared.github import wire
from shared.github.client import GitHub
from shared.github.errors import NotFound
from shared.github.replica_lag import COMMENT, YOUNG_SECONDS
from shared.github.threads import Threads
from shared.github.unanswered import Unanswered
from shared.lock.write_permit import ACK, Notice, WritePermit
from shared.models import Comment

PAGE = 100
"""Comments that come with one request."""


class Comments:
    """The threads of one repository."""

    def __init__(self, github: GitHub, repository: str, *, items: str = "issues") -> None:
        """`items` names the kind of the items whose threads are opened here: "issues" or "pulls"."""
        self._github = github
        self._root = f"/repos/{repository}"
        self._path = f"/repos/{repository}/issues"
        self._items = f"/repos/{repository}/{items}"
        self._threads = Threads()
        self._unanswered = Unanswered(github.clock.boot)

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]:
        """Return all comments of an item, ascending by id, or those updated at or after `since`."""
        began = self._github.clock.boot()
        found = await self._github.pages(f"{self._path}/{number}/comments", since=since)
        # A comment deleted while the pages are read shifts the rest, so one may come twice.
        unique = {comment.id: comment for comment in wire.each(wire.comment, found)}
        self._remember(number, unique.values(), since, began)
        self._note_shown(unique.values())
        return tuple(unique[id] for id in sorted(unique))

    async def opening(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]:
        """Return the comments of an item that probably has none: all, or of a long thread those from `since` on.

        The item is asked first, and its thread only if it counts some: an agent that claims an item reads it
        in any case. A count that lags is no worse than a list that does: both have to show what we wrote there.
        """
        began = self._github.clock.boot()
        count = wire.read(_count, await self._github.get(f"{self._items}/{number}"))
        if count or self._github.expects_entry_in(f"{self._path}/{number}/comments"):
            return await self.thread(number, since if count > PAGE else None)
        self._remember(number, (), None, began)
        return ()

    async def recent_thread(self, number: int, *, witness: int = 0) -> tuple[Comment, ...]:
        """Return all comments by a reading of the last 30 seconds with our own writes since; without one, read anew.

        A reading of any age is good enough if it shows the comment `witness`.
        """
        known = self._threads.recent_thread(number, self._github.clock.boot(), witness)
        return await self.thread(number) if known is None else known

    def known(self, number: int) -> tuple[Comment, ...] | None:
        """Return a thread as known from earlier readings and our own writes, without a request; None if it has gaps."""
        return self._threads.known(number)

    async def newest(self) -> tuple[Comment, ...]:
        """Return the hundred comments of all threads that were changed last, the newest first."""
        found = await self._github.get(f"{self._path}/comments", sort="updated", direction="desc", per_page=100)
        return wire.each(wire.comment, found)

    async def comment(self, id: int) -> Comment | None:
        """Return one comment as it is now; None only if GitHub says that it does not exist."""
        try:
            return wire.read(wire.comment, await self._github.get(f"{self._path}/comments/{id}"))
        except NotFound:
            return None

    async def post(self, number: int, body: str, permit: WritePermit) -> Comment:
        """Post a new comment, once. `UnknownOutcome` means: look for it before posting again.

        `NotShown` is raised for a notice that was sent already and may only not be shown yet.
        """
        is_notice = isinstance(permit, Notice) and permit.purpose != ACK
        try:
            with self._unanswered.sending(number, body) if is_notice else nullcontext():
                reply = await self._github.write("POST", f"{self._path}/{number}/comments", {"body": body}, permit)
                return self._remember_written(reply)
        except UnknownOutcome:
            self._threads.forget(number)
            raise

    async def edit(self, id: int, body: str, permit: WritePermit, *, urgent: bool = False) -> Comment | None:
        """Replace a comment's body; None if it no longer exists. Edits that keep or release leases are `urgent`."""
        try:
            reply = await self._github.write(
                "PATCH", f"{self._path}/comments/{id}", {"body": body}, permit, urgent=urgent
            )
        except NotFound:
            self._threads.gone(id)
            return None
        return self._remember_written(reply)

    async def delete(self, id: int, permit: WritePermit) -> None:
        """Delete a comment; one that no longer exists is fine."""
        with suppress(NotFound):
            await self._github.write("DELETE", f"{self._path}/comments/{id}", None, permit)
        self._threads.gone(id)

    def _note_shown(self, listed: Iterable[Comment]) -> None:
        """Note that new comments which were listed exist, even if the next replica does not show them yet."""
        for comment in listed:
            if (self._github.server_time - comment.created_at).total_seconds() < YOUNG_SECONDS:
                self._github.expect(self._root, COMMENT, comment.id, YOUNG_SECONDS)

    def _remember(self, number: int, comments: Iterable[Comment], since: datetime | None, began: float) -> None:
        took = timedelta(seconds=self._github.clock.boot() - began)
        self._threads.read(number, comments, since=since, boot=began, at=self._github.server_time - took)

    def _remember_written(self, reply: Any) -> Comment:
        comment = wire.reply(wire.comment, reply)
        self._threads.wrote(comment)
        return comment


def _count(item: Any) -> int:
    """Read how many comments an issue or a pull request has, by its own count."""
    return int(item["comments"])
