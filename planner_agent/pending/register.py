"""The register of pending tests: a git ref that planners advance by compare-and-swap, so that no test gets two issues.

Each commit of `refs/ack/pending` is one JSON line: `{"v": 1, "test", "agent", "run", "at"}` before an issue is
created, the same with `"issue"` once it is there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from shared.errors import UnknownOutcome
from shared.lock.port import RefUpdate

REF = "refs/ack/pending"

VERSION = 1

PAGE = 256
"""Lines read at a time."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A test that somebody is about to write an issue for, or has; `at` is server time, `run` unlike any other."""

    test: str
    agent: str
    run: str
    at: datetime
    issue: int = 0


class Fences(Protocol):
    """The compare-and-swap of refs: `shared.git.fences.Fences`."""

    async def read(self, ref: str) -> tuple[str, str] | None: ...

    async def advance(
        self, ref: str, message: str, expected: str | None, parents: Sequence[str], updates: Sequence[RefUpdate]
    ) -> str | None: ...


class Line(Protocol):
    """One commit."""

    @property
    def oid(self) -> str: ...

    @property
    def parents(self) -> tuple[str, ...]: ...

    @property
    def message(self) -> str: ...


class History(Protocol):
    """What `read` has brought here: `shared.git.mirror.Mirror`."""

    async def log(self, ref: str, limit: int) -> Sequence[Line]: ...


class Register:
    """Which tests of one repository have an issue, or are about to get one."""

    def __init__(self, fences: Fences, history: History) -> None:
        self._fences = fences
        self._history = history
        self._tip: str | None = None
        self._lines: list[Entry] = []

    async def read(self) -> Mapping[str, Entry]:
        """Test -> what is known of it, oldest first, as the server has it now. Raises `Transient`."""
        found = await self._fences.read(REF)
        tip = found[0] if found else None
        if tip is None:
            self._lines = []
        elif tip != self._tip:
            self._lines = await self._back_from(tip)
        self._tip = tip
        known: dict[str, Entry] = {}
        for line in self._lines:
            if not (line.test in known and known[line.test].issue):
                known[line.test] = line
        return known

    async def append(self, entry: Entry) -> bool:
        """Whether the line stands there now, next to what `read` has shown; False too when nobody knows."""
        parents = [self._tip] if self._tip else []
        try:
            oid = await self._fences.advance(REF, write(entry), self._tip, parents, ())
        except UnknownOutcome:
            return False
        if oid is not None:
            self._tip = oid
            self._lines.append(entry)
        return oid is not None

    async def _back_from(self, tip: str) -> list[Entry]:
        newest: list[Entry] = []
        start: str | None = tip
        while start is not None:
            page = await self._history.log(start, PAGE)
            for line in page:
                if line.oid == self._tip:
                    return self._lines + newest[::-1]
                entry = read(line.message)
                newest += [entry] if entry else []
            start = page[-1].parents[0] if page and page[-1].parents else None
        return newest[::-1]


def write(entry: Entry) -> str:
    """One line."""
    line = {"v": VERSION, "test": entry.test, "agent": entry.agent, "run": entry.run, "at": entry.at.isoformat()}
    return json.dumps(line | ({"issue": entry.issue} if entry.issue else {}), sort_keys=True)


def read(text: str) -> Entry | None:
    """The entry that a line spells; None for anything else."""
    try:
        line = json.loads(text)
        if line["v"] != VERSION:
            return None
        at = datetime.fromisoformat(line["at"])
        if at.tzinfo is None:
            return None
        return Entry(str(line["test"]), str(line["agent"]), str(line["run"]), at, int(line.get("issue", 0)))
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
