"""The line of the planner's registers: JSON that says what is taken, by which agent in which run, and when."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

E = TypeVar("E")

DAY = timedelta(days=1)


class Taken(Protocol):
    """An entry of a register: `at` is server time, `run` unlike any other."""

    @property
    def agent(self) -> str: ...

    @property
    def run(self) -> str: ...

    @property
    def at(self) -> datetime: ...


def write(version: int, entry: Taken, fields: Mapping[str, object]) -> str:
    """Return an entry as one line; `fields` are those that only its register has."""
    line = {"v": version, **fields, "agent": entry.agent, "run": entry.run, "at": entry.at.isoformat()}
    return json.dumps(line, sort_keys=True)


def read(
    text: str,
    version: int,
    entry: Callable[[Mapping[str, Any], str, str, datetime], E],
    *,
    newer: bool = False,
) -> E | None:
    """Return the entry that a line of this version spells, with `newer` also of a later one; None for anything else.

    `entry` makes one of the line, its agent, its run and its time.
    """
    try:
        line = json.loads(text)
        found, at = int(line["v"]), datetime.fromisoformat(line["at"])
        if found < version or (found > version and not newer) or at.tzinfo is None:
            return None
        return entry(line, str(line["agent"]), str(line["run"]), at)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return None


def places(taken: Iterable[Taken], per_day: int, now: datetime) -> int:
    """Return how many more may be taken, so that no 24 hours see more than `per_day`."""
    return max(0, per_day - sum(now - one.at < DAY for one in taken))
