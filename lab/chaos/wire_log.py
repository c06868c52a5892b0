"""GitHub's writes during a trial: every ACK as it was posted and edited, and everything that was posted."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from lab.github.http.exchanges import Exchange
from lab.github.world.comments import CommentRecord
from lab.github.world.repository import RepositoryRecord

R = TypeVar("R")

_ACK = re.compile(r"^ACK:(?P<kind>[a-z]+):(?P<agent>[a-z0-9-]+):[0-9]+", re.MULTILINE)
_NONCE = re.compile(r"<!-- ack/(?P<format>[0-9]+) [^>]*?nonce=(?P<nonce>[0-9a-f]{32}) state=(?P<state>[a-z]+)")
_SHARED = 3
"""First format in which the ACKs of one kind share one comment of a thread."""


RECORDED_SECONDS = 10.0
"""Seconds after an ACK's post in which an agent may not have recorded its id, and a replica may not show it."""

ACTIVE = "active"


@dataclass(frozen=True, slots=True)
class AckWrite:
    """One ACK as the server wrote it down: in which thread, when (seconds since the epoch), new or edited.

    `shared`: by its format it has its comment in common with all others of its kind and thread.
    """

    at: float
    number: int
    comment: int
    kind: str
    agent: str
    nonce: str
    state: str
    posted: bool
    shared: bool = True


@dataclass(frozen=True, slots=True)
class Post:
    """Something new that people are notified of, and its author."""

    at: float
    author: str
    what: str


@dataclass
class WireLog:
    """Records all that a repository's GitHub writes, whether the sender learns of it or not; `now` is its clock."""

    now: Callable[[], float]
    acks: list[AckWrite] = field(default_factory=list)
    posts: list[Post] = field(default_factory=list)
    unanswered: list[float] = field(default_factory=list)
    """Times of comments that were posted without an answer to their sender."""

    def follow(self, repository: RepositoryRecord) -> None:
        """Record from now on, beside the listeners that exist already."""
        comments, pulls = repository.comments.records, repository.pulls
        comments.on_put = _both(comments.on_put, self._note_comment)
        pulls.reviews.on_put = _both(
            pulls.reviews.on_put, lambda record, new: self._note_post(record.author, "review", new)
        )
        pulls.inline.on_put = _both(
            pulls.inline.on_put, lambda record, new: self._note_post(record.author, "remark", new)
        )
        threads = repository.issues.records
        threads.on_put = _both(threads.on_put, lambda record, new: self._note_post(record.author, "thread", new))

    def note(self, exchange: Exchange) -> None:
        """Note one exchange of the API: after a spoiled post nobody knows whether it was carried out."""
        if exchange.fault and exchange.method == "POST" and (exchange.template or "").endswith("/comments"):
            self.unanswered.append(self.now())

    def unheard(self, deaths: Sequence[tuple[float, str]]) -> int:
        """Return the number of ACK posts whose agent may not know: it got no answer, or died (when, who) right then."""
        died = [one for one in self.acks if one.posted and any(_died_soon_after(one, *death) for death in deaths)]
        return len(self.unanswered) + len(died)

    def _note_post(self, author: str, what: str, new: bool) -> None:
        if new:
            self.posts.append(Post(self.now(), author, what))

    def _note_comment(self, record: CommentRecord, new: bool) -> None:
        self._note_post(record.author, "comment", new)
        body = record.body.replace("\r\n", "\n")
        line, trailer = _ACK.search(body), _NONCE.search(body)
        if line is not None and trailer is not None:
            where = (self.now(), record.number, record.id)
            shared = int(trailer["format"]) >= _SHARED
            said = (line["kind"], line["agent"], trailer["nonce"], trailer["state"])
            self.acks.append(AckWrite(*where, *said, new, shared))


def _died_soon_after(one: AckWrite, died: float, who: str) -> bool:
    return one.agent == who and 0 <= died - one.at <= RECORDED_SECONDS


def _both(first: Callable[[R, bool], None] | None, more: Callable[[R, bool], None]) -> Callable[[R, bool], None]:
    def both(record: R, new: bool) -> None:
        if first is not None:
            first(record, new)
        more(record, new)

    return both
