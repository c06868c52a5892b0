"""Planner and reviewer: what asked for the start is taken off between the claim's reading and the first label."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from engine import OWNER, REPOSITORY, Engine
from worker_scene import CODE, REVIEW, TESTS, acks, calls, claims, labels, once, pulls

from lab.github.ci.behaviours import GREEN, RED
from lab.github.http.exchanges import Exchange
from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage

pytestmark = pytest.mark.long


def when_acknowledged(engine: Engine, number: int, change: Callable[[], object]) -> None:
    """Let `change` happen when the ACK of a claim is posted: after the item was read, before its label is set."""
    changed: list[bool] = []

    def look(one: Exchange) -> None:
        posted = one.method == "POST" and one.path.endswith(f"/issues/{number}/comments") and acks(engine, number)
        if posted and not changed:
            changed.append(True)
            change()

    engine.lab.exchanges.observe(look)


@pytest.mark.fault(17)
async def test_a_story_that_is_none_any_more_is_not_planned(engine: Engine) -> None:
    engine.script(TESTS + CODE)
    number = engine.lab.issue(REPOSITORY, "Greet people", author=OWNER, labels=("story", "idea")).number
    when_acknowledged(engine, number, lambda: engine.lab.unlabel(REPOSITORY, number, "story", actor=OWNER))
    async with engine.agent(Role.PLANNER) as planner:
        await engine.until(lambda: bool(planner.ended), planner)
        assert [end.result for end in planner.ended] == [Result.WITHDRAWN]
    assert labels(engine, number) == {"idea"}
    assert calls(engine, "plan") == 0
    assert engine.held_locks() == []


@pytest.mark.fault(17)
async def test_a_review_that_is_not_wanted_any_more_is_not_begun(engine: Engine) -> None:
    engine.script(TESTS + CODE + REVIEW)
    await once(engine, engine.ready("Greet people"))
    (pull,) = pulls(engine)
    asked = "status:reviewing"
    when_acknowledged(engine, pull.number, lambda: engine.lab.unlabel(REPOSITORY, pull.number, asked, actor=OWNER))
    async with engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: bool(reviewer.ended), reviewer)
        assert [end.result for end in reviewer.ended] == [Result.WITHDRAWN]
    assert not {one for one in labels(engine, pull.number) if one.startswith("status:")}
    assert calls(engine, "review") == 0
    assert engine.held_locks() == []


@pytest.mark.fault(17)
@pytest.mark.parametrize(("role", "asked"), [(Role.WORKER, "status:ready"), (Role.PLANNER, "story")])
async def test_what_is_blocked_after_the_list_was_read_rests_until_it_is_free_again(
    engine: Engine, role: Role, asked: str
) -> None:
    engine.script(TESTS + CODE)
    number = engine.lab.issue(REPOSITORY, "Greet people", author=OWNER, labels=(asked,)).number
    blocked: list[bool] = []

    def block(one: Exchange) -> None:
        if one.method == "GET" and one.path.endswith(f"/{number}") and not blocked:
            blocked.append(True)
            engine.lab.label(REPOSITORY, number, "blocked", actor=OWNER)

    engine.lab.exchanges.observe(block)
    async with engine.agent(role) as agent:
        for _ in range(3):
            await engine.tick(agent)
        assert blocked == [True]
        assert labels(engine, number) == {asked, "blocked"}
        assert acks(engine, number) == []
        engine.lab.clock.advance(2)  # lists tell times in whole seconds
        engine.lab.unlabel(REPOSITORY, number, "blocked", actor=OWNER)
        await engine.until(lambda: bool(acks(engine, number)), agent)


@pytest.mark.fault(17)
async def test_a_review_that_is_blocked_after_the_list_was_read_rests_until_it_is_free_again(engine: Engine) -> None:
    engine.script(TESTS + CODE + REVIEW)
    await once(engine, engine.ready("Greet people"))
    (pull,) = pulls(engine)
    blocked: list[bool] = []

    def block(one: Exchange) -> None:
        if one.method == "GET" and one.path.endswith(f"/{pull.number}") and not blocked:
            blocked.append(True)
            engine.lab.label(REPOSITORY, pull.number, "blocked", actor=OWNER)

    engine.lab.exchanges.observe(block)
    async with engine.agent(Role.REVIEWER) as reviewer:
        for _ in range(3):
            await engine.tick(reviewer)
        assert (blocked, acks(engine, pull.number), calls(engine, "review")) == ([True], [], 0)
        engine.lab.clock.advance(2)  # lists tell times in whole seconds
        engine.lab.unlabel(REPOSITORY, pull.number, "blocked", actor=OWNER)
        await engine.until(lambda: bool(acks(engine, pull.number)), reviewer)


async def test_nothing_is_merged_on_a_red_base_even_if_it_is_built_on_it(engine: Engine) -> None:
    engine.script(TESTS + CODE + REVIEW)
    engine.repository_settings |= {"merge": "auto"}
    engine.lab.ci_mood(REPOSITORY, RED, branch="main")
    await engine.lab.ci_run(REPOSITORY)
    await engine.lab.idle()
    number = engine.ready("Greet people")
    await once(engine, number)
    (pull,) = pulls(engine)
    async with engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: bool(reviewer.ended), reviewer)
        for _ in range(2):
            await engine.tick(reviewer)
    said = [one.body for one in engine.lab.at(REPOSITORY).comments.of(pull.number)]
    assert len([body for body in said if "checks of the base branch fail" in body]) == 1
    assert pull.merge_sha is None
    engine.lab.ci_mood(REPOSITORY, GREEN, branch="main")
    await engine.lab.ci_run(REPOSITORY)
    await engine.lab.idle()
    engine.lab.clock.advance(301)  # the fence says for how long nobody need look
    async with engine.agent(Role.REVIEWER) as again:
        await engine.until(lambda: not engine.issue(number).open, again)
    fence = await engine.fence(Role.WORKER, number)
    assert fence is not None
    assert fence.stage is Stage.DONE
    assert await engine.lab.at(REPOSITORY).bare.sha(f"refs/heads/auto/issue-{number}") is None


@pytest.mark.fault(17)
@pytest.mark.parametrize(
    ("role", "asked", "call"), [(Role.WORKER, "status:ready", "write_tests"), (Role.PLANNER, "story", "plan")]
)
async def test_nothing_begins_that_is_blocked_while_its_claim_settles(
    engine: Engine, role: Role, asked: str, call: str
) -> None:
    engine.script(TESTS + CODE)
    number = engine.lab.issue(REPOSITORY, "Greet people", author=OWNER, labels=(asked,)).number
    when_acknowledged(engine, number, lambda: engine.lab.label(REPOSITORY, number, "blocked", actor=OWNER))
    async with engine.agent(role) as agent:
        await engine.until(lambda: bool(agent.ended), agent)
        assert [end.result for end in agent.ended] == [Result.PARKED]
        for _ in range(2):
            await engine.tick(agent)
        assert (calls(engine, call), claims(engine, number), engine.held_locks()) == (0, 1, [])
        engine.lab.clock.advance(2)  # lists tell times in whole seconds
        engine.lab.unlabel(REPOSITORY, number, "blocked", actor=OWNER)
        await engine.until(lambda: claims(engine, number) == 2, agent)


@pytest.mark.fault(17)
async def test_no_review_begins_that_is_blocked_while_its_claim_settles(engine: Engine) -> None:
    engine.script(TESTS + CODE + REVIEW)
    await once(engine, engine.ready("Greet people"))
    (pull,) = pulls(engine)
    when_acknowledged(engine, pull.number, lambda: engine.lab.label(REPOSITORY, pull.number, "blocked", actor=OWNER))
    async with engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: bool(reviewer.ended), reviewer)
        assert [end.result for end in reviewer.ended] == [Result.PARKED]
        assert (calls(engine, "review"), engine.held_locks()) == (0, [])
        engine.lab.clock.advance(2)  # lists tell times in whole seconds
        engine.lab.unlabel(REPOSITORY, pull.number, "blocked", actor=OWNER)
        await engine.until(lambda: calls(engine, "review") == 1, reviewer)
