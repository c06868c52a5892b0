"""The planner's registers: git refs that planners advance by compare-and-swap, so that nothing is taken twice.

Each commit is one JSON line, which says what is taken, by which agent in which run, and when.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from shared.git.append_only_log import AppendOnlyLog
from shared.git.ports import Fences, Mirror

E = TypeVar("E")

VERSION = 1

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Form(Generic[E]):
    """The form of a register: its ref, and how an entry is written as a line and read from one.

    `of` and `otherwise` tell people what it holds, and what an agent then does that cannot read a line of it.
    """

    ref: str
    write: Callable[[E], str]
    read: Callable[[str], E | None]
    of: str
    otherwise: str


class Register(Generic[E]):
    """One register of a repository."""

    def __init__(self, form: Form[E], fences: Fences, history: Mirror) -> None:
        self._form = form
        self._log: AppendOnlyLog[E] = AppendOnlyLog(form.ref, fences, history, form.read, VERSION)

    async def read(self) -> tuple[E, ...]:
        """Return all entries, oldest first, as the server has them now.

        Raises `Transient`, and `Outdated` if a line cannot be read: what it names could be taken twice.
        """
        return tuple(await self._log.whole(self._form.of, self._form.otherwise))

    async def append(self, entry: E) -> bool:
        """Write the line next to what `read` has shown; return whether it is there now, False also if nobody knows."""
        return await self._log.append(self._form.write(entry), entry)


def write(agent: str, run: str, at: datetime, **fields: object) -> str:
    """Return an entry as one line; `fields` are those that only its register has, `at` is server time."""
    return json.dumps({"v": VERSION, **fields, "agent": agent, "run": run, "at": at.isoformat()}, sort_keys=True)


def read(text: str, entry: Callable[[Mapping[str, Any], str, str, datetime], E], *, newer: bool = False) -> E | None:
    """Return the entry that a line of this version spells, with `newer` also of a later one; None for anything else.

    `entry` makes one of the line, its agent, its run and its time.
    """
    try:
        line = json.loads(text)
        found, at = int(line["v"]), datetime.fromisoformat(line["at"])
        if found < VERSION or (found > VERSION and not newer) or at.tzinfo is None:
            return None
        return entry(line, str(line["agent"]), str(line["run"]), at)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return None


def places(taken: Iterable[datetime], per_day: int, now: datetime) -> int:
    """Return how many more may be taken, so that no 24 hours see more than `per_day`."""
    return max(0, per_day - sum(now - at < DAY for at in taken))
