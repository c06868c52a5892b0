"""The register of questions: a git ref that planners advance by compare-and-swap, so that each is paid for once.

Each commit of `refs/ack/assistant` is one JSON line: `{"v": 1, "comment", "issue", "state", "agent", "run", "at"}`. One
with the state `taken` is there before the call is paid for, one with `over` after the reply was posted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from planner_agent import register_line
from shared.git.append_only_log import AppendOnlyLog
from shared.git.ports import Fences, Mirror

REF = "refs/ack/assistant"

VERSION = 1


class State(StrEnum):
    """Progress of a question."""

    TAKEN = "taken"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Entry:
    """A question that a planner is about to answer, or that needs no answer any more.

    `comment` is the id of the comment that asks, `at` is server time, `run` unlike any other.
    """

    comment: int
    issue: int
    state: State
    agent: str
    run: str
    at: datetime


def places(entries: Iterable[Entry], per_day: int, now: datetime) -> int:
    """Return how many calls may still be paid for, so that no 24 hours see more than `per_day`."""
    return register_line.places((one for one in entries if one.state is State.TAKEN), per_day, now)


class Register:
    """The register of the questions of one repository that were taken, or are over."""

    def __init__(self, fences: Fences, history: Mirror) -> None:
        self._log: AppendOnlyLog[Entry] = AppendOnlyLog(REF, fences, history, read, VERSION)

    async def read(self) -> tuple[Entry, ...]:
        """Return all entries, oldest first, as the server has them now.

        Raises `Transient`, and `Outdated` if a line cannot be read: a question could be paid for twice.
        """
        return tuple(await self._log.whole("questions", "answers nothing"))

    async def append(self, entry: Entry) -> bool:
        """Write the line next to what `read` has shown; return whether it is there now, False also if nobody knows."""
        return await self._log.append(write(entry), entry)


def write(entry: Entry) -> str:
    """Return the entry as one line."""
    fields = {"comment": entry.comment, "issue": entry.issue, "state": entry.state}
    return register_line.write(VERSION, entry, fields)


def read(text: str) -> Entry | None:
    """Return the entry that a line spells; None for anything else."""
    return register_line.read(text, VERSION, _entry)


def _entry(line: Mapping[str, Any], agent: str, run: str, at: datetime) -> Entry:
    return Entry(int(line["comment"]), int(line["issue"]), State(line["state"]), agent, run, at)
