"""The register of pending tests, by which no test gets two issues.

Its lines are `{"v": 1, "test", "agent", "run", "at"}` before an issue is created, the same with `"issue"` once it is
there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from planner_agent import register
from planner_agent.register import Form

REF = "refs/ack/pending"


@dataclass(frozen=True, slots=True)
class PendingTest:
    """A test whose issue is written, or about to be; `at` is server time, `run` unlike any other."""

    test: str
    agent: str
    run: str
    at: datetime
    issue: int = 0


def latest(lines: Iterable[PendingTest]) -> Mapping[str, PendingTest]:
    """Return test -> what is known of it, oldest first."""
    known: dict[str, PendingTest] = {}
    for line in lines:
        if not (line.test in known and known[line.test].issue):
            known[line.test] = line
    return known


def write(entry: PendingTest) -> str:
    """Return the entry as one line."""
    issue = {"issue": entry.issue} if entry.issue else {}
    return register.write(entry.agent, entry.run, entry.at, test=entry.test, **issue)


def read(text: str) -> PendingTest | None:
    """Return the entry that a line spells, of a newer version as far as it says the same; None for anything else."""
    return register.read(text, _entry, newer=True)


def _entry(line: Mapping[str, Any], agent: str, run: str, at: datetime) -> PendingTest:
    return PendingTest(str(line["test"]), agent, run, at, int(line.get("issue", 0)))


PENDING_TESTS = Form(REF, write, read, "pending tests", "opens no issue for them")
