"""Issues by hand that name the same file: one after the other, in order, and each told what it waits for."""

from __future__ import annotations

import pytest
from board_scene import row_of
from engine import OWNER, REPOSITORY, Engine
from worker_scene import CODE, REVIEW, TESTS, acks, comments, labels, pulls, status

from shared.workflow import Role

pytestmark = pytest.mark.long

FILES = "Greet them.\n\n## Files\n- `directory/greeting.py`\n"


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a coder that knows one greeting, and a reviewer that may merge."""
    engine.script(TESTS + CODE + REVIEW)
    engine.repository_settings["merge"] = "auto"
    return engine


async def test_the_second_begins_when_the_first_is_merged_and_says_so_until_then(engine: Engine) -> None:
    first, second = engine.ready("Greet people", FILES), engine.ready("Greet others", FILES)
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.WORKER, state="machine-2") as other:
        for _ in range(4):
            await engine.tick(worker, other)
        assert labels(engine, first) == {"status:reviewing"}
        assert (acks(engine, second), labels(engine, second)) == ([], {"status:ready"})
        told = f"Waiting for #{first}: both name `directory/greeting.py`"
        assert told in status(engine, second)
        waiting = (await row_of(engine, second)).waiting
        assert waiting is not None
        assert waiting.why == f"#{first}"
        said = len(comments(engine, second))
        async with engine.agent(Role.REVIEWER) as reviewer:
            await engine.until(lambda: pulls(engine)[0].merged_at is not None, reviewer)
        assert len(comments(engine, second)) == said, "it is said once"
        await engine.until(lambda: bool(acks(engine, second)), worker, other, ticks=3)


@pytest.mark.parametrize("leaves", ["closes", "edits"])
async def test_a_person_who_wants_it_at_once_closes_the_other_or_takes_the_file_out(
    engine: Engine, leaves: str
) -> None:
    first, second = engine.ready("Greet people", FILES), engine.ready("Greet others", FILES)
    async with engine.agent(Role.WORKER) as worker:
        for _ in range(4):
            await engine.tick(worker)
        assert acks(engine, second) == []
        engine.lab.clock.advance(2)
        if leaves == "closes":
            engine.lab.close(REPOSITORY, first, actor=OWNER)
        else:
            engine.lab.at(REPOSITORY).issues.edit(second, OWNER, body="Greet them.")
        await engine.until(lambda: bool(acks(engine, second)), worker, ticks=3)
