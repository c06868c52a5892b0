"""The register of triaged issues: a git ref that planners advance by compare-and-swap, so that a day has its limit.

Each commit of `refs/ack/triage` is one JSON line: `{"v": 1, "issue", "agent", "run", "at"}`, there before the call is
paid for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.git.append_only_log import AppendOnlyLog
from shared.git.ports import Fences, Mirror

REF = "refs/ack/triage"

VERSION = 1

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Entry:
    """An issue that a planner is about to triage, or has; `at` is server time, `run` unlike any other."""

    issue: int
    agent: str
    run: str
    at: datetime


def places(entries: Iterable[Entry], per_day: int, now: datetime) -> int:
    """Return how many issues may still be triaged, so that no 24 hours see more than `per_day`."""
    return max(0, per_day - sum(now - one.at < DAY for one in entries))


class Register:
    """The register of the issues of one repository that were triaged, or are about to be."""

    def __init__(self, fences: Fences, history: Mirror) -> None:
        self._log: AppendOnlyLog[Entry] = AppendOnlyLog(REF, fences, history, read, VERSION)

    async def read(self) -> tuple[Entry, ...]:
        """Return all entries, oldest first, as the server has them now.

        Raises `Transient`, and `Outdated` if a line cannot be read: the limit of the day could be passed.
        """
        return tuple(await self._log.whole("triaged issues", "triages nothing"))

    async def append(self, entry: Entry) -> bool:
        """Write the line next to what `read` has shown; return whether it is there now, False also if nobody knows."""
        return await self._log.append(write(entry), entry)


def write(entry: Entry) -> str:
    """Return the entry as one line."""
    line = {"v": VERSION, "issue": entry.issue, "agent": entry.agent, "run": entry.run, "at": entry.at.isoformat()}
    return json.dumps(line, sort_keys=True)


def read(text: str) -> Entry | None:
    """Return the entry that a line spells; None for anything else."""
    try:
        line = json.loads(text)
        at = datetime.fromisoformat(line["at"])
        if int(line["v"]) != VERSION or at.tzinfo is None:
            return None
        return Entry(int(line["issue"]), str(line["agent"]), str(line["run"]), at)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return None
