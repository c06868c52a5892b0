"""The data of the GitHub in memory: values with their history, label changes, items, pull requests and pushes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from shared.lock.port import RefUpdate
from shared.models import Account

V = TypeVar("V")


class Versions(Generic[V]):
    """A value with its history; a version is seen by reads of its moment or later."""

    __slots__ = ("_seen_from", "_values")

    def __init__(self, value: V, at: float = 0.0) -> None:
        self._values = [value]
        self._seen_from = [at]

    @property
    def now(self) -> V:
        """The primary's value."""
        return self._values[-1]

    @property
    def first(self) -> V:
        """The first value."""
        return self._values[0]

    def put(self, value: V, at: float) -> None:
        """Add a new version; versions become visible in their order."""
        self._values.append(value)
        self._seen_from.append(max(at, self._seen_from[-1]))

    def seen(self, at: float) -> V | None:
        """Return the value that a read of this moment shows; None when there was none yet."""
        times = self._seen_from
        for index in range(len(times) - 1, -1, -1):
            if times[index] <= at:
                return self._values[index]
        return None


@dataclass(frozen=True, slots=True)
class LabelChange:
    """One entry of a label's timeline; an agent's was sent earlier than it was carried out."""

    at: float
    sent_at: float
    label: str
    added: bool
    actor: Account


@dataclass(frozen=True, slots=True)
class Item:
    """An issue or pull request as one read shows it."""

    labels: frozenset[str]
    open: bool

    def __str__(self) -> str:
        return f"{'open' if self.open else 'closed'}, {sorted(self.labels)}"


@dataclass(slots=True)
class Pull:
    """A pull request; its head is its branch."""

    number: int
    branch: str
    seen_from: float
    merged: str = ""


@dataclass(slots=True)
class Push:
    """One accepted move of a fence, with all that it moved."""

    at: float
    ref: str
    oid: str
    before: str | None
    parents: tuple[str, ...]
    message: str
    moved: tuple[RefUpdate, ...]
    sender: int
    sent_at: float


@dataclass(frozen=True, slots=True)
class Text:
    """One text of a comment: when it was written, when that was sent, by whom (account and process)."""

    at: float
    sent_at: float
    author: Account
    body: str
    sender: int
