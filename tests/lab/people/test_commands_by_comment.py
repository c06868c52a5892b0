"""People in control by comment: who may, what each command does, and that each is carried out once."""

from __future__ import annotations

import pytest
from engine import ENGINE, OWNER, REPOSITORY, WRITES, Engine, demo_script
from worker_scene import (
    CODE,
    REVIEW,
    SLOW,
    TESTS,
    WRONG,
    branch,
    calls,
    claims,
    comments,
    during_the_call,
    fence,
    is_released,
    labels,
    pulls,
    status,
)

from console.orders import Order, OrderResult, ordered
from lab.demo.stories import STORIES
from lab.github.ci.behaviours import NEVER
from shared.commands.command import Verb
from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage

pytestmark = pytest.mark.long

DIAGNOSIS = """
- call: diagnose
  answer: {cause: The greeting lacks its first word., suggestion: Say in the issue what it begins with.}
"""


@pytest.mark.edges(
    "specification: failed, retried",
)
async def test_retry_goes_on_from_the_tests_that_were_written(engine: Engine) -> None:
    engine.repository_settings |= {"max_attempts": 1, "refactor": "off"}
    engine.script(TESTS + WRONG + DIAGNOSIS)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
        assert "The greeting lacks its first word." in status(engine, number)
        assert "`/retry` continues where it stopped" in status(engine, number)
        assert labels(engine, number) == {"status:failed", "flag:manual-intervention"}
        engine.lab.comment(REPOSITORY, number, "/retry", author="mallory")
        await engine.tick(worker)
        await engine.tick(worker)
        assert "status:failed" in labels(engine, number)
        assert "its author has no write access" in status(engine, number)
    engine.script(CODE)
    red = (await fence(engine, number)).work_head
    given = engine.lab.comment(REPOSITORY, number, "/retry", author=OWNER).id
    async with engine.agent(Role.WORKER) as again:
        await engine.until(lambda: bool(again.ended), again)
    assert [end.result for end in again.ended] == [Result.HANDED_OVER]
    assert calls(engine, "write_tests") == 1
    tip = await branch(engine, number)
    assert tip is not None
    assert red in {one.sha for one in await engine.lab.at(REPOSITORY).bare.log(None, tip, 3)}
    assert f"`/retry` by {OWNER} (comment {given})" in status(engine, number)
    assert "flag:manual-intervention" not in labels(engine, number)


def say(engine: Engine, number: int, text: str, *, by: str = OWNER) -> int:
    return engine.lab.comment(REPOSITORY, number, text, author=by).id


async def test_pause_and_stop_reach_work_under_way(engine: Engine) -> None:
    engine.script(SLOW)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await during_the_call(engine, worker)
        say(engine, number, "/stop", by="mallory")
        await engine.look(worker)
        assert worker.busy == 1
        say(engine, number, "/pause")
        await engine.tick(worker)
        assert [end.result for end in worker.ended] == [Result.WITHDRAWN]
        assert "flag:paused" in labels(engine, number)
        await engine.tick(worker)
        assert worker.busy == 0
        say(engine, number, "/resume")
        await engine.look(worker)
        await engine.look(worker)
        assert worker.busy == 1
        say(engine, number, "/stop")
        await engine.tick(worker)
        await engine.tick(worker)
    assert (await fence(engine, number)).stage is Stage.WITHDRAWN
    assert labels(engine, number) == set()
    assert await is_released(engine, number)
    said = status(engine, number)
    assert said.count("`/stop` by ada") == said.count("`/pause` by ada") == 1
    assert "mallory" not in said


@pytest.mark.parametrize(("unknown", "word"), [("/launch now", "/launch"), ("/Stop.\r\n\r\nThanks!", "/Stop.")])
async def test_a_command_in_the_wrong_stage_gets_one_sentence_and_an_unknown_one_one_reply(
    engine: Engine, unknown: str, word: str
) -> None:
    engine.lab.ci_mood(REPOSITORY, NEVER)
    engine.repository_settings["refactor"] = "off"
    engine.script(TESTS + CODE)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting), worker)
        say(engine, number, "/close-and-reset")
        say(engine, number, unknown)
        say(engine, number, "/launch again")
        say(engine, number, "/deploy", by="mallory")
        for _ in range(3):
            await engine.tick(worker)
        assert len(worker.resting) == 1
    told = [one.body for one in comments(engine, number) if "engine-notice" in one.body]
    assert len(told) == 1
    assert f"There is no command `{word}`" in told[0]
    assert "give `/stop` first" in status(engine, number)
    assert engine.issue(pulls(engine)[0].number).open


async def test_close_and_reset_keeps_the_old_branch_and_starts_over(engine: Engine) -> None:
    engine.lab.ci_mood(REPOSITORY, NEVER)
    engine.repository_settings |= {"refactor": "off", "ci": {"timeout": 1}}
    engine.script(TESTS + CODE)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.in_time(lambda: bool(worker.ended), worker)
        assert "status:reviewing" in labels(engine, number)
        old, pull = await branch(engine, number), pulls(engine)[0].number
        say(engine, number, "/close-and-reset")
        await engine.in_time(lambda: len(pulls(engine)) == 2, worker)
    assert not engine.issue(pull).open
    bare = engine.lab.at(REPOSITORY).bare
    assert await bare.sha(f"refs/heads/auto/issue-{number}-old-1") == old
    assert await branch(engine, number) != old
    assert calls(engine, "write_tests") == 1  # of one machine and one scenario, the same answer


async def recover(engine: Engine, verb: Verb, number: int) -> OrderResult:
    """Return the console's answer to an order in the name of the engine's own account."""
    environment = {"GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    return await ordered(engine.settings("console"), environment, Order(verb, number))


async def test_the_console_does_what_a_comment_does(engine: Engine) -> None:
    engine.repository_settings |= {"max_attempts": 1, "refactor": "off"}
    engine.script(TESTS + WRONG)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
    refused = await recover(engine, Verb.STOP, number)
    assert (refused.done, refused.stage) == (False, "failed")
    assert set(refused.fits) == {"retry", "reset-attempts", "spec-review", "close-and-reset"}
    waiting = await recover(engine, Verb.SPEC_REVIEW, number)
    assert waiting.done
    assert labels(engine, number) >= {"status:failed", "flag:spec-review-needed"}
    again = await recover(engine, Verb.RESET_ATTEMPTS, number)
    assert again.done
    assert labels(engine, number) == {"status:ready"}
    assert "`/reset-attempts` by engine-bot, at a console: it goes on with 1 of 1 attempts" in status(engine, number)
    assert (await fence(engine, number)).stage is Stage.READY
    assert claims(engine, number) == 1, "the console claims nothing"


@pytest.mark.edges(
    "story: planning, gave up",
    "story: failed, retried",
)
async def test_a_failed_story_is_planned_again_on_command(engine: Engine) -> None:
    story = STORIES[0]
    engine.script(TESTS)
    number = engine.lab.issue(REPOSITORY, story.title, story.body, author=OWNER, labels=("story",)).number
    async with engine.agent(Role.PLANNER) as planner:
        await engine.until(lambda: bool(planner.ended), planner)
        assert "status:failed" in labels(engine, number)
        assert "**Commands:** `/retry` continues" in status(engine, number)
    engine.scenario = demo_script(engine.directory)
    say(engine, number, "/close-and-reset")
    say(engine, number, "/retry")
    async with engine.agent(Role.PLANNER) as planner:
        await engine.in_time(lambda: "status:awaiting-approval" in labels(engine, number), planner)
    assert "use `/retry` for a failed story" in status(engine, number)
    assert "flag:manual-intervention" not in labels(engine, number)


@pytest.mark.edges(
    "pull_request: in-review, gave up",
    "pull_request: failed, review retried",
)
async def test_a_failed_review_is_done_again_on_command(engine: Engine) -> None:
    engine.repository_settings["refactor"] = "off"
    engine.script(TESTS + CODE)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: bool(worker.ended), worker)
        pull = pulls(engine)[0].number
        await engine.until(lambda: bool(reviewer.ended), reviewer)
        assert "status:failed" in labels(engine, pull)
        say(engine, pull, "/merge")
        await engine.until(lambda: "it is at 'failed'" in status(engine, pull), reviewer)
    engine.script(REVIEW)
    say(engine, pull, "/retry")
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        await engine.in_time(lambda: "status:approved" in labels(engine, pull), worker, reviewer)
    assert labels(engine, number) == {"status:reviewing"}
    assert "flag:manual-intervention" not in labels(engine, pull)
