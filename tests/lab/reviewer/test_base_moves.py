"""The base moves after the hand-over: the worker merges it, and the same change is not paid for twice."""

from __future__ import annotations

import pytest
from base_move_scene import PARTING, RESOLVED, handed_over, merged, merges_asked
from branch_scene import push
from engine import REPOSITORY, Engine
from worker_scene import CODE, REVIEW, TESTS, calls, labels, pulls, status

from lab.github.server import CHECK_NAME
from lab.github.world.repository import Protection
from shared.loop.polling_loop import Loop
from shared.workflow import Role

pytestmark = pytest.mark.long


@pytest.fixture
def engine(engine: Engine) -> Engine:
    engine.script(TESTS + CODE + REVIEW)
    engine.repository_settings |= {"merge": "auto"}
    return engine


def reviews(engine: Engine, number: int) -> list[str]:
    return [one.body for one in engine.lab.at(REPOSITORY).pulls.reviews_of(number)]


async def together(engine: Engine, worker: Loop, reviewer: Loop, ticks: int = 25) -> None:
    for _ in range(ticks):
        if merged(engine):
            return
        await engine.tick(worker, reviewer)
        engine.lab.clock.advance(2)


async def test_a_branch_that_has_to_be_up_to_date_is_brought_so_and_merged_without_a_second_review(
    engine: Engine,
) -> None:
    engine.lab.configure(REPOSITORY, protections={"main": Protection(checks=(CHECK_NAME,), strict=True)})
    number = engine.ready("Greet people")
    pull = await handed_over(engine)
    await push(engine, "main", {"NEWS.md": "News.\n"})
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        await together(engine, worker, reviewer)
    assert merged(engine)
    assert merges_asked(engine) == 1, "it is not tried while it is behind"
    first, second = reviews(engine, pull.number)
    assert "It greets." in first
    assert f"The change is the one that was approved at {pull.head_sha[:12]}" in second, "nobody is paid twice"
    assert not labels(engine, number) & {"status:failed", "flag:had-conflict", "flag:manual-intervention"}
    assert not labels(engine, pull.number) & {"status:failed", "flag:had-conflict", "flag:manual-intervention"}


@pytest.mark.edges(
    "pull_request: in-review, base moved",
)
async def test_a_conflict_after_the_hand_over_is_resolved_by_the_worker_and_shown_to_a_person(engine: Engine) -> None:
    engine.script(TESTS + CODE + REVIEW + RESOLVED)
    engine.ready("Greet people")
    pull = await handed_over(engine)
    await push(engine, "main", PARTING)
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        await together(engine, worker, reviewer, 12)
    assert calls(engine, "resolve_conflict") == 1
    assert (merged(engine), merges_asked(engine)) == (False, 0)
    assert labels(engine, pull.number) >= {"status:approved", "flag:had-conflict"}
    assert "Check that merge, then remove `flag:had-conflict`" in status(engine, pull.number)
    engine.lab.unlabel(REPOSITORY, pull.number, "flag:had-conflict", actor="ada")
    engine.lab.clock.advance(301)
    async with engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: merged(engine), reviewer)


@pytest.mark.edges(
    "pull_request: approved, base moved",
)
async def test_people_who_merge_themselves_are_offered_what_can_be_merged(engine: Engine) -> None:
    engine.script(TESTS + CODE + REVIEW + RESOLVED)
    engine.repository_settings |= {"merge": "never"}
    engine.ready("Greet people")
    pull = await handed_over(engine)
    async with engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: "status:approved" in labels(engine, pull.number), reviewer)
        await engine.tick(reviewer)
    await push(engine, "main", PARTING)
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        for _ in range(8):
            await engine.tick(worker, reviewer)
            engine.lab.clock.advance(2)
    assert calls(engine, "resolve_conflict") == 1
    assert await engine.lab.at(REPOSITORY).bare.mergeable("main", pulls(engine)[0].head_sha)
