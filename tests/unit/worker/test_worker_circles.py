"""Which issues wait for each other in a circle."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from shared.errors import Gone
from shared.models import Account, Issue
from worker_agent.intake.circles import MOST_READ, circle_of

THEN = datetime(2026, 1, 1, tzinfo=UTC)
STORY = 99


def issue(number: int, *depends_on: int) -> Issue:
    body = "\n".join([f"Part of #{STORY}", *(f"Depends on #{one}" for one in depends_on)])
    return Issue(number, "Title", body, frozenset(), Account(1, "ada"), THEN, THEN)


class Shelf:
    """Issues that can be read singly, and which were."""

    def __init__(self, *issues: Issue) -> None:
        self.issues = {one.number: one for one in issues}
        self.read: list[int] = []

    async def look(self, number: int) -> Issue:
        self.read.append(number)
        if number not in self.issues:
            raise Gone
        return self.issues[number]


@pytest.mark.parametrize(
    ("others", "circle"),
    [
        pytest.param([issue(2, 1)], (1, 2), id="two"),
        pytest.param([issue(2, 3), issue(3, 1)], (1, 2, 3), id="three"),
        pytest.param([issue(2, 3), issue(3, 4), issue(4, 5), issue(5, 1)], (1, 2, 3, 4, 5), id="five"),
        pytest.param([issue(2, 3, 4), issue(3), issue(4, 1)], (1, 2, 4), id="by the second way"),
        pytest.param([issue(2, 3), issue(3, 4)], (), id="a chain whose end is gone"),
        pytest.param([issue(2, 3), issue(3, 2)], (), id="a circle of others"),
        pytest.param([issue(2, 3), replace(issue(3, 1), open=False)], (), id="broken by a closed one"),
        pytest.param([issue(2, STORY), issue(STORY, 1)], (), id="not through its own story"),
    ],
)
async def test_a_circle_is_found_whatever_its_length(others: list[Issue], circle: tuple[int, ...]) -> None:
    shelf = Shelf(*others)
    own = issue(1, 2)
    assert await circle_of(own, shelf.issues[2], shelf.look) == circle
    assert len(shelf.read) == len(set(shelf.read))
    assert {1, 2}.isdisjoint(shelf.read)


async def test_a_long_chain_is_not_followed_to_its_end() -> None:
    shelf = Shelf(*(issue(number, number + 1) for number in range(2, 1000)))
    assert await circle_of(issue(1, 2), shelf.issues[2], shelf.look) == ()
    assert len(shelf.read) == MOST_READ
