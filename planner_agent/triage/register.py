"""The register of triaged issues: a git ref that planners advance by compare-and-swap, so that a day has its limit.

Each commit of `refs/ack/triage` is one JSON line: `{"v": 1, "issue", "agent", "run", "at"}`, there before the call is
paid for.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from planner_agent import register_line
from shared.git.append_only_log import AppendOnlyLog
from shared.git.ports import Fences, Mirror

REF = "refs/ack/triage"

VERSION = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """An issue that a planner is about to triage, or has; `at` is server time, `run` unlike any other."""

    issue: int
    agent: str
    run: str
    at: datetime


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
    return register_line.write(VERSION, entry, {"issue": entry.issue})


def read(text: str) -> Entry | None:
    """Return the entry that a line spells; None for anything else."""
    return register_line.read(text, VERSION, lambda line, agent, run, at: Entry(int(line["issue"]), agent, run, at))
