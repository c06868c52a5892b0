"""An append-only log in a git ref, a line per commit: read back in pages, advanced by compare-and-swap."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Generic, TypeVar

from shared.errors import Outdated, UnknownOutcome
from shared.git.history import Commit
from shared.git.ports import Fences, Mirror

E = TypeVar("E")

PAGE = 256
"""Lines read at a time."""


async def back_from(history: Mirror, tip: str | None) -> AsyncIterator[Commit]:
    """Yield the commits from `tip` on, newest first; none for None."""
    start = tip
    while start is not None:
        page = await history.log(start, PAGE)
        for line in page:
            yield line
        start = page[-1].parents[0] if page and page[-1].parents else None


def newer_version(text: str, newest: int) -> int:
    """Return the version that a line of JSON names as its `v`, if that is above `newest`; 0 for any other text."""
    try:
        version = int(json.loads(text)["v"])
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return 0
    return version if version > newest else 0


def _never() -> Callable[[object], bool]:
    return lambda entry: False


class AppendOnlyLog(Generic[E]):
    """One log as this process knows it: after the first reading only new lines are read.

    `read` makes an entry of a line, or None of any other text; it can read all lines up to `version`. `last` returns,
    for each reading, a function that is true for an entry, newest first, if nothing older is needed.
    """

    def __init__(
        self,
        ref: str,
        fences: Fences,
        history: Mirror,
        read: Callable[[str], E | None],
        version: int,
        last: Callable[[], Callable[[E], bool]] = _never,
    ) -> None:
        self.entries: list[E] = []
        """Entries of the newest reading, oldest first."""
        self.newer = 0
        """Version of a line that is missing there, because only a newer engine can read it; 0 if none is missing."""
        self._known = version
        self._ref, self._fences, self._history, self._parse, self._last = ref, fences, history, read, last
        self._tip: str | None = None

    async def renew(self) -> bool:
        """Bring `entries` to the server's present state; return whether that is news. Raises `Transient`."""
        found = await self._fences.read(self._ref)
        tip = found[0] if found else None
        if tip == self._tip:
            return False
        self.entries, self._tip = await self._from(tip), tip
        return True

    async def whole(self, of: str, otherwise: str) -> Sequence[E]:
        """Bring `entries` to the server's present state and return them. Raises `Transient`.

        Raises `Outdated` if a line is missing: `of` is the register's content, `otherwise` what this agent then does.
        """
        await self.renew()
        if self.newer:
            raise Outdated(
                f"The register of {of} ({self._ref}) has lines of version {self.newer}, and this agent reads version "
                f"{self._known}: it {otherwise}. Upgrade this agent."
            )
        return self.entries

    async def append(self, text: str, entry: E) -> bool:
        """Append the line to what was read; return whether it stands there now, False also if nobody knows."""
        parents = [self._tip] if self._tip else []
        try:
            oid = await self._fences.advance(self._ref, text, self._tip, parents, ())
        except UnknownOutcome:
            return False
        if oid is not None:
            self._tip = oid
            self.entries.append(entry)
        return oid is not None

    async def _from(self, tip: str | None) -> list[E]:
        newest: list[E] = []
        is_last, newer = self._last(), 0
        async for line in back_from(self._history, tip):
            if line.oid == self._tip:
                self.newer = max(self.newer, newer)
                return self.entries + newest[::-1]
            entry = self._parse(line.message)
            if entry is None:
                newer = max(newer, newer_version(line.message, self._known))
                continue
            newest.append(entry)
            if is_last(entry):
                break
        self.newer = newer
        return newest[::-1]
