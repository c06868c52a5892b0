"""Comments of issues and pull requests: read, written, and remembered by thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from shared.errors import UnknownOutcome
from shared.github import wire
from shared.github.client import GitHub
from shared.github.errors import NotFound, NotShown
from shared.github.replica_lag import COMMENT, PATIENCE_SECONDS, YOUNG_SECONDS
from shared.lock.write_permit import ACK, Notice, WritePermit
from shared.models import Comment
from shared.newest import Newest
from shared.text import comment_signatures

PAGE = 100
"""Comments that come with one request."""

RECENT_SECONDS = 30.0
"""Age in seconds below which a reading is as new as a poll's."""

OVERLAP = timedelta(seconds=60)
"""Time by which a partial reading must reach back behind the one before, because servers show changes late."""

MOST = 64
"""Most threads that are kept; the least recently used goes first."""

_CommentKey = tuple[int, str]
"""The thread, and the mark or text of a comment that stands in it once."""

_BY_TEXT = frozenset({"mac", "rev", "sum"})
"""Fields of a mark that differ between two texts of the same comment."""


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


@dataclass(slots=True)
class _Thread:
    """`whole_at` (boot clock) is when it was last read whole; changes are known up to `until` (server time)."""

    comments: dict[int, Comment]
    whole_at: float
    until: datetime


class Threads:
    """The threads of one repository as this process knows them. Only whole readings show deletions."""

    def __init__(self) -> None:
        self._known: Newest[int, _Thread] = Newest(MOST)

    def read(
        self, number: int, comments: Iterable[Comment], *, since: datetime | None, boot: float, at: datetime
    ) -> None:
        """Keep a reading begun at `boot`, at server time `at`: all comments, or those that changed from `since` on."""
        thread = self._known.get(number)
        if since is None:
            self._known[number] = _Thread({comment.id: comment for comment in comments}, boot, at)
        elif thread is not None and since <= thread.until - OVERLAP:
            for comment in comments:
                if comment.id not in thread.comments or thread.comments[comment.id].updated_at <= comment.updated_at:
                    thread.comments[comment.id] = comment
            thread.until = at
        else:
            self._known.pop(number, None)  # something may have happened in between

    def wrote(self, comment: Comment) -> None:
        """Keep a comment from the reply to our own write."""
        known = self._known.get(comment.number)
        if known is not None:
            known.comments[comment.id] = comment

    def forget(self, number: int) -> None:
        """Forget a thread, which is then read anew: it may have a comment that no reading has shown."""
        self._known.pop(number, None)

    def gone(self, id: int) -> None:
        """Forget a comment that does not exist any more."""
        for known in self._known.values():
            known.comments.pop(id, None)

    def known(self, number: int) -> tuple[Comment, ...] | None:
        """Return a thread by readings of any age and our own writes; None if it is not known whole."""
        found = self._known.get(number)
        return None if found is None else tuple(found.comments[id] for id in sorted(found.comments))

    def recent_thread(self, number: int, boot: float, witness: int = 0) -> tuple[Comment, ...] | None:
        """Return a thread read whole in the last 30 seconds, or with the comment `witness`; None if unknown."""
        known = self._known.get(number)
        if known is None or (boot - known.whole_at >= RECENT_SECONDS and witness not in known.comments):
            return None
        self._known.move_to_end(number)
        return self.known(number)


class Unanswered:
    """Notices whose reply was lost: they may exist although no list shows them yet.

    A holder of a lease names in the fence what it sends (`shared/github/at_most_once.py`). A notice has no fence; the
    process that has sent it remembers, and sends the same one again only when every replica would show it. A process
    that is killed in between remembers nothing: its second reply says the same as the first one.
    """

    def __init__(self, boot: Callable[[], float]) -> None:
        self._boot = boot
        self._sent: dict[_CommentKey, float] = {}

    @contextmanager
    def sending(self, number: int, body: str) -> Iterator[None]:
        """Open a block that posts `body`, which was looked for and not seen; raises `NotShown` while it may exist."""
        comment, now = _comment_key(number, body), self._boot()
        self._sent = {other: at for other, at in self._sent.items() if now - at < PATIENCE_SECONDS}
        if comment in self._sent:
            raise NotShown(f"{comment[1]} in #{number}", self._sent[comment] + PATIENCE_SECONDS - now)
        try:
            yield
        except UnknownOutcome:
            self._sent[comment] = self._boot()
            raise


def _comment_key(number: int, body: str) -> _CommentKey:
    mark = comment_signatures.find(body)
    if mark is None:
        return number, body
    return number, " ".join([mark.name, *(value for field, value in mark.fields.items() if field not in _BY_TEXT)])
