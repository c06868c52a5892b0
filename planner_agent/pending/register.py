"""The register of pending tests: a git ref that planners advance by compare-and-swap, so that no test gets two issues.

Each commit of `refs/ack/pending` is one JSON line: `{"v": 1, "test", "agent", "run", "at"}` before an issue is
created, the same with `"issue"` once it is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from planner_agent import register_line
from shared.git.append_only_log import AppendOnlyLog
from shared.git.ports import Fences, Mirror

REF = "refs/ack/pending"

VERSION = 1


@dataclass(frozen=True, slots=True)
class PendingTest:
    """A test whose issue is written, or about to be; `at` is server time, `run` unlike any other."""

    test: str
    agent: str
    run: str
    at: datetime
    issue: int = 0


class Register:
    """The register of the tests of one repository that have an issue, or are about to get one."""

    def __init__(self, fences: Fences, history: Mirror) -> None:
        self._log: AppendOnlyLog[PendingTest] = AppendOnlyLog(REF, fences, history, read, VERSION)

    async def read(self) -> Mapping[str, PendingTest]:
        """Return test -> what is known of it, oldest first, as the server has it now. Raises `Transient`.

        Raises `Outdated` if a line cannot be read: the test that it names might get a second issue.
        """
        known: dict[str, PendingTest] = {}
        for line in await self._log.whole("pending tests", "opens no issue for them"):
            if not (line.test in known and known[line.test].issue):
                known[line.test] = line
        return known

    async def append(self, entry: PendingTest) -> bool:
        """Write the line next to what `read` has shown; return whether it is there now, False also if nobody knows."""
        return await self._log.append(write(entry), entry)


def write(entry: PendingTest) -> str:
    """Return the entry as one line."""
    fields = {"test": entry.test} | ({"issue": entry.issue} if entry.issue else {})
    return register_line.write(VERSION, entry, fields)


def read(text: str) -> PendingTest | None:
    """Return the entry that a line spells, of a newer version as far as it says the same; None for anything else."""
    return register_line.read(text, VERSION, _pending, newer=True)


def _pending(line: Mapping[str, Any], agent: str, run: str, at: datetime) -> PendingTest:
    return PendingTest(str(line["test"]), agent, run, at, int(line.get("issue", 0)))
