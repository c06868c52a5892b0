"""What GitHub wrote down during a trial: every ACK as it was posted and edited, and everything that was posted."""

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
"""Since this format the ACKs of one kind share one comment of a thread."""


RECORDED_SECONDS = 10.0
"""So long after it posted an ACK an agent may not have recorded its id, and a replica may not show it."""

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
    """Something new that people are told of, and whose it is."""

    at: float
    author: str
    what: str


@dataclass
class WireLog:
    """Hears of everything that a repository's GitHub writes down, whoever learns of it; `now` is its clock."""

    now: Callable[[], float]
    acks: list[AckWrite] = field(default_factory=list)
    posts: list[Post] = field(default_factory=list)
    unanswered: list[float] = field(default_factory=list)
    """When a comment was posted whose sender was not told so."""

    def follow(self, repository: RepositoryRecord) -> None:
        """Listen from now on, beside whoever listens already."""
        comments, pulls = repository.comments.records, repository.pulls
        comments.on_put = _also(comments.on_put, self._comment)
        pulls.reviews.on_put = _also(pulls.reviews.on_put, lambda one, new: self._posted(one.author, "review", new))
        pulls.inline.on_put = _also(pulls.inline.on_put, lambda one, new: self._posted(one.author, "remark", new))
        threads = repository.issues.records
        threads.on_put = _also(threads.on_put, lambda one, new: self._posted(one.author, "thread", new))

    def note(self, exchange: Exchange) -> None:
        """One exchange of the API: of a post that was spoiled nobody knows what became of it."""
        if exchange.fault and exchange.method == "POST" and (exchange.template or "").endswith("/comments"):
            self.unanswered.append(self.now())

    def unheard(self, deaths: Sequence[tuple[float, str]]) -> int:
        """How many ACKs were posted whose agent may not know: it was not told so, or died (when, who) right then."""
        died = [one for one in self.acks if one.posted and any(_soon(one, *death) for death in deaths)]
        return len(self.unanswered) + len(died)

    def _posted(self, author: str, what: str, new: bool) -> None:
        if new:
            self.posts.append(Post(self.now(), author, what))

    def _comment(self, record: CommentRecord, new: bool) -> None:
        self._posted(record.author, "comment", new)
        body = record.body.replace("\r\n", "\n")
        line, trailer = _ACK.search(body), _NONCE.search(body)
        if line is not None and trailer is not None:
            where = (self.now(), record.number, record.id)
            shared = int(trailer["format"]) >= _SHARED
            said = (line["kind"], line["agent"], trailer["nonce"], trailer["state"])
            self.acks.append(AckWrite(*where, *said, new, shared))


def _soon(one: AckWrite, died: float, who: str) -> bool:
    return one.agent == who and 0 <= died - one.at <= RECORDED_SECONDS


def _also(told: Callable[[R, bool], None] | None, more: Callable[[R, bool], None]) -> Callable[[R, bool], None]:
    def both(record: R, new: bool) -> None:
        if told is not None:
            told(record, new)
        more(record, new)

    return both
