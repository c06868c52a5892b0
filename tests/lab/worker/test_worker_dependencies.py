"""A maintainer orders work by dependencies: in the text, on GitHub's own pages, and in words nobody reads."""

from __future__ import annotations

import pytest
from engine import OWNER, REPOSITORY, Engine
from orphan_scene import charged, writes
from worker_scene import CODE, TESTS, acks, claims, comments, labels, status

from shared.workflow import Role

pytestmark = pytest.mark.long


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a coder that knows one greeting."""
    engine.script(TESTS + CODE)
    return engine


def chore(engine: Engine) -> int:
    """Write an issue that does not concern the engine: without any label."""
    return engine.lab.issue(REPOSITORY, "Ask the lawyers", author=OWNER).number


@pytest.mark.prompt("it counts requests")
@pytest.mark.parametrize("where", ["text", "relationship"])
async def test_an_issue_begins_at_the_next_poll_after_its_blocker_without_any_label_was_closed(
    engine: Engine, where: str
) -> None:
    blocker = chore(engine)
    number = engine.ready("Greet people", f"Depends on #{blocker}" if where == "text" else "")
    if where == "relationship":
        engine.lab.block(REPOSITORY, number, by=blocker, actor=OWNER)
    async with engine.agent(Role.WORKER) as worker:
        for _ in range(3):
            await engine.tick(worker)
        assert worker.skipped == (f"{REPOSITORY}#{number}: blocked by #{blocker}",)
        before = charged(engine)
        for _ in range(20):
            await engine.tick(worker)
        assert charged(engine) == before, "waiting costs nothing"
        assert (acks(engine, number), worker.busy) == ([], 0)
        engine.lab.close(REPOSITORY, blocker, actor=OWNER)
        await engine.tick(worker)
        assert claims(engine, number) == 1
        await engine.until(lambda: bool(worker.ended), worker)
    assert "status:reviewing" in labels(engine, number)


async def test_a_relationship_that_is_taken_away_lets_the_issue_begin(engine: Engine) -> None:
    blocker = chore(engine)
    number = engine.ready("Greet people")
    engine.lab.block(REPOSITORY, number, by=blocker, actor=OWNER)
    async with engine.agent(Role.WORKER) as worker:
        for _ in range(2):
            await engine.tick(worker)
        assert acks(engine, number) == []
        engine.lab.unblock(REPOSITORY, number, by=blocker, actor=OWNER)
        await engine.tick(worker)
        assert claims(engine, number) == 1
        await engine.until(lambda: bool(worker.ended), worker)


async def test_a_circle_of_texts_and_relationships_is_told_on_each_issue_once(engine: Engine) -> None:
    one, two, three = engine.ready("First", "Depends on #2"), engine.ready("Second"), engine.ready("Third")
    engine.lab.block(REPOSITORY, two, by=three, actor=OWNER)
    engine.lab.block(REPOSITORY, three, by=one, actor=OWNER)
    async with engine.agent(Role.WORKER) as worker:
        for _ in range(3):
            await engine.tick(worker)
            engine.lab.clock.advance(2)
            engine.lab.comment(REPOSITORY, two, "Hm.", author=OWNER)
        assert worker.busy == 0
        assert "this issue depends on #2, #2 on #3, and #3 on this one" in status(engine, one)
        assert 'take `Depends on #2` out of this issue, or remove the relationship "blocked by #3" from #2' in status(
            engine, one
        )
        assert 'remove the relationship "blocked by #3" from this issue' in status(engine, two)
        assert all("rev=1" in status(engine, number) for number in (one, two, three))
        assert [acks(engine, number) for number in (one, two, three)] == [[], [], []]
        engine.lab.clock.advance(2)
        engine.lab.unblock(REPOSITORY, two, by=three, actor=OWNER)
        await engine.tick(worker)
        assert claims(engine, two) == 1, "what the comment advises leads on"
        await engine.until(lambda: bool(worker.ended), worker)


async def test_a_dependency_in_another_language_is_told_in_the_status_comment(engine: Engine) -> None:
    blocker = chore(engine)
    number = engine.ready("Greet people", f"Begrüße die Leute.\n\nHängt von #{blocker} ab.")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
    assert "Nothing waits for the issues that these lines name" in status(engine, number)
    assert f"> Hängt von #{blocker} ab." in status(engine, number)
    assert len(comments(engine, number)) == 1, "no comment more than without it"
    assert not [one for one in writes(engine) if f"/issues/{blocker}/" in one]
