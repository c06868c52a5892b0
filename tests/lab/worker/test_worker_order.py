"""The order of work as a maintainer sees it: first urgent, then old issues; those assigned to a person are left out."""

from __future__ import annotations

import pytest
from board_scene import row_of
from engine import ENGINE, OWNER, REPOSITORY, Engine
from worker_scene import claims, comments, costs_nothing, labels, pulls

from shared.loop.polling_loop import Loop
from shared.workflow import Role


@pytest.fixture
async def engine(engine: Engine) -> Engine:
    await costs_nothing(engine)
    return engine


def ready(engine: Engine, title: str, *more: str) -> int:
    """Write an issue as the owner, a minute after the previous one."""
    engine.lab.clock.advance(60)
    return engine.lab.issue(REPOSITORY, title, author=OWNER, labels=("status:ready", *more)).number


async def worked(engine: Engine, worker: Loop, items: int) -> None:
    await engine.until(lambda: len(worker.ended) == items, worker, ticks=40)


def in_order(engine: Engine, *numbers: int) -> list[int]:
    """Return the issues as they were claimed, by their first ACKs."""
    claimed = {one.id: number for number in numbers for one in comments(engine, number) if "\nACK:" in one.body}
    return list(dict.fromkeys(claimed[id] for id in sorted(claimed)))


async def test_a_worker_alone_takes_what_is_critical_first_and_then_the_oldest(engine: Engine) -> None:
    old = [ready(engine, f"Old {n}") for n in range(3)]
    low, critical = ready(engine, "Low", "priority:low"), ready(engine, "Urgent", "priority:critical")
    async with engine.agent(Role.WORKER) as worker:
        await worked(engine, worker, 5)
    assert in_order(engine, *old, low, critical) == [critical, low, *old]
    assert {pull.number: "priority:critical" in labels(engine, pull.number) for pull in pulls(engine)} == {
        pull.number: pull.head_branch.endswith(f"-{critical}") for pull in pulls(engine)
    }, "its review is as urgent as it is"


async def test_what_is_assigned_to_a_person_is_left_to_her_and_the_board_says_so(engine: Engine) -> None:
    engine.lab.account("grace")
    mine, hers = ready(engine, "Greet people"), ready(engine, "Greet loudly", "priority:critical")
    engine.lab.at(REPOSITORY).issues.assign(hers, ["grace"], OWNER)
    engine.lab.at(REPOSITORY).issues.assign(mine, [ENGINE], OWNER)
    async with engine.agent(Role.WORKER) as worker:
        await worked(engine, worker, 1)
        await engine.tick(worker)
        assert (claims(engine, mine), comments(engine, hers), labels(engine, hers)) == (
            1,
            [],
            {"status:ready", "priority:critical"},
        )
        assert f"{REPOSITORY}#{hers}: it is assigned to grace" in worker.skipped
        waiting = (await row_of(engine, hers)).waiting
        assert waiting is not None
        assert (waiting.whom, waiting.why) == ("person", "it is assigned to grace")
        engine.lab.clock.advance(2)
        engine.lab.at(REPOSITORY).issues.unassign(hers, ["grace"], OWNER)
        await worked(engine, worker, 2)
    assert claims(engine, hers) == 1


async def test_a_key_has_assigned_issues_begun_all_the_same(engine: Engine) -> None:
    engine.repository_settings["take_assigned_issues"] = True
    engine.lab.account("grace")
    number = ready(engine, "Greet people")
    engine.lab.at(REPOSITORY).issues.assign(number, ["grace"], OWNER)
    async with engine.agent(Role.WORKER) as worker:
        await worked(engine, worker, 1)
    assert len(pulls(engine)) == 1


async def test_a_story_that_is_assigned_to_a_person_is_not_planned(engine: Engine) -> None:
    engine.lab.account("grace")
    story = engine.lab.issue(REPOSITORY, "Greetings", author=OWNER, labels=("story",)).number
    engine.lab.at(REPOSITORY).issues.assign(story, ["grace"], OWNER)
    async with engine.agent(Role.PLANNER) as planner:
        await engine.tick(planner)
        assert planner.skipped == (f"{REPOSITORY}#{story}: it is assigned to grace",)
    assert (comments(engine, story), labels(engine, story)) == ([], {"story"})
