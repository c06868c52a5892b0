"""Cycles of issues that wait for each other, of any length: none of them would ever begin."""

from __future__ import annotations

from dataclasses import dataclass

from shared.models import Issue
from worker_agent.intake.blockers import Blockers, Wait

MOST_READ = 30
"""The most issues that are read for one look; a longer chain is not followed to its end."""


@dataclass(frozen=True, slots=True)
class Link:
    """Issue `one` waits for issue `on`; `written`: True if its text says so, else GitHub's relationship does."""

    one: int
    on: int
    written: bool = True


async def circle_of(issue: Issue, first: Wait, relations: Blockers) -> tuple[Link, ...]:
    """Return a shortest cycle from `issue` over its open blocker `first` back to it; empty if there is none.

    Issues of another repository are not followed further. Raises `Transient`.
    """
    blocker = await relations.open(first)
    if blocker is None:
        return ()
    came_by = {blocker.number: Link(issue.number, blocker.number, first.written)}
    queue = [blocker]
    for at in queue:
        for wait in await relations.of(at):
            link = Link(at.number, wait.on, wait.written)
            if wait.repository:
                continue
            if wait.on == issue.number:
                return _way(link, issue.number, came_by)
            if wait.on in came_by or len(came_by) > MOST_READ:
                continue
            came_by[wait.on] = link
            following = await relations.open(wait)
            if following is not None:
                queue.append(following)
    return ()


def _way(last: Link, start: int, came_by: dict[int, Link]) -> tuple[Link, ...]:
    way = [last]
    while way[-1].one != start:
        way.append(came_by[way[-1].one])
    return tuple(reversed(way))
