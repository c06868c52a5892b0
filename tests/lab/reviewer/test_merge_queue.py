"""A branch with GitHub's own merge queue: the engine enters it, and does not press the button."""

from __future__ import annotations

import pytest
from base_move_scene import PARTING, RESOLVED, handed_over, merged, merges_asked
from board_scene import row_of
from branch_scene import push
from engine import OWNER, REPOSITORY, Engine
from merge_scene import SCRIPT, looks, opened
from worker_scene import CODE, REVIEW, TESTS, calls, labels, pulls, status

from lab.github.world.repository import Protection
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


async def test_what_the_queue_takes_out_is_brought_in_step_and_enters_it_again(engine: Engine) -> None:
    engine.script(TESTS + CODE + REVIEW)
    engine.ready("Greet people")
    pull = await handed_over(engine)
    async with engine.agent(Role.REVIEWER) as reviewer:
        await looks(engine, reviewer)
    assert "It waits in GitHub's merge queue" in status(engine, pull.number)
    await push(engine, "main", {"NEWS.md": "News.\n"})
    engine.lab.take_out_of_queue(REPOSITORY, pull.number, actor=OWNER)
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
