"""A branch that has to be up to date and whose approvals go stale: one pull request at a time is brought up to date."""

from __future__ import annotations

import pytest
from board_scene import row_of
from branch_scene import push, work_branch
from engine import REPOSITORY, Engine
from office import PEOPLE, Office, office
from worker_scene import pulls

from lab.github.server import CHECK_NAME

pytestmark = pytest.mark.long

NAMES = ("ant", "bee", "cat")


def approvals_of(engine: Engine, login: str) -> int:
    return sum(one.author == login for one in engine.lab.at(REPOSITORY).pulls.reviews.values())


async def merges_of_base(engine: Engine, number: int) -> int:
    """Return how often the base was merged into the work branch of an issue."""
    log = await engine.lab.at(REPOSITORY).bare.log("refs/heads/main", f"refs/heads/{work_branch(number)}", 50)
    return sum(commit.message.startswith("Merge ") for commit in log)


def first(here: Office, numbers: list[int]) -> list[int]:
    """Return the issues whose pull request says that it waits for nothing but an approval."""
    waits = "It waits for 1 approval of a person"
    return [one for one in numbers if here.is_approved(one) and waits in here.status(here.pull(one).number)]


async def test_whoever_approves_what_is_said_to_come_first_approves_each_of_three_once(engine: Engine) -> None:
    async with office(engine, *NAMES, delete_branch=False) as here:
        here.protect(checks=(CHECK_NAME,), approvals=2, strict=True, dismiss_stale=True)
        numbers = [here.ready(f"Greet {name}") for name in NAMES]
        await here.until(lambda: all(here.is_approved(one) for one in numbers))
        await push(engine, "main", {"NEWS.md": "News.\n"})
        await engine.lab.idle()
        brought, order = dict.fromkeys(numbers, 0), list[int]()
        while any(here.thread(one).open for one in numbers):
            left = [one for one in numbers if here.thread(one).open]
            await here.until(lambda left=left: len(first(here, left)) == 1, looks=40)  # type: ignore[misc]
            await here.look(2)
            (one,) = first(here, left)
            for other in set(left) - {one}:
                told = here.status(here.pull(other).number)
                assert "One pull request at a time is brought up to date with `main`" in told
                assert await merges_of_base(engine, other) == 0, "it costs nothing before its turn"
                waiting = (await row_of(engine, here.pull(other).number)).waiting
                assert waiting is not None
                assert waiting.why == "its turn to be brought up to date"
            brought[one] = await merges_of_base(engine, one)
            order.append(one)
            here.approve(here.pull(one).number)
            await here.until(lambda one=one: here.is_merged(one))  # type: ignore[misc]
    assert sorted(order) == numbers
    assert brought == dict.fromkeys(numbers, 1), "once each"
    assert approvals_of(engine, PEOPLE[0]) == len(NAMES), "once each"


async def test_one_that_waits_for_people_is_overtaken_by_one_that_they_have_approved(engine: Engine) -> None:
    async with office(engine, *NAMES[:2]) as here:
        here.protect(checks=(CHECK_NAME,), approvals=2, strict=True, dismiss_stale=True)
        numbers = [here.ready(f"Greet {name}") for name in NAMES[:2]]
        await here.until(lambda: all(here.is_approved(one) for one in numbers))
        await push(engine, "main", {"NEWS.md": "News.\n"})
        await engine.lab.idle()
        await here.until(lambda: len(first(here, numbers)) == 1, looks=40)
        await here.look(4)
        (one,) = first(here, numbers)
        (other,) = set(numbers) - {one}
        here.approve(here.pull(other).number)
        await here.look(3)
        assert not first(here, [other]), "not at once: the other one may be approved at any moment"
        await here.until(lambda: bool(first(here, [other])), looks=120)
        here.approve(here.pull(other).number)
        await here.until(lambda: here.is_merged(other))
        assert not here.is_merged(one)
        await here.until(lambda: not first(here, [one]))  # until the base is seen to have moved, it says what was true
        await here.until(lambda: bool(first(here, [one])), looks=40)
        here.approve(here.pull(one).number)
        await here.until(lambda: here.is_merged(one))


async def test_a_pull_request_that_is_closed_or_flagged_holds_nobody_up(engine: Engine) -> None:
    async with office(engine, *NAMES) as here:
        here.protect(checks=(CHECK_NAME,), approvals=2, strict=True, dismiss_stale=True)
        numbers = [here.ready(f"Greet {name}") for name in NAMES]
        await here.until(lambda: all(here.is_approved(one) for one in numbers))
        await push(engine, "main", {"NEWS.md": "News.\n"})
        await engine.lab.idle()
        await here.until(lambda: len(first(here, numbers)) == 1, looks=40)
        await here.look(2)
        (closed,) = first(here, numbers)
        left = [one for one in numbers if one != closed]
        engine.lab.close(REPOSITORY, here.pull(closed).number, actor=PEOPLE[0])
        await here.until(lambda: bool(first(here, left)), looks=40)
        (flagged,) = first(here, left)
        (last,) = set(left) - {flagged}
        here.label(here.pull(flagged).number, "flag:manual-intervention")
        await here.until(lambda: bool(first(here, [last])), looks=40)
        here.approve(here.pull(last).number)
        await here.until(lambda: here.is_merged(last))
    assert sum(one.merged_at is not None for one in pulls(engine)) == 1
