"""A branch with GitHub's own merge queue: the engine enters it, and does not press the button."""

from __future__ import annotations

import pytest
from base_move_scene import PARTING, RESOLVED, handed_over, merged, merges_asked
from board_scene import row_of
from branch_scene import push
from engine import OWNER, REPOSITORY, Engine
from fakes.clock import QuickClock
from merge_scene import SCRIPT, looks, opened
from worker_scene import CODE, REVIEW, TESTS, calls, claims, comments, labels, pulls, status

from console.status.row import Whom
from lab.github.world.accounts import GRAPHQL, HOUR, HOURLY_LIMIT
from lab.github.world.repository import Protection
from shared.loop.polling_loop import Loop
from shared.workflow import Role, Stage

pytestmark = pytest.mark.long


@pytest.fixture
def engine(engine: Engine) -> Engine:
    engine.script(SCRIPT)
    engine.repository_settings |= {"merge": "auto"}
    engine.lab.configure(REPOSITORY, protections={"main": Protection(merge_queue=True)})
    return engine


async def test_an_approved_pull_request_is_merged_by_the_queue_and_ends_as_any_other(engine: Engine) -> None:
    first, second = await opened(engine, "one"), await opened(engine, "two")
    async with engine.agent(Role.REVIEWER) as reviewer:
        await looks(engine, reviewer, 4)
        for change in (first, second):
            assert "It waits in GitHub's merge queue" in status(engine, change.number)
            assert labels(engine, change.number) == {"status:approved"}
        waiting = (await row_of(engine, first.number)).waiting
        assert waiting is not None
        assert waiting.why == "merge-queue"
        assert await engine.lab.work_on_queue(REPOSITORY) == [first.number, second.number]
        await looks(engine, reviewer, 4)
    assert merges_asked(engine) == 0
    for change in (first, second):
        found = await engine.fence(Role.REVIEWER, change.number)
        assert found is not None
        assert found.stage is Stage.DONE


async def test_a_queue_that_no_rule_shows_is_entered_when_github_names_it(engine: Engine) -> None:
    engine.lab.configure(REPOSITORY, protections={"main": Protection(merge_queue=True, hidden=True)})
    change = await opened(engine, "one")
    async with engine.agent(Role.REVIEWER) as reviewer:
        await looks(engine, reviewer)
        assert "It waits in GitHub's merge queue" in status(engine, change.number)
        said = claims(engine, change.number)
        await looks(engine, reviewer)
        assert (claims(engine, change.number), merges_asked(engine)) == (said, 1), "it is asked for once"
        assert await engine.lab.work_on_queue(REPOSITORY) == [change.number]
        await looks(engine, reviewer)
    found = await engine.fence(Role.REVIEWER, change.number)
    assert found is not None
    assert found.stage is Stage.DONE


async def test_while_graphqls_hour_is_used_up_the_queue_waits_and_nobody_is_called(engine: Engine) -> None:
    change = await opened(engine, "one")
    quota = engine.lab.world.quotas[GRAPHQL]
    async with engine.agent(Role.REVIEWER) as reviewer:
        quota.limit = 0
        await looks(engine, reviewer, 6)
        assert not labels(engine, change.number) & {"status:failed", "flag:manual-intervention"}
        assert await engine.lab.work_on_queue(REPOSITORY) == []
        quota.limit = HOURLY_LIMIT
        engine.lab.clock.advance(HOUR + 1)
        await looks(engine, reviewer, 6)
        assert await engine.lab.work_on_queue(REPOSITORY) == [change.number]
    assert merges_asked(engine) == 0


async def test_what_the_queue_takes_out_is_brought_in_step_and_enters_it_again(engine: Engine) -> None:
    engine.script(TESTS + CODE + REVIEW)
    engine.ready("Greet people")
    pull = await handed_over(engine)
    async with engine.agent(Role.REVIEWER) as reviewer:
        await looks(engine, reviewer)
    assert "It waits in GitHub's merge queue" in status(engine, pull.number)
    await push(engine, "main", {"NEWS.md": "News.\n"})
    engine.lab.take_out_of_queue(REPOSITORY, pull.number)
    engine.lab.clock.advance(601)
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        for _ in range(8):
            await engine.tick(reviewer, worker)
            engine.lab.clock.advance(2)
        assert "It waits in GitHub's merge queue" in status(engine, pull.number)
        assert pulls(engine)[0].head_sha != pull.head_sha, "its base was merged into it"
        assert await engine.lab.work_on_queue(REPOSITORY) == [pull.number]
        await engine.tick(reviewer)
    assert (merged(engine), merges_asked(engine)) == (True, 0)
    assert not labels(engine, pull.number) & {"status:failed", "flag:manual-intervention"}


async def test_what_conflicts_in_the_queue_is_resolved_by_the_worker(engine: Engine) -> None:
    engine.script(TESTS + CODE + REVIEW + RESOLVED)
    engine.ready("Greet people")
    pull = await handed_over(engine)
    async with engine.agent(Role.REVIEWER) as reviewer:
        await looks(engine, reviewer)
    await push(engine, "main", PARTING)
    assert await engine.lab.work_on_queue(REPOSITORY) == []
    engine.lab.clock.advance(601)
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        for _ in range(8):
            await engine.tick(reviewer, worker)
            engine.lab.clock.advance(2)
    assert calls(engine, "resolve_conflict") == 1
    assert labels(engine, pull.number) >= {"status:approved", "flag:had-conflict"}, "the one stop for a person"


LATER = 301.0
"""Seconds until an unmerged pull request is looked at again after its status was told, if nothing shows before."""


@pytest.fixture
def clocked(engine: Engine) -> Engine:
    engine.clock = QuickClock(engine.lab.clock.advance)
    return engine


async def later(engine: Engine, reviewer: Loop, seconds: float = LATER) -> None:
    """Let time pass for all agents, then have the reviewer look."""
    assert isinstance(engine.clock, QuickClock)
    engine.clock.skip(seconds)
    await looks(engine, reviewer)


def entries(engine: Engine, number: int) -> int:
    """Return how often a pull request was put into the queue."""
    events = engine.lab.at(REPOSITORY).issues.events
    return sum((one.number, one.event) == (number, "added_to_merge_queue") for one in events)


async def test_what_a_person_takes_out_of_the_queue_stays_out_until_somebody_says_merge(clocked: Engine) -> None:
    engine, change = clocked, await opened(clocked, "one")
    async with engine.agent(Role.REVIEWER) as reviewer:
        await looks(engine, reviewer)
        engine.lab.take_out_of_queue(REPOSITORY, change.number, actor=OWNER)
        await later(engine, reviewer, 601)
        told = "ada removed it from GitHub's merge queue. Comment `/merge` to have it put in again"
        assert told in status(engine, change.number)
        waiting = (await row_of(engine, change.number)).waiting
        assert waiting is not None
        assert (waiting.whom, waiting.why) == (Whom.PERSON, "/merge")
        await push(engine, "main", {"NEWS.md": "News.\n"})
        before = claims(engine, change.number)
        for _ in range(6):
            await later(engine, reviewer, 1801)
        assert entries(engine, change.number) == 1, "it is his decision, whatever the base does"
        assert claims(engine, change.number) == before, "nobody is busy with it"
        assert labels(engine, change.number) == {"status:approved"}
        engine.lab.comment(REPOSITORY, change.number, "/merge", author=OWNER)
        await later(engine, reviewer, 2)
        assert entries(engine, change.number) == 2
        assert "It waits in GitHub's merge queue" in status(engine, change.number)
        await engine.lab.work_on_queue(REPOSITORY)
        await looks(engine, reviewer)
    assert (change.merged, merges_asked(engine)) == (True, 0)
    assert not [one for one in comments(engine, change.number) if "not merged yet" in one.body]


async def test_what_fails_in_the_queue_is_put_in_again_a_few_times_and_then_a_person_is_asked(
    clocked: Engine,
) -> None:
    engine, change = clocked, await opened(clocked, "one")
    async with engine.agent(Role.REVIEWER) as reviewer:
        await looks(engine, reviewer)
        engine.lab.take_out_of_queue(REPOSITORY, change.number)
        await later(engine, reviewer, 601)
        assert "removed it because checks failed there. It is put in again at" in status(engine, change.number)
        assert entries(engine, change.number) == 1
        await later(engine, reviewer, 1801)
        assert entries(engine, change.number) == 2
        engine.lab.take_out_of_queue(REPOSITORY, change.number)
        await later(engine, reviewer, 601)
        await push(engine, "main", {"NEWS.md": "News.\n"})
        await later(engine, reviewer)
        assert entries(engine, change.number) == 3, "its base has changed"
        for _ in range(4):
            engine.lab.take_out_of_queue(REPOSITORY, change.number)
            await later(engine, reviewer, 1801)
        assert entries(engine, change.number) == 3, "not without end"
        told = "removed it 3 times, the last time because checks failed there: look into that. Comment `/merge`"
        assert told in status(engine, change.number)
        engine.lab.comment(REPOSITORY, change.number, "/merge", author=OWNER)
        await later(engine, reviewer, 2)
        await engine.lab.work_on_queue(REPOSITORY)
        await looks(engine, reviewer)
    assert change.merged
    assert not labels(engine, change.number)
