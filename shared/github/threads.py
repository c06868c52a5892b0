"""Threads as this process knows them: what it has read and what it has written since (no I/O)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.models import Comment

RECENT_SECONDS = 30.0
"""What was read so lately is as new as what a poll would tell."""

OVERLAP = timedelta(seconds=60)
"""By so much a partial reading must reach back behind the one before, because servers show changes late."""

MOST = 64
"""How many threads are kept; the least recently used goes first."""


@dataclass(slots=True)
class _Thread:
    """`whole_at` (boot clock) is when it was last read whole, `until` (server time) up to when changes are known."""

    comments: dict[int, Comment]
    whole_at: float
    until: datetime


class Threads:
    """The threads of one repository. Deletions are seen by whole readings only."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, _Thread] = OrderedDict()

    def read(
        self, number: int, comments: Iterable[Comment], *, since: datetime | None, boot: float, at: datetime
    ) -> None:
        """What a reading showed that was begun at `boot`, at server time `at`: all, or what changed from `since` on."""
        known = self._known.get(number)
        if since is None:
            self._known[number] = _Thread({one.id: one for one in comments}, boot, at)
            self._known.move_to_end(number)
            while len(self._known) > MOST:
                self._known.popitem(last=False)
        elif known is not None and since <= known.until - OVERLAP:
            for one in comments:
                if one.id not in known.comments or known.comments[one.id].updated_at <= one.updated_at:
                    known.comments[one.id] = one
            known.until = at
        else:
            self._known.pop(number, None)  # something may have happened in between

    def wrote(self, comment: Comment) -> None:
        """A comment as the reply to our own write shows it."""
        known = self._known.get(comment.number)
        if known is not None:
            known.comments[comment.id] = comment

    def forget(self, number: int) -> None:
        """A comment may stand there of which no reading has told: the next one is read anew."""
        self._known.pop(number, None)

    def gone(self, id: int) -> None:
        """A comment does not exist any more."""
        for known in self._known.values():
            known.comments.pop(id, None)

    def known(self, number: int) -> tuple[Comment, ...] | None:
        """A thread as readings and our own writes have shown it, however long ago; None when it is not known whole."""
        found = self._known.get(number)
        return None if found is None else tuple(found.comments[id] for id in sorted(found.comments))

    def lately(self, number: int, boot: float, witness: int = 0) -> tuple[Comment, ...] | None:
        """A thread that was read whole in the last 30 seconds, or that has the comment `witness`; None when unknown."""
        known = self._known.get(number)
        if known is None or (boot - known.whole_at >= RECENT_SECONDS and witness not in known.comments):
            return None
        self._known.move_to_end(number)
        return tuple(known.comments[id] for id in sorted(known.comments))
