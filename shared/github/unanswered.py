"""Comments that were sent without a lease and whose reply was lost: they may exist although no list shows them yet.

A holder of a lease names in the fence what it sends (`shared/github/at_most_once.py`). A notice has no fence; the
process that has sent it remembers, and sends the same one again only when every replica would show it. A process
that is killed in between remembers nothing: its second reply says the same as the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from shared.errors import UnknownOutcome
from shared.github.errors import NotShown
from shared.github.replica_lag import PATIENCE_SECONDS
from shared.text import comment_signatures

_CommentKey = tuple[int, str]
"""The thread, and the mark or text of a comment that stands in it once."""

_BY_TEXT = frozenset({"mac", "rev", "sum"})
"""Fields of a mark that differ between two texts of the same comment."""


class Unanswered:
    """Notices that one client has sent without an answer."""

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
