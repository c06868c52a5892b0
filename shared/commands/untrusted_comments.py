"""Comments of people without write access, for the status comment that reports each once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import structlog

from shared.errors import Transient
from shared.github.ports import People
from shared.lock.comment import read_ack
from shared.models import Comment
from shared.text import comment_signatures

log = structlog.get_logger()

NO_WRITE = "its author has no write access"

MOST_PEOPLE = 20
"""Authors of one thread whose access is asked for, those of the newest comments."""


class UntrustedComments:
    """Finds comments of people without write access; GitHub is asked about each person once in five minutes."""

    def __init__(self, people: People, accounts: Collection[int]) -> None:
        """`accounts` are the ids of the engine's own accounts."""
        self._people = people
        self._accounts = accounts

    async def ignored(self, thread: Iterable[Comment]) -> Sequence[Mapping[str, Any]]:
        """Return entries for the record, oldest first; none while GitHub does not tell who has write access."""
        said = [comment for comment in spoken(thread) if comment.author.id not in self._accounts]
        newest = list(dict.fromkeys(comment.author.login for comment in reversed(said)))[:MOST_PEOPLE]
        try:
            strange = {login for login in newest if not (await self._people.permission(login)).may_write}
        except Transient as error:
            log.info("strangers_unknown", outcome="skipped", error=str(error))
            return ()
        return [ignored_entry(comment.id, NO_WRITE) for comment in said if comment.author.login in strange]


def ignored_entry(comment: int, why: str) -> dict[str, Any]:
    """Return the entry of the record for an ignored comment, by its id."""
    return {"id": comment, "why": why}


def spoken(thread: Iterable[Comment]) -> tuple[Comment, ...]:
    """Return people's own comments; if the engine shares an account, comments without its mark are the owner's."""
    return tuple(
        one for one in thread if read_ack(one) is None and comment_signatures.find(one.body.partition("\n")[0]) is None
    )
