"""The lock's server in memory: comments with their history, refs, commits, virtual time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any

from shared.errors import EngineError, NotAllowed
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, read_fence, write_fence
from shared.lock.port import (
    AdvanceFence,
    EditComment,
    ForeignFence,
    Operation,
    PostComment,
    ProbeRefs,
    ReadComment,
    ReadComments,
    ReadFence,
    RefUpdate,
)
from shared.models import Account, Comment

EPOCH = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
BOT = Account(7001, "engine[bot]")
STRANGER = Account(666, "mallory")
FIRST_ID = 2_200_000_001


class Fault(Enum):
    """Fault of a write."""

    FAILED = "certainly not carried out"
    LOST = "not carried out, and the caller cannot know"
    REPLY_LOST = "carried out, and the caller cannot know"
    LATE = "carried out by `Server.deliver`, long after the caller gave up"
    TWICE = "carried out twice, the second one is answered"


@dataclass(frozen=True)
class Stale:
    """A read that shows the comments as they were `seconds` ago."""

    seconds: float


@dataclass(frozen=True)
class Hidden:
    """A read in which comments of these ids, or with this text, are missing."""

    ids: frozenset[int] = frozenset()
    text: str | None = None

    def hides(self, comment: Comment) -> bool:
        """Return whether this comment is missing."""
        return comment.id in self.ids or (self.text is not None and self.text in comment.body)


Plan = Fault | Stale | Hidden | EngineError


@dataclass
class Server:
    """Comments with their history, refs and commits; `seconds` is the only time there is."""

    seconds: float = 0.25
    refs: dict[str, str] = field(default_factory=dict)
    commits: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    planned: list[Sequence[object]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    """Deleted refs, each with its last value."""
    protected: set[str] = field(default_factory=set)
    """Refs that nobody may delete."""
    _history: list[tuple[float, int, Comment | None]] = field(default_factory=list)
    _late: list[Operation[Any]] = field(default_factory=list)
    _ids: int = FIRST_ID

    @property
    def at(self) -> datetime:
        """The server's time, with fractions as the real adapter has them."""
        return EPOCH + timedelta(seconds=self.seconds)

    def comments(self, seconds_ago: float = 0) -> dict[int, Comment]:
        """Return the comments of the thread, ascending by id."""
        shown: dict[int, Comment] = {}
        for at, id, comment in self._history:
            if at > self.seconds - seconds_ago:
                continue
            if comment is None:
                shown.pop(id, None)
            else:
                shown[id] = comment
        return dict(sorted(shown.items()))

    def post(self, number: int, body: str, author: Account = BOT) -> Comment:
        """Post a new comment, by an agent or by anybody."""
        at = self.at.replace(microsecond=0)
        comment = Comment(self._ids, number, author, body, at, at)
        self._ids += 1
        self._history.append((self.seconds, comment.id, comment))
        return comment

    def edit(self, id: int, body: str) -> Comment | None:
        """Replace a body; None when the comment is gone."""
        found = self.comments().get(id)
        if found is None:
            return None
        edited = replace(found, body=body, updated_at=self.at.replace(microsecond=0))
        self._history.append((self.seconds, id, edited))
        return edited

    def delete(self, id: int) -> None:
        """Delete a comment, as a person does."""
        self._history.append((self.seconds, id, None))

    def fence(self, item: ItemKey) -> Fence | None:
        """The fence as it stands."""
        oid = self.refs.get(item.ref)
        if oid is None:
            return None
        found = read_fence(item, oid, self.commits[oid][0])
        if found is None:
            raise ForeignFence(item.ref, oid)
        return found

    def push(self, fence: Fence, expected: str | None, carries: str, updates: Iterable[RefUpdate]) -> str | None:
        """Move all refs, or none; return the new commit, or None."""
        moves = [RefUpdate(fence.key.ref, expected, ""), *updates]
        gone = [move for move in moves[1:] if not move.new]
        if self.protected & {move.ref for move in gone}:
            raise NotAllowed("refusing to delete a protected ref")
        if any(self.refs.get(move.ref) != move.expected for move in moves):
            return None
        parents = tuple(parent for parent in (expected, carries) if parent)
        message = write_fence(fence)
        oid = hashlib.sha1(f"{parents}{message}".encode()).hexdigest()
        self.commits[oid] = message, parents
        self.removed += [f"{move.ref} {move.expected}" for move in gone]
        self.refs |= {move.ref: move.new for move in moves[1:]} | {fence.key.ref: oid}
        return oid

    def _becomes(self, other: Fence) -> RefUpdate:
        """Return the update of another item's fence: from the value at which it was read to a new commit."""
        message, parents = write_fence(other), (other.oid,)
        oid = hashlib.sha1(f"{parents}{message}".encode()).hexdigest()
        self.commits[oid] = message, parents
        return RefUpdate(other.key.ref, other.oid, oid)

    def lineage(self, item: ItemKey) -> list[Fence]:
        """Every fence of an item that was ever accepted, newest first, along the first parents."""
        found: list[Fence] = []
        oid = self.refs.get(item.ref)
        while oid is not None:
            message, parents = self.commits[oid]
            fence = read_fence(item, oid, message)
            assert fence is not None
            found.append(fence)
            oid = next((parent for parent in parents if parent in self.commits), None)
        return found

    def check_all_met(self) -> None:
        """Check at the end of a test that no planned fault is unused and no write is still on its way."""
        assert not any(self.planned)
        assert not self._late

    def deliver(self) -> int:
        """Carry out the writes that were on their way; return their number."""
        late, self._late = self._late, []
        for operation in late:
            self.carry_out(operation, None)
        return len(late)

    def delay(self, operation: Operation[Any]) -> None:
        """Keep a write for `deliver`."""
        self._late.append(operation)

    def carry_out(self, operation: Operation[Any], plan: Plan | None) -> object:
        """Answer one operation."""
        comments = self.comments(plan.seconds if isinstance(plan, Stale) else 0)
        if isinstance(plan, Hidden):
            comments = {id: comment for id, comment in comments.items() if not plan.hides(comment)}
        match operation:
            case ReadFence(item):
                return self.fence(item)
            case ReadComments(number, since):
                thread = (c for c in comments.values() if c.number == number)
                return tuple(c for c in thread if since is None or c.updated_at >= since)
            case ReadComment(id):
                return comments.get(id)
            case PostComment(number, body):
                return self.post(number, body)
            case EditComment(id, body):
                return self.edit(id, body)
            case AdvanceFence(fence, expected, carries, updates, other):
                moves = updates if other is None else (*updates, self._becomes(other))
                return self.push(fence, expected, carries, moves)
            case ProbeRefs():
                return None
            case _:
                raise TypeError(f"unexpected {operation!r}")
