"""The blockers of an issue, by its text and GitHub's own relationships: when they are closed, and when they go round.

Issues that wait for each other, in a cycle of any length, would never begin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from shared.errors import Gone
from shared.github.ports import Inbox, Issues
from shared.models import Issue
from shared.specification.dependencies import holding, written

MOST_WATCHED = 20
"""The most blockers that one poll reads; if there are more, the others follow with the next polls."""

MOST_READ = 30
"""The most issues that are read in search of a cycle; a longer chain is not followed to its end."""


@dataclass(frozen=True, slots=True)
class Wait:
    """One issue waits for another; `written`: True if its text says so, else GitHub's relationship does."""

    on: int
    repository: str = ""
    """`owner/repo` of the blocker; empty for the issue's own."""
    written: bool = True

    def __str__(self) -> str:
        return f"{self.repository}#{self.on}"


@dataclass(frozen=True, slots=True)
class Link:
    """Issue `one` waits for issue `on`; `written`: True if its text says so, else GitHub's relationship does."""

    one: int
    on: int
    written: bool = True


class Blockers:
    """Reads the blockers of issues, and remembers them for the issues that wait."""

    def __init__(self, issues: Issues, inbox: Inbox) -> None:
        self._issues = issues
        self._inbox = inbox
        self._waiting: dict[int, Wait] = {}
        self._freed: dict[int, int] = {}

    async def first(self, issue: Issue) -> Wait | None:
        """Return the first open issue that has to be closed before this one; it is watched from now on.

        Never the issue itself, nor its own story, which ends only after it. Raises `Transient`, also for a blocker that
        the issue names and a replica may not know yet.
        """
        self._waiting.pop(issue.number, None)
        for wait in await self.of(issue):
            if not wait.written or await self._read_open(wait.on, issue.created_at) is not None:
                self._waiting[issue.number] = wait
                return wait
        return None

    async def of(self, issue: Issue) -> tuple[Wait, ...]:
        """Return all issues that an issue may wait for, its text's first; of GitHub's relationships only open ones."""
        found = {number: Wait(number) for number in written(issue)}
        if not issue.blocked_by:  # the issue itself says how many there are: nothing is asked where there are none
            return tuple(found.values())
        blockers = holding(issue, await self._issues.blocked_by(issue.number))
        here = [one for one in blockers if not one.repository and one.number not in found]
        elsewhere = [one for one in blockers if one.repository]
        named = (Wait(one.number, one.repository, written=False) for one in (*here, *elsewhere))
        return (*found.values(), *named)

    async def open(self, wait: Wait) -> Issue | None:
        """Return the blocker, if it is an open issue of this repository. Raises `Transient`."""
        return None if wait.repository else await self._read_open(wait.on)

    async def circle(self, issue: Issue, first: Wait) -> tuple[Link, ...]:
        """Return a shortest cycle from `issue` over its open blocker `first` back to it; empty if there is none.

        Issues of another repository are not followed further. Raises `Transient`.
        """
        blocker = await self.open(first)
        if blocker is None:
            return ()
        came_by = {blocker.number: Link(issue.number, blocker.number, first.written)}
        queue = [blocker]
        for at in queue:
            for wait in await self.of(at):
                link = Link(at.number, wait.on, wait.written)
                if wait.repository:
                    continue
                if wait.on == issue.number:
                    return _way(link, issue.number, came_by)
                if wait.on in came_by or len(came_by) > MOST_READ:
                    continue
                came_by[wait.on] = link
                following = await self.open(wait)
                if following is not None:
                    queue.append(following)
        return ()

    async def look(self, known: Mapping[int, Issue]) -> None:
        """Look whether watched blockers were closed: they carry any labels or none, so no list tells.

        A blocker in the list of open items is open. Every other one is read conditionally, which is free as long as it
        is unchanged. Raises `Transient`.
        """
        self._waiting = {number: wait for number, wait in self._waiting.items() if number in known}
        self._freed = {number: times for number, times in self._freed.items() if number in known}
        unseen = [(number, wait) for number, wait in self._waiting.items() if not self._is_listed(wait)]
        for number, wait in unseen[:MOST_WATCHED]:
            if (stands := self._waiting.pop(number, None)) is None:
                continue  # looked at by its own claim in the meantime
            if await self._still(number, wait):
                self._waiting[number] = stands  # at the end: where there are many, each has its turn
            else:
                self._freed[number] = self._freed.get(number, 0) + 1

    def times_freed(self, number: int) -> int:
        """Return how often a blocker of this issue was closed: a new number means that the issue is worth a look."""
        return self._freed.get(number, 0)

    def _is_listed(self, wait: Wait) -> bool:
        return wait.written and self._inbox.version(wait.on) is not None

    async def _still(self, number: int, wait: Wait) -> bool:
        if wait.written:
            return await self._read_open(wait.on) is not None
        try:
            there = await self._issues.blocked_by(number)
        except Gone:
            return False
        return any((one.number, one.repository, one.open) == (wait.on, wait.repository, True) for one in there)

    async def _read_open(self, number: int, named_at: datetime | None = None) -> Issue | None:
        try:
            found = await (self._issues.named(number, named_at) if named_at else self._issues.issue(number))
        except Gone:
            return None
        return found if found.open else None


def _way(last: Link, start: int, came_by: dict[int, Link]) -> tuple[Link, ...]:
    way = [last]
    while way[-1].one != start:
        way.append(came_by[way[-1].one])
    return tuple(reversed(way))
