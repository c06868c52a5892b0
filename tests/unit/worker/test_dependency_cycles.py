"""Cycles of issues that wait for each other, by their texts and by GitHub's relationships."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from fakes.unasked import UnaskedInbox, UnaskedIssues

from shared.errors import Gone
from shared.github.errors import NotShown
from shared.models import Account, Blocker, Issue
from worker_agent.intake.blockers import MOST_READ, MOST_WATCHED, Blockers, Wait

THEN = datetime(2026, 1, 1, tzinfo=UTC)
STORY = 99


def issue(number: int, *depends_on: int) -> Issue:
    body = "\n".join([f"Part of #{STORY}", *(f"Depends on #{one}" for one in depends_on)])
    return Issue(number, "Title", body, frozenset(), Account(1, "ada"), THEN, THEN)


def related(number: int, *depends_on: int) -> Issue:
    """Return an issue that is blocked by a relationship alone."""
    return replace(issue(number), blocked_by=len(depends_on))


class Shelf(UnaskedIssues, UnaskedInbox):
    """Issues that can be read singly, which were, and the relationships of some."""

    def __init__(self, *issues: Issue, related: dict[int, tuple[int, ...]] | None = None) -> None:
        self.issues = {one.number: one for one in issues}
        self.related = related or {}
        self.read: list[int] = []
        self.asked: list[int] = []
        self.listed: dict[int, datetime] = {}
        self.late: set[int] = set()

    async def issue(self, number: int) -> Issue:
        self.read.append(number)
        if number not in self.issues:
            raise Gone
        return self.issues[number]

    async def named(self, number: int, at: datetime) -> Issue:
        if number in self.late:
            raise NotShown(f"issue {number}", 0.5)
        return await self.issue(number)

    async def blocked_by(self, number: int) -> tuple[Blocker, ...]:
        self.asked.append(number)
        there = self.related.get(number, ())
        return tuple(Blocker(one, "" if one < 1000 else "octo/other", self._is_open(one)) for one in there)

    def _is_open(self, number: int) -> bool:
        return number >= 1000 or self.issues[number].open

    def version(self, number: int) -> datetime | None:
        return self.listed.get(number)


def circle(*numbers: int, by_relation: tuple[int, ...] = ()) -> tuple[tuple[int, int, bool], ...]:
    """Return the links of a circle; those that begin at `by_relation` are GitHub's."""
    pairs = zip(numbers, [*numbers[1:], numbers[0]], strict=True)
    return tuple((one, on, one not in by_relation) for one, on in pairs)


async def found(shelf: Shelf, own: Issue) -> tuple[tuple[int, int, bool], ...]:
    blockers = Blockers(shelf, shelf)
    first = await blockers.first(own)
    assert first is not None
    return tuple((link.one, link.on, link.written) for link in await blockers.circle(own, first))


@pytest.mark.parametrize(
    ("others", "numbers"),
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
async def test_a_circle_is_found_whatever_its_length(others: list[Issue], numbers: tuple[int, ...]) -> None:
    shelf = Shelf(*others)
    assert await found(shelf, issue(1, 2)) == (circle(*numbers) if numbers else ())
    assert 1 not in shelf.read
    assert shelf.asked == [], "nobody asks for relationships that an issue does not have"


async def test_a_circle_goes_through_texts_and_relationships_alike() -> None:
    shelf = Shelf(related(2, 3), issue(3, 4), related(4, 1), issue(1, 2), related={2: (3,), 4: (1000, 1)})
    assert await found(shelf, issue(1, 2)) == circle(1, 2, 3, 4, by_relation=(2, 4))


async def test_a_long_chain_is_not_followed_to_its_end() -> None:
    shelf = Shelf(*(issue(number, number + 1) for number in range(2, 1000)))
    assert await found(shelf, issue(1, 2)) == ()
    assert len(set(shelf.read)) <= MOST_READ + 2


@pytest.mark.parametrize(
    ("own", "shelf", "expected"),
    [
        (issue(1, 2), Shelf(issue(2)), Wait(2)),
        (issue(1, 2), Shelf(replace(issue(2), open=False)), None),
        (issue(1, 2), Shelf(), None),
        (issue(1, 1, STORY), Shelf(issue(STORY)), None),
        (related(1, 2), Shelf(issue(2), related={1: (2,)}), Wait(2, written=False)),
        (related(1, 1000), Shelf(related={1: (1000,)}), Wait(1000, "octo/other", written=False)),
        (related(1, STORY), Shelf(issue(STORY), related={1: (STORY,)}), None),
        (replace(issue(1, 2), blocked_by=1), Shelf(issue(2), related={1: (2,)}), Wait(2)),
    ],
)
async def test_what_an_issue_waits_for_first(own: Issue, shelf: Shelf, expected: Wait | None) -> None:
    assert await Blockers(shelf, shelf).first(own) == expected


async def test_a_blocker_that_is_not_shown_yet_is_no_blocker_that_has_gone() -> None:
    """The blocker was made a moment before the issue that names it: the next claim looks again."""
    shelf = Shelf(issue(2))
    shelf.late.add(2)
    with pytest.raises(NotShown):
        await Blockers(shelf, shelf).first(issue(1, 2))


async def test_a_blocker_that_goes_is_noticed_whatever_list_it_is_in() -> None:
    waiting = {1: issue(1, 2), 5: related(5, 6)}
    shelf = Shelf(issue(2), issue(6), related={5: (6,)})
    blockers = Blockers(shelf, shelf)
    for one in waiting.values():
        await blockers.first(one)
    shelf.listed[2] = THEN
    shelf.read.clear()
    await blockers.look(waiting)
    assert shelf.read == [], "the list shows that it is open"
    shelf.listed.clear()
    shelf.issues |= {number: replace(shelf.issues[number], open=False) for number in (2, 6)}
    await blockers.look(waiting)
    assert [blockers.times_freed(number) for number in (1, 5)] == [1, 1]
    asked = len(shelf.asked)
    await blockers.look(waiting)
    assert (shelf.read, len(shelf.asked)) == ([2], asked), "what has gone is not looked at again"
    await blockers.look({1: waiting[1]})
    assert [blockers.times_freed(number) for number in (1, 5)] == [1, 0], "an issue that is gone is forgotten"


async def test_many_blockers_are_looked_at_in_turn_and_those_of_nobody_never() -> None:
    waiting = {number: issue(number, number + 1000) for number in range(1, 2 * MOST_WATCHED)}
    shelf = Shelf(*(issue(number + 1000) for number in waiting))
    blockers = Blockers(shelf, shelf)
    for one in waiting.values():
        await blockers.first(one)
    shelf.read.clear()
    await blockers.look(waiting)
    assert len(shelf.read) == MOST_WATCHED
    await blockers.look(waiting)
    assert {number + 1000 for number in waiting} == set(shelf.read)
    shelf.read.clear()
    await blockers.look({})
    assert shelf.read == []
