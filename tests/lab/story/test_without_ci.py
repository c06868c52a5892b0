"""A maintainer whose repository has no CI: nothing waits for what never comes, and their word merges."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from engine import OWNER, REPOSITORY, Engine
from orphan_scene import charged
from worker_scene import CODE, REVIEW, TESTS, labels, pulls, status

from lab.github.ci.behaviours import NEVER
from shared.loop.polling_loop import Loop
from shared.workflow import Role

pytestmark = pytest.mark.long


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine without any CI, with `merge: auto`, and a timeout of ten minutes."""
    engine.script(TESTS + CODE + REVIEW)
    engine.ci.jobs = {}
    engine.repository_settings |= {"merge": "auto", "ci": {"interval": 1, "timeout": 600}}
    return engine


async def passing(engine: Engine, done: Callable[[], bool], *loops: Loop, seconds: int) -> None:
    """Tick until `done`; no more than so many ticks, a second apart."""
    for _ in range(seconds):
        await engine.tick(*loops)
        if done():
            return
        await engine.clock.sleep(1)
    raise AssertionError([loop.ended for loop in loops])


def merged(engine: Engine, number: int) -> bool:
    return engine.lab.at(REPOSITORY).pulls.require(number).merged_at is not None


@pytest.mark.prompt("it counts requests")
async def test_without_ci_nothing_waits_for_it_and_a_persons_word_merges(engine: Engine) -> None:
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        await passing(engine, lambda: bool(worker.ended), worker, seconds=60)
        (pull,) = pulls(engine)
        assert "This repository has no CI" in status(engine, number)
        assert "`ci.none_is_green: true`" in status(engine, number)
        await engine.until(lambda: "status:approved" in labels(engine, pull.number), reviewer)
        for _ in range(3):
            await engine.tick(reviewer)
        assert "This repository has no CI: comment `/merge`" in status(engine, pull.number)
        assert "`ci.none_is_green: true`" in status(engine, pull.number)
        await engine.tick(worker, reviewer)
        before = charged(engine)
        for _ in range(10):
            await engine.tick(worker, reviewer)
        assert (charged(engine), merged(engine, pull.number)) == (before, False), "waiting costs nothing"
        engine.lab.clock.advance(2)
        engine.lab.comment(REPOSITORY, pull.number, "/merge", author=OWNER)
        await engine.until(lambda: merged(engine, pull.number), reviewer)


async def test_a_ci_that_is_only_late_is_waited_for_as_soon_as_the_repository_has_one(engine: Engine) -> None:
    base = await engine.lab.at(REPOSITORY).bare.sha("refs/heads/main")
    assert base is not None
    engine.lab.at(REPOSITORY).checks.say(base, "test", "success", description="ok", creator=OWNER)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(pulls(engine)), worker)
        for _ in range(20):
            engine.lab.clock.advance(5)
            await engine.tick(worker)
        assert worker.ended == []
        assert "Waiting for CI" in status(engine, number)
        (pull,) = pulls(engine)
        engine.lab.at(REPOSITORY).checks.say(pull.head_sha, "test", "success", description="ok", creator=OWNER)
        await passing(engine, lambda: bool(worker.ended), worker, seconds=60)
    assert "CI is green" in status(engine, number)


async def test_a_ci_that_is_set_up_and_silent_is_not_taken_for_none(engine: Engine) -> None:
    engine.ci.jobs = {"test": "true"}
    engine.lab.ci_mood(REPOSITORY, NEVER)
    engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(pulls(engine)), worker)
        for _ in range(20):
            engine.lab.clock.advance(5)
            await engine.tick(worker)
        assert worker.ended == []
