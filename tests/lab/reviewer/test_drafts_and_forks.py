"""Pull requests of people: a draft is nobody's business yet, and a stranger's fork costs nothing unasked."""

from __future__ import annotations

import pytest
from engine import OWNER, REPOSITORY, Engine
from orphan_scene import charged, writes
from worker_scene import REVIEW, calls, comments, labels, status

from lab.github.world.pulls import PullRecord
from shared.loop.polling_loop import Loop
from shared.workflow import Role

pytestmark = pytest.mark.long

CODE = {"directory/greeting.py": "def greet(name):\n    return f'Hello, {name}'\n"}
MORE = {"directory/greeting.py": "def greet(name):\n    return 'Hello, ' + name\n"}


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a reviewer that approves the greeting, and `merge: auto`."""
    engine.script(REVIEW)
    engine.repository_settings |= {"merge": "auto"}
    return engine


async def proposed(engine: Engine, *, author: str = "mallory", draft: bool = False) -> PullRecord:
    """Open a pull request from somebody's fork for an issue of the owner's."""
    issue = engine.lab.issue(REPOSITORY, "Greet people", "Greet them by name.", author=OWNER).number
    title, body = "Greet people", f"Closes #{issue}"
    return await engine.lab.propose(REPOSITORY, CODE, title, body, author=author, draft=draft)


def ask(engine: Engine, pull: PullRecord) -> None:
    """Ask for a review of it as the owner."""
    engine.lab.clock.advance(2)
    engine.lab.label(REPOSITORY, pull.number, "status:reviewing", actor=OWNER)


def green(engine: Engine, pull: PullRecord) -> None:
    """Report its checks, which a maintainer has let run, as green."""
    engine.lab.at(REPOSITORY).checks.say(pull.head_sha, "test", "success", description="ok", creator=OWNER)


def reviews(engine: Engine, pull: PullRecord) -> int:
    return len(engine.lab.at(REPOSITORY).pulls.reviews_of(pull.number))


async def ticks(engine: Engine, reviewer: Loop, count: int = 3) -> None:
    for _ in range(count):
        await engine.tick(reviewer)


@pytest.mark.prompt("it counts requests")
async def test_a_draft_is_reviewed_as_soon_as_its_author_marks_it_as_ready_and_costs_nothing_before(
    engine: Engine,
) -> None:
    pull = await proposed(engine, author=OWNER, draft=True)
    ask(engine, pull)
    async with engine.agent(Role.REVIEWER) as reviewer:
        await ticks(engine, reviewer, 2)
        before = charged(engine)
        await ticks(engine, reviewer, 5)
        assert charged(engine) == before
        assert (calls(engine, "review"), comments(engine, pull.number)) == (0, [])
        assert not [one for one in writes(engine) if f"/{pull.number}" in one]
        engine.lab.clock.advance(2)
        engine.lab.mark_draft(REPOSITORY, pull.number, actor=OWNER, draft=False)
        await engine.until(lambda: reviews(engine, pull) == 1, reviewer)
        await ticks(engine, reviewer)
    assert (calls(engine, "review"), reviews(engine, pull)) == (1, 1)
    assert "status:approved" in labels(engine, pull.number)


async def test_what_its_author_turns_into_a_draft_again_is_not_merged_before_it_is_ready(engine: Engine) -> None:
    pull = await proposed(engine, author=OWNER)
    ask(engine, pull)
    async with engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: bool(reviewer.ended), reviewer)
        engine.lab.clock.advance(2)
        engine.lab.mark_draft(REPOSITORY, pull.number, actor=OWNER, draft=True)
        engine.lab.comment(REPOSITORY, pull.number, "/merge", author=OWNER)
        green(engine, pull)
        await ticks(engine, reviewer)
        assert "status:approved" in labels(engine, pull.number)
        assert engine.lab.at(REPOSITORY).pulls.require(pull.number).merged_at is None
        assert not [one for one in writes(engine) if one.endswith("/merge")]
        engine.lab.clock.advance(2)
        engine.lab.mark_draft(REPOSITORY, pull.number, actor=OWNER, draft=False)
        await engine.until(lambda: engine.lab.at(REPOSITORY).pulls.require(pull.number).merged_at is not None, reviewer)


async def test_a_strangers_fork_is_reviewed_only_when_a_maintainer_asks_and_merged_only_at_their_word(
    engine: Engine,
) -> None:
    pull = await proposed(engine)
    green(engine, pull)
    async with engine.agent(Role.REVIEWER) as reviewer:
        await ticks(engine, reviewer)
        assert (reviews(engine, pull), comments(engine, pull.number)) == (0, []), "nobody has asked"
        ask(engine, pull)
        await engine.until(lambda: reviews(engine, pull) == 1, reviewer)
        await ticks(engine, reviewer, 2)
        assert "Its branch is in another repository: comment `/merge`" in status(engine, pull.number)
        engine.lab.clock.advance(2)
        pull = await engine.lab.push_to_fork(REPOSITORY, pull.number, MORE)
        green(engine, pull)
        await ticks(engine, reviewer)
        assert reviews(engine, pull) == 1, "a push to a fork buys no review"
        for label in [one for one in labels(engine, pull.number) if one.startswith("status:")]:
            engine.lab.unlabel(REPOSITORY, pull.number, label, actor=OWNER)
        ask(engine, pull)
        await engine.until(lambda: reviews(engine, pull) == 2, reviewer)
        await ticks(engine, reviewer, 2)
        assert engine.lab.at(REPOSITORY).pulls.require(pull.number).merged_at is None
        engine.lab.clock.advance(2)
        engine.lab.comment(REPOSITORY, pull.number, "/merge", author=OWNER)
        await engine.until(lambda: engine.lab.at(REPOSITORY).pulls.require(pull.number).merged_at is not None, reviewer)


async def test_a_fork_that_names_its_branch_like_the_engines_is_not_taken_for_the_engines_work(engine: Engine) -> None:
    number = engine.lab.issue(REPOSITORY, "Greet people", author=OWNER).number
    pull = await engine.lab.propose(REPOSITORY, CODE, "Greet", f"Closes #{number}", author="mallory")
    pulls = engine.lab.at(REPOSITORY).pulls
    pulls.records.change(pull.number, head_branch=f"auto/issue-{number}")
    engine.lab.label(REPOSITORY, pull.number, "status:changes-requested", actor=OWNER)
    async with engine.agent(Role.WORKER) as worker:
        await ticks(engine, worker)
        assert worker.skipped == (f"{REPOSITORY}#{number}: the pull request is not of this engine's making",)
    assert [one for one in (number, pull.number) if comments(engine, one)] == []
    assert await engine.lab.at(REPOSITORY).bare.sha(f"refs/heads/auto/issue-{number}") is None


async def test_start_on_a_pull_request_asks_for_its_review(engine: Engine) -> None:
    pull = await proposed(engine)
    async with engine.agent(Role.REVIEWER) as reviewer:
        await ticks(engine, reviewer)
        engine.lab.comment(REPOSITORY, pull.number, "/start", author="mallory")
        await ticks(engine, reviewer)
        assert reviews(engine, pull) == 0
        engine.lab.comment(REPOSITORY, pull.number, "/start", author=OWNER)
        await engine.until(lambda: reviews(engine, pull) == 1, reviewer)
