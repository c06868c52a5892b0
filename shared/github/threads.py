"""Threads as this process knows them: its readings and its own writes since (no I/O)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.models import Comment

RECENT_SECONDS = 30.0
"""Age in seconds below which a reading is as new as a poll's."""

OVERLAP = timedelta(seconds=60)
"""Time by which a partial reading must reach back behind the one before, because servers show changes late."""

MOST = 64
"""Most threads that are kept; the least recently used goes first."""


@dataclass(slots=True)
class _Thread:
    """`whole_at` (boot clock) is when it was last read whole; changes are known up to `until` (server time)."""

    comments: dict[int, Comment]
    whole_at: float
    until: datetime


class Threads:
    """The threads of one repository. Only whole readings show deletions."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, _Thread] = OrderedDict()

    def read(
        self, number: int, comments: Iterable[Comment], *, since: datetime | None, boot: float, at: datetime
    ) -> None:
        """Keep a reading begun at `boot`, at server time `at`: all comments, or those that changed from `since` on."""
        thread = self._known.get(number)
        if since is None:
            self._known[number] = _Thread({comment.id: comment for comment in comments}, boot, at)
            self._known.move_to_end(number)
            while len(self._known) > MOST:
                self._known.popitem(last=False)
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
        return tuple(known.comments[id] for id in sorted(known.comments))
