"""A GitHub in memory: comments and labels as lists of versions, so that a read may show the past; refs as they are."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

from shared.errors import Gone
from shared.lock.port import RefUpdate
from shared.models import Account, Comment

from .records import Item, LabelChange, Pull, Push, Text, Versions
from .weather import Refused, Weather

EPOCH = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
BOT = Account(7001, "engine[bot]")
PERSON = Account(5, "octavia")
STRANGER = Account(666, "mallory")
FIRST_ID = 2_200_000_001

_NONCE = re.compile(r"^Nonce: ([0-9a-f]+)$", re.MULTILINE)
_RELEASED = re.compile(r"^Released: ([0-9a-f]+)$", re.MULTILINE)


def server_time(seconds: float) -> datetime:
    """Return a `Date` header's time: whole seconds."""
    return EPOCH + timedelta(seconds=int(seconds))


@dataclass(slots=True)
class GitHub:
    """The server. `sender` and `sent_at` tell the request that is carried out just now."""

    rng: Random
    commit: float
    weather: Weather
    frozen_fence: bool = False
    """A planted bug: work is pushed without the fence, which is moved afterwards."""
    now: float = 0.0
    sender: int = 0
    sent_at: float = 0.0
    threads: dict[int, list[Versions[Comment | None]]] = field(default_factory=dict)
    items: dict[int, Versions[Item]] = field(default_factory=dict)
    timelines: dict[int, list[LabelChange]] = field(default_factory=dict)
    pulls: dict[int, Pull] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    pushes: list[Push] = field(default_factory=list)
    began: dict[str, list[str]] = field(default_factory=dict)
    """Per fence: the nonces of its epochs, in their order."""
    refused_zombies: int = 0
    """Refused pushes of an epoch after which another had begun."""
    merges: int = 0
    gone: set[int] = field(default_factory=set)
    """Items that were transferred."""
    authors: dict[int, list[Text]] = field(default_factory=dict)
    """Per comment: everything that was written into it."""
    _comments: dict[int, Versions[Comment | None]] = field(default_factory=dict)

    # Comments

    def thread(self, number: int, since: datetime | None, at: float) -> tuple[Comment, ...]:
        """The comments of an item, ascending by id."""
        self.here(number)
        shown = [version.seen(at) for version in self.threads.get(number, ())]
        return tuple(c for c in shown if c is not None and (since is None or c.updated_at >= since))

    def comment(self, id: int, at: float) -> Comment | None:
        """One comment; None is a 404."""
        shown = found.seen(at) if (found := self._comments.get(id)) else None
        return None if shown is None or shown.number in self.gone else shown

    def post(self, number: int, body: str, author: Account = BOT) -> Comment:
        """Post a new comment: its id is given now, it becomes visible a little later."""
        self.here(number)
        at = server_time(self.now)
        comment = Comment(FIRST_ID + len(self._comments), number, author, body, at, at)
        versions: Versions[Comment | None] = Versions(comment, self._visible())
        self._comments[comment.id] = versions
        self.threads.setdefault(number, []).append(versions)
        self.authors[comment.id] = [Text(self.now, self.sent_at, author, body, self.sender)]
        return comment

    def edit(self, id: int, body: str, author: Account = BOT) -> Comment | None:
        """Replace a text; None when the comment is gone."""
        versions = self._comments.get(id)
        old = versions.now if versions is not None else None
        if versions is None or old is None or old.number in self.gone:
            return None
        if is_engine(author) and old.author != author:
            raise Refused
        edited = Comment(id, old.number, old.author, body, old.created_at, server_time(self.now))
        versions.put(edited, self._visible())
        self.authors[id].append(Text(self.now, self.sent_at, author, body, self.sender))
        return edited

    def delete(self, id: int) -> None:
        """Delete a comment, as a person does."""
        self._comments[id].put(None, self._visible())

    def is_there(self, id: int) -> bool:
        """Return whether nobody has deleted a comment."""
        return self._comments[id].now is not None

    def _visible(self) -> float:
        return self.now + (self.rng.random() * self.commit if self.commit else 0.0)

    # Items

    def here(self, number: int) -> None:
        """Raise `Gone` for an item that is somewhere else now."""
        if number in self.gone:
            raise Gone

    def item(self, number: int, at: float) -> Item:
        """An issue or pull request."""
        self.here(number)
        return self.items[number].seen(at) or self.items[number].now

    def timeline(self, number: int, at: float) -> tuple[LabelChange, ...]:
        """Return the label changes, with their authors."""
        self.here(number)
        return tuple(change for change in self.timelines.get(number, ()) if change.at <= at)

    def add_label(self, number: int, label: str, actor: Account = BOT) -> frozenset[str]:
        """Add a label; the answer is the whole set."""
        return self._label(number, label, True, actor)

    def remove_label(self, number: int, label: str, actor: Account = BOT) -> frozenset[str]:
        """Remove a label, if it is there."""
        return self._label(number, label, False, actor)

    def close(self, number: int) -> None:
        """Close an item."""
        self.items[number].put(Item(self.items[number].now.labels, False), self.now)

    def _label(self, number: int, label: str, added: bool, actor: Account) -> frozenset[str]:
        self.here(number)
        item = self.items[number]
        labels = item.now.labels
        if (label in labels) is added:
            return labels
        labels = labels | {label} if added else labels - {label}
        item.put(Item(labels, item.now.open), self.now)
        self.timelines.setdefault(number, []).append(LabelChange(self.now, self.sent_at, label, added, actor))
        return labels

    # Pull requests

    def pulls_of(self, branch: str, at: float) -> tuple[Pull, ...]:
        """The pull requests of a branch."""
        return tuple(pull for pull in self.pulls.values() if pull.branch == branch and pull.seen_from <= at)

    def open_pull(self, branch: str) -> Pull | None:
        """Open a new pull request; None is a 422: there is one, or nothing to merge."""
        tip = self.refs.get(branch)
        if tip is None or any(pull.branch == branch and pull.merged in {"", tip} for pull in self.pulls.values()):
            return None
        pull = Pull(len(self.pulls) + 1001, branch, self._visible())
        self.pulls[pull.number] = pull
        self.items[pull.number] = Versions(Item(frozenset(), True), pull.seen_from)
        return pull

    def merge(self, number: int, sha: str, closes: int) -> bool:
        """Merge exactly this commit, which closes the issue; False is a 405 or 409."""
        pull = self.pulls[number]
        if pull.merged or self.refs[pull.branch] != sha:
            return False
        pull.merged = sha
        self.merges += 1
        self.close(number)
        self.close(closes)
        return True

    # Git

    def fence(self, ref: str) -> tuple[str, str] | None:
        """The commit of a ref and its message, as it is now."""
        self.weather.fetching(self.now)
        oid = self.refs.get(ref)
        return None if oid is None else (oid, self.messages.get(oid, ""))

    def committed(self, message: str, parents: Sequence[str]) -> str:
        """Make a commit that no ref names yet; return its id."""
        oid = hashlib.sha1(f"{parents}{message}".encode()).hexdigest()
        self.messages[oid], self.parents[oid] = message, tuple(parents)
        return oid

    def push(
        self, ref: str, message: str, expected: str | None, parents: Sequence[str], updates: Sequence[RefUpdate]
    ) -> str | None:
        """Move all refs or none; a ref with its new value already needs no lease (git: everything up to date)."""
        self.weather.pushing(self.now, creates=expected is None)
        oid = hashlib.sha1(f"{parents}{message}".encode()).hexdigest()
        if self.frozen_fence and updates and all(self.refs.get(move.ref) == move.expected for move in updates):
            self.refs |= {move.ref: move.new for move in updates}
            before = self.refs.get(ref)
            self.pushes.append(
                Push(self.now, ref, oid, before, tuple(parents), message, tuple(updates), self.sender, self.sent_at)
            )
        moves = [move for move in (RefUpdate(ref, expected, oid), *updates) if self.refs.get(move.ref, "") != move.new]
        if any(self.refs.get(move.ref) != move.expected for move in moves):
            nonces = self.began.get(ref, [])
            self.refused_zombies += nonce_of(message) in nonces[:-1]
            return None
        if moves:
            self.messages[oid], self.parents[oid] = message, tuple(parents)
            self._moved([RefUpdate(ref, self.refs.get(ref), oid), *(move for move in moves if move.ref != ref)])
        return oid

    def _moved(self, moves: Sequence[RefUpdate]) -> None:
        """Move all of them at once; each fence among them is an accepted push of its own."""
        for move in moves:
            self.refs.pop(move.ref, None)
            if move.new:
                self.refs[move.ref] = move.new
        for move in moves:
            message = self.messages.get(move.new, "")
            nonces, nonce = self.began.setdefault(move.ref, []), nonce_of(message)
            if not nonce:
                continue  # a branch
            if nonces[-1:] != [nonce]:
                nonces.append(nonce)
            beside = tuple(one for one in moves if one is not move)
            parents = self.parents.get(move.new, ())
            self.pushes.append(
                Push(self.now, move.ref, move.new, move.expected, parents, message, beside, self.sender, self.sent_at)
            )

    def probe(self) -> None:
        """Make, move and delete a scratch ref."""
        self.weather.pushing(self.now, creates=True, probes=True)


def is_engine(author: Account) -> bool:
    """Return whether it is an account of the engine's."""
    return BOT.id <= author.id < BOT.id + 100


def nonce_of(message: str) -> str:
    """Return the nonce of a fence's epoch."""
    found = _NONCE.search(message)
    return found[1] if found else ""


def released(message: str) -> bool:
    """Return whether a fence says that its own epoch is over."""
    found = _RELEASED.search(message)
    return found is not None and found[1] == nonce_of(message)
