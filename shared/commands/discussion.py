"""Comments of people with write access on an issue, which the coder gets beside the issue's text.

A comment of anybody else never gets here. Who edits a comment on GitHub has written it or may write in the repository,
so the words of a trusted author are trusted as they stand; a hash of what was handed over stands in the fence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from shared.commands.command import commands
from shared.commands.untrusted_comments import spoken
from shared.github.ports import Comments
from shared.lock.fence import Fence
from shared.models import Account, Comment, Issue
from shared.text import clean, digest

READ = "Comments"
"""Name of the fence's trailer with the newest comment that a coder was given, and the hash of all of them."""

MOST = 30
"""Most comments, the newest, that a coder is given."""

MOST_CHARS = 12_000
"""Most characters of all of them together; the oldest are left out first."""


class AuthorFilter(Protocol):
    """The filter of trusted authors: returns why an account's comments do not count; empty if they do."""

    async def why_not(self, account: Account) -> str: ...


@dataclass(frozen=True, slots=True)
class Discussion:
    """The comments that a coder is given, oldest first; `omitted` older ones are only counted."""

    comments: tuple[Comment, ...] = ()
    omitted: int = 0

    @property
    def digest(self) -> str:
        """Digest for the fence: the newest comment's id and a hash of all; empty without comments."""
        if not self.comments:
            return ""
        text = "\0".join(f"{one.id} {one.author.id} {one.body}" for one in self.comments)
        return f"{self.comments[-1].id}@{digest(text)[:16]}"

    def text(self) -> str:
        """Return the section below the issue's own text in a prompt; empty without comments."""
        if not self.comments:
            return ""
        older = [f"({self.omitted} older comments are left out.)"] if self.omitted else []
        told = [f"{one.author.login}, {one.created_at:%Y-%m-%d %H:%M} UTC:\n\n{one.body}" for one in self.comments]
        return "\n\n".join(["## Comments of people with write access, the newest last", *older, *told])


NOTHING_SAID = Discussion()


class Listening:
    """Reads the threads of one repository's issues for their coders."""

    def __init__(self, comments: Comments, trust_filter: AuthorFilter) -> None:
        self._comments = comments
        self._trust_filter = trust_filter

    async def of(self, issue: Issue) -> Discussion:
        """Return the discussion so far. A completely known thread is not read again. Raises `Transient`."""
        known = self._comments.known(issue.number)
        thread = known if known is not None and len(known) >= issue.comments else None
        return await self.among(await self._comments.thread(issue.number) if thread is None else thread)

    async def among(self, thread: Iterable[Comment]) -> Discussion:
        """Return the discussion in a thread that was just read."""
        talk = talked(thread)
        deaf = {one.author.id: await self._trust_filter.why_not(one.author) for one in talk}
        return bounded([one for one in talk if not deaf[one.author.id]])


def talked(thread: Iterable[Comment]) -> tuple[Comment, ...]:
    """Return people's own comments that are no command and not empty."""
    words = spoken(thread)
    ordered = {order.comment_id for order in commands(words)}
    return tuple(one for one in words if one.id not in ordered and clean(one.body).strip())


def bounded(comments: Sequence[Comment]) -> Discussion:
    """Return the newest of these comments, up to the limits of a prompt."""
    kept: list[Comment] = []
    room = MOST_CHARS
    for one in reversed(comments):
        if len(kept) >= MOST or (kept and len(one.body) > room):
            break
        kept.append(replace(one, body=one.body[:MOST_CHARS]))
        room -= len(one.body)
    return Discussion(tuple(reversed(kept)), len(comments) - len(kept))


def read_until(fence: Fence) -> int:
    """Return the id of the newest comment that a coder was given; 0 if none was."""
    number = dict(fence.more).get(READ, "").partition("@")[0]
    return int(number) if number.isdecimal() else 0


def recorded(fence: Fence, discussion: Discussion) -> tuple[tuple[str, str], ...]:
    """Return the fence's own trailers, with the digest of what a coder is about to be given."""
    more = {name: value for name, value in fence.more if name != READ}
    return tuple((more | ({READ: discussion.digest} if discussion.digest else {})).items())
