"""Issues that wait for each other in a circle, of whatever length: nobody would ever begin any of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from shared.errors import Gone
from shared.github.status import Status
from shared.models import Issue
from shared.specification import read

MOST_READ = 30
"""Issues that are read for one look; a longer chain is not followed to its end."""


async def circle_of(issue: Issue, blocker: Issue, look: Callable[[int], Awaitable[Issue]]) -> tuple[int, ...]:
    """The numbers along a shortest way from `issue` over its open `blocker` back to it; empty when there is none.

    The first is the issue itself, the second the blocker. `look` reads one issue; closed ones hold nothing up.
    """
    came_from = {blocker.number: issue.number}
    queue = [blocker]
    for at in queue:
        for number in waits_for(at):
            if number == issue.number:
                return _way(issue.number, at.number, came_from)
            if number in came_from or len(came_from) > MOST_READ:
                continue
            came_from[number] = at.number
            following = await _open(number, look)
            if following is not None:
                queue.append(following)
    return ()


def waits_for(issue: Issue) -> tuple[int, ...]:
    """What an issue depends on; never on itself, nor on its own story, which ends only after it."""
    wanted = read(issue.body)
    return tuple(number for number in wanted.depends_on if number not in {issue.number, wanted.part_of})


async def _open(number: int, look: Callable[[int], Awaitable[Issue]]) -> Issue | None:
    try:
        found = await look(number)
    except Gone:
        return None
    return found if found.open else None


def _way(start: int, end: int, came_from: dict[int, int]) -> tuple[int, ...]:
    way = [end]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return tuple(reversed(way))


def told(circle: Sequence[int]) -> Status:
    """Issues wait for each other: the first depends on the second, and so on, and the last one on the first."""
    own, blocker, *_ = circle
    links = list(zip(circle[1:], [*circle[2:], own], strict=True))
    chain = "".join(f", #{one} on #{on}" for one, on in links[:-1])
    last, _ = links[-1]
    ways = ", or ".join(f"`Depends on #{on}` out of #{one}" for one, on in links)
    return Status(
        f"Waiting for ever: this issue depends on #{blocker}{chain}, and #{last} on this one.",
        (),
        {"waiting": {"why": "circular", "by": blocker}},
        f"**What to do:** take `Depends on #{blocker}` out of this issue, or {ways}.",
    )
