"""Evidence of a trial, of which the engine is asked nothing: GitHub's writes, and the fences from git.

Every ACK as it was posted and edited, everything that was posted, and the fences in the order in which the server moved
them. A fence's message is parsed here anew: the judge of the engine's writes does not share its reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from lab.github.http.exchanges import Exchange
from lab.github.repositories.bare import Bare
from lab.github.repositories.ref_log import RefChange
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

FENCE = re.compile(r"refs/ack/(?P<kind>planner|worker|reviewer)/(?P<number>[0-9]+)")
_TRAILER = re.compile(r"^([A-Z][A-Za-z0-9-]*): (.*)$", re.MULTILINE)
_PROGRESS = ("Stage", "Phase", "Work-Head", "Attempt", "Round", "Pr")


@dataclass(frozen=True, slots=True)
class AckWrite:
    """One ACK as the server wrote it down: in which thread, when (seconds since the epoch), new or edited.

    `shared`: by its format it has its comment in common with all others of its kind and thread.
    """

    at: float
    number: int
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
            said = (line["kind"], line["agent"], trailer["nonce"], trailer["state"])
            shared = int(trailer["format"]) >= _SHARED
            self.acks.append(AckWrite(self.now(), record.number, *said, new, shared))


def _died_soon_after(one: AckWrite, died: float, who: str) -> bool:
    return one.agent == who and 0 <= died - one.at <= RECORDED_SECONDS


def _both(first: Callable[[R, bool], None] | None, more: Callable[[R, bool], None]) -> Callable[[R, bool], None]:
    def both(record: R, new: bool) -> None:
        if first is not None:
            first(record, new)
        more(record, new)

    return both


@dataclass(frozen=True, slots=True)
class FenceMove:
    """One move of a fence: its commit, the value and the first parent before it, and its trailers."""

    at: float
    ref: str
    old: str | None
    new: str
    parent: str | None
    trailers: Mapping[str, str]

    @property
    def nonce(self) -> str:
        """Name of the epoch."""
        return self.trailers.get("Nonce", "")

    @property
    def number(self) -> int:
        """Number that orders epochs: `Epoch` since the second format, before it the id of the ACK."""
        return int(self.trailers.get("Epoch") or self.trailers.get("Ack-Id") or 0)

    @property
    def agent(self) -> str:
        """Agent that wrote it, by its own trailer."""
        return self.trailers.get("Agent", "")

    @property
    def released(self) -> bool:
        """True if it says that the lock is free."""
        return bool(self.nonce) and self.trailers.get("Released", "") == self.nonce

    @property
    def runs(self) -> int:
        """Paid runs begun since the last progress."""
        return int(self.trailers.get("Runs") or 0)

    @property
    def progress(self) -> tuple[str, ...]:
        """Values that a paid run can change; runs that leave them as they are are made again."""
        return tuple(self.trailers.get(name, "") for name in _PROGRESS)


async def fence_moves(bare: Bare, changes: Sequence[RefChange]) -> dict[str, list[FenceMove]]:
    """Return the moves of each fence, in their order; a deletion is no move."""
    moved = list(_list_moves(changes))
    commits = await bare.commits({new for _, _, _, new in moved})
    found: dict[str, list[FenceMove]] = {}
    for at, ref, old, new in moved:
        info = commits[new]
        parent = info.parents[0] if info.parents else None
        trailers = dict(_TRAILER.findall(info.message))
        found.setdefault(ref, []).append(FenceMove(at, ref, old, new, parent, trailers))
    return found


def _list_moves(changes: Sequence[RefChange]) -> Iterator[tuple[float, str, str | None, str]]:
    for change in changes:
        for ref, old, new in change.moves:
            if new is not None and FENCE.fullmatch(ref):
                yield change.at, ref, old, new
