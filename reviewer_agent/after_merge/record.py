"""Records of the answers to merges that turned their base red: a ref per pull request, moved by compare-and-swap.

A record is written before anything is opened and again after it, so that any number of reviewers open one thing.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from reviewer_agent.ref_records import VERSION, parse, read_record
from shared.git.ports import Fences
from shared.lock.codec import FENCE_NAMESPACE
from shared.lock.port import RefUpdate

PREFIX = f"{FENCE_NAMESPACE}/after-merge/"
"""Prefix of the refs, one for each pull request whose merge was answered."""


class Answer(StrEnum):
    """Kind of item that is opened."""

    ISSUE = "issue"
    REVERT = "revert"


@dataclass(frozen=True, slots=True)
class Record:
    """The answer to the merge of a pull request; `at` is server time, `login` the account that opens the item.

    `over`: it is finished; `number` is the opened item, 0 if GitHub refused to open it.
    """

    pull_request: int
    merge: str
    answer: Answer
    login: str
    at: datetime
    over: bool = False
    number: int = 0

    def write(self, nonce: str) -> str:
        """Return the commit message; `nonce` makes it unlike any other."""
        return (
            f"after the merge of #{self.pull_request}\n\nEngine-After-Merge: {VERSION}\nPr: {self.pull_request}\n"
            f"Merge: {self.merge}\nAnswer: {self.answer}\nLogin: {self.login}\nAt: {self.at.isoformat()}\n"
            f"Nonce: {nonce}\n" + (f"Over: {self.number}\n" if self.over else "")
        )

    @classmethod
    def read(cls, message: str) -> Record | None:
        """Return the record that a commit message spells; None if it is none of this version."""

        def made(told: Mapping[str, str], at: datetime) -> Record:
            over, number = "Over" in told, int(told.get("Over", "0"))
            return cls(int(told["Pr"]), told["Merge"], Answer(told["Answer"]), told["Login"], at, over, number)

        return parse(message, "Engine-After-Merge", made)


class Records:
    """The records of the answers in one repository."""

    def __init__(self, refs: Fences) -> None:
        self._refs = refs

    async def read(self, number: int) -> tuple[str | None, Record | None]:
        """Return the commit that the ref of a pull request is at, and its record; None twice if nothing was done.

        Raises `Transient`, and `ForeignFence` for a record that only a newer engine can read.
        """
        return await read_record(self._refs, _ref(number), Record.read)

    async def move(self, record: Record, expected: str | None, updates: Sequence[RefUpdate] = ()) -> str | None:
        """Write it in place of `expected`, together with `updates`; return the new commit, or None if too late."""
        message = record.write(secrets.token_hex(8))
        return await self._refs.advance(_ref(record.pull_request), message, expected, (), updates)


def answered(refs: Iterable[str]) -> frozenset[int]:
    """Return the pull requests whose merge was answered, given the names of all refs."""
    named = (ref.removeprefix(PREFIX) for ref in refs if ref.startswith(PREFIX))
    return frozenset(int(name) for name in named if name.isdecimal())


def _ref(number: int) -> str:
    return f"{PREFIX}{number}"
