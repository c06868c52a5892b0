"""The answer to a label of our own tells that a pull request has no reviews: a review that begins reads no list."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from github_bench import NAME, Bench, bench
from github_script import lease
from label_scene import PERSON

from lab.github.fault_injection.faults import Fault, FaultKind
from shared.errors import UnknownOutcome
from shared.github.client import EMPTY_SECONDS
from shared.github.label_board import LabelBoard
from shared.github.pulls import Pulls
from shared.github.reviews import Reviews
from shared.models import ReviewState
from shared.workflow import Stage
from shared.workflow.labels import Labels


@dataclass
class Here:
    """A pull request that asks for its first review, as a reviewer has read it."""

    bench: Bench
    board: LabelBoard
    reviews: Reviews
    number: int
    sha: str

    async def label(self) -> None:
        """Set the label of the review's beginning."""
        await self.board.exchange(self.number, "status:in-review", "status:reviewing", PERSON)

    def review(self, author: str, state: str = "CHANGES_REQUESTED") -> None:
        """Let somebody review it."""
        self.bench.lab.at(NAME).pulls.review(self.number, author, state, "No.", self.sha)

    @property
    def lists(self) -> int:
        """Number of times that the list of its reviews was asked for."""
        return sum(one.method == "GET" and one.path.endswith("/reviews") for one in self.bench.lab.exchanges)


@asynccontextmanager
async def scene(directory: Path) -> AsyncIterator[Here]:
    async with bench(directory) as b:
        github = b.client("engine")
        board = LabelBoard(github, NAME, Labels())
        await board.create_all(PERSON)
        sha = await b.branch("auto/issue-1", "b.py", "one\n")
        opened = await Pulls(github, NAME).open("T", "B", "auto/issue-1", "main", PERSON)
        await board.show(opened.number, Stage.REVIEWING, PERSON, known=opened.labels)
        b.clock.seconds += EMPTY_SECONDS
        yield Here(b, board, Reviews(github, NAME), opened.number, sha)


async def test_none_are_listed_if_the_label_has_shown_that_there_are_none(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        await here.label()
        assert await here.reviews.at_start(here.number) == ()
        assert await here.reviews.at_start(here.number) == ()
        assert here.lists == 0


@pytest.mark.parametrize("state", ["CHANGES_REQUESTED", "APPROVED", "COMMENTED", "DISMISSED"])
async def test_a_review_that_came_before_the_label_is_read(tmp_path: Path, state: str) -> None:
    async with scene(tmp_path) as here:
        here.review("ada", state)
        await here.label()
        assert [one.author.login for one in await here.reviews.at_start(here.number)] == ["ada"]
        assert here.lists == 1


async def test_a_review_that_came_after_the_label_is_in_the_list_of_a_merge(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        await here.label()
        here.review("ada")
        assert [one.author.login for one in await here.reviews.of(here.number)] == ["ada"]
        assert [one.author.login for one in await here.reviews.at_start(here.number)] == ["ada"], "once seen, it is"


async def test_it_is_true_for_a_few_seconds_only(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        await here.label()
        here.review("ada")
        here.bench.clock.seconds += EMPTY_SECONDS
        assert [one.author.login for one in await here.reviews.at_start(here.number)] == ["ada"]


async def test_our_own_review_ends_it(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        await here.label()
        held = lease(here.bench.clock)
        await here.reviews.submit(here.number, here.sha, ReviewState.COMMENTED, "Well.", (), held)
        assert [one.body for one in await here.reviews.at_start(here.number)] == ["Well."]


async def test_a_label_set_by_rest_tells_nothing_of_reviews(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        here.bench.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "POST", "/graphql$", status=403))
        await here.label()
        here.review("ada")
        assert [one.author.login for one in await here.reviews.at_start(here.number)] == ["ada"]


async def test_a_lost_answer_tells_nothing_of_reviews(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        here.bench.lab.faults.plan(Fault(FaultKind.LOST_REPLY, "POST", "/graphql$"))
        with pytest.raises(UnknownOutcome):
            await here.label()
        assert await here.reviews.at_start(here.number) == ()
        assert here.lists == 1
