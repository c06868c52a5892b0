"""What an issue waits for: by its text, by GitHub's own relationships, and when a blocker has gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from shared.errors import Gone
from shared.github.ports import Inbox, Issues
from shared.models import Issue
from shared.specification.dependencies import holding, written

MOST_WATCHED = 20
"""So many blockers are looked at for one poll; where there are more, the others come with the next ones."""


@dataclass(frozen=True, slots=True)
class Wait:
    """One issue waits for another; `written`: its text says so, else GitHub's relationship does."""

    on: int
    repository: str = ""
    """`owner/repo` of the blocker; empty for the issue's own."""
    written: bool = True

    def __str__(self) -> str:
        return f"{self.repository}#{self.on}"


class Blockers:
    """Reads what is waited for, and remembers it for those that wait."""

    def __init__(self, issues: Issues, inbox: Inbox) -> None:
        self._issues = issues
        self._inbox = inbox
        self._waiting: dict[int, Wait] = {}
        self._freed: dict[int, int] = {}

    async def first(self, issue: Issue) -> Wait | None:
        """The first open issue that has to be closed before this one; it is watched from now on.

        Never the issue itself, nor its own story, which ends only after it. Raises `Transient`, also for one that
        the issue names and a replica may not know yet.
        """
        self._waiting.pop(issue.number, None)
        for wait in await self.of(issue):
            if not wait.written or await self._opened(wait.on, issue.created_at) is not None:
                self._waiting[issue.number] = wait
                return wait
        return None

    async def of(self, issue: Issue) -> tuple[Wait, ...]:
        """Everything that an issue may wait for, its text first; of GitHub's relationships only what is open."""
        found = {number: Wait(number) for number in written(issue)}
        if not issue.blocked_by:  # the issue itself says how many there are: nothing is asked where there are none
            return tuple(found.values())
        blockers = holding(issue, await self._issues.blocked_by(issue.number))
        here = [one for one in blockers if not one.repository and one.number not in found]
        elsewhere = [one for one in blockers if one.repository]
        named = (Wait(one.number, one.repository, written=False) for one in (*here, *elsewhere))
        return (*found.values(), *named)

    async def open(self, wait: Wait) -> Issue | None:
        """The blocker, if it is an open issue of this repository. Raises `Transient`."""
        return None if wait.repository else await self._opened(wait.on)

    async def look(self, known: Mapping[int, Issue]) -> None:
        """See whether what is waited for has gone: a blocker carries any labels or none, so no list tells.

        A blocker that the list of open items shows is open. Every other one is read conditionally, which is free
        as long as nothing has happened to it. Raises `Transient`.
        """
        self._waiting = {number: wait for number, wait in self._waiting.items() if number in known}
        unseen = [(number, wait) for number, wait in self._waiting.items() if not self._is_listed(wait)]
        for number, wait in unseen[:MOST_WATCHED]:
            if (stands := self._waiting.pop(number, None)) is None:
                continue  # looked at by its own claim in the meantime
            if await self._still(number, wait):
                self._waiting[number] = stands  # at the end: where there are many, each has its turn
            else:
                self._freed[number] = self._freed.get(number, 0) + 1

    def times_freed(self, number: int) -> int:
        """How often a blocker of this issue was seen to go: a new number means that it is worth a look."""
        return self._freed.get(number, 0)

    def _is_listed(self, wait: Wait) -> bool:
        return wait.written and self._inbox.version(wait.on) is not None

    async def _still(self, number: int, wait: Wait) -> bool:
        if wait.written:
            return await self._opened(wait.on) is not None
        try:
            there = await self._issues.blocked_by(number)
        except Gone:
            return False
        return any((one.number, one.repository, one.open) == (wait.on, wait.repository, True) for one in there)

    async def _opened(self, number: int, named_at: datetime | None = None) -> Issue | None:
        try:
            found = await (self._issues.named(number, named_at) if named_at else self._issues.issue(number))
        except Gone:
            return None
        return found if found.open else None
