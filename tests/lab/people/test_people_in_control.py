"""Every command, by comment and by console: repeated, in the wrong stage, by the wrong person, with one account."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from engine import ENGINE, OWNER, REPOSITORY, WRITES, Engine, demo_script
from worker_scene import CODE, SLOW, TESTS, claims, comments, during_the_call, eventually, fence, labels, pulls, status

from console.orders import ACTIONS, Order, OrderResult, ordered
from shared.commands.command import Verb
from shared.commands.command_reader import EDITED
from shared.commands.command_rules import CommandRefused, ruling
from shared.errors import NotAllowed
from shared.process import Finished, run
from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage, Track

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]

FAILS = "- call: write_tests\n  fails: max_turns\n"


def say(engine: Engine, number: int, text: str, *, by: str = OWNER) -> int:
    return engine.lab.comment(REPOSITORY, number, text, author=by).id


async def given_up(engine: Engine) -> int:
    """Make an issue whose work has failed."""
    engine.script(FAILS)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
    assert "status:failed" in labels(engine, number)
    return number


async def test_every_command_by_comment(engine: Engine) -> None:
    engine.more_settings["notify"] = {"mention": ["ada"]}
    number = await given_up(engine)
    assert [one.body for one in comments(engine, number) if "Needs a maintainer:" in one.body and "@ada" in one.body]
    refused = {
        verb: one for verb in Verb if isinstance(one := ruling(verb, Track.SPECIFICATION, Stage.FAILED), CommandRefused)
    }
    assert set(refused) >= {Verb.MERGE, Verb.STOP, Verb.REJECT}, "positive control: some do not fit"
    async with engine.agent(Role.WORKER) as worker:
        await engine.tick(worker)
        for verb in Verb:
            say(engine, number, f"/{verb}", by="mallory")
        given = {verb: [say(engine, number, f"/{verb}") for _ in range(2)] for verb in refused}
        asked = say(engine, number, "/retry backend=gpt")
        old = say(engine, number, "Hm.")
        for _ in range(3):
            await engine.tick(worker)
        said = status(engine, number)
        for verb, (first, again) in given.items():
            for id in (first, again):
                assert f"`/{verb}` by {OWNER} (comment {id})" in said or f'"id": {id}' in said
        assert f'"id": {asked}' in said
        assert "no backend 'gpt' is configured" in said
        assert (len(worker.ended), claims(engine, number)) == (0, 1)
        engine.lab.clock.advance(5)
        engine.lab.at(REPOSITORY).comments.edit(old, "/retry")
        for _ in range(3):
            await engine.tick(worker)
        assert status(engine, number).count(EDITED) == 2, "told to people, and in the data: once"
        assert len(worker.ended) == 0
        engine.script(TESTS + CODE)
    say(engine, number, "/retry backend=scripted")
    async with engine.agent(Role.WORKER, state="machine-2") as other:
        await engine.until(lambda: bool(other.ended), other)
        assert [end.result for end in other.ended] == [Result.HANDED_OVER]
    assert (await fence(engine, number)).backend == "scripted"


async def recover(engine: Engine, verb: Verb, number: int, *, by: str = ENGINE) -> OrderResult:
    """Return the console's answer to an order with the token of `by`."""
    environment = {"GITHUB_TOKEN": engine.lab.token(by, WRITES)}
    return await ordered(engine.settings("console"), environment, Order(verb, number))


async def test_every_command_by_console(engine: Engine) -> None:
    number = await given_up(engine)
    done = {verb: [(await recover(engine, verb, number)).done for _ in range(2)] for verb in (Verb.PAUSE, Verb.RESUME)}
    assert done == {Verb.PAUSE: [True, True], Verb.RESUME: [True, True]}
    assert "flag:paused" not in labels(engine, number)
    outcomes = [await recover(engine, verb, number) for verb in (Verb.STOP, Verb.SPEC_REVIEW, Verb.CLOSE_AND_RESET)]
    assert [one.done for one in outcomes] == [False, True, True]
    assert labels(engine, number) == {"status:ready"}
    again = [await recover(engine, verb, number) for verb in (Verb.RETRY, Verb.RESET_ATTEMPTS, Verb.CLOSE_AND_RESET)]
    assert [(one.done, one.stage) for one in again] == [(False, "ready")] * 3
    assert all(verb in ACTIONS for one in again for verb in one.fits)
    with pytest.raises(NotAllowed):
        await recover(engine, Verb.STOP, number, by="mallory")
    assert labels(engine, number) == {"status:ready"}
    assert claims(engine, number) == 1, "the console claims nothing"


async def command(engine: Engine, *words: str) -> Finished:
    """Run `workflow-engine recover WORDS` as a separate process."""
    place = engine.directory / "repos.yml"
    place.write_text(
        f"repositories: [{{name: {REPOSITORY}, llm_backend: scripted}}]\n"
        f"state_dir: {engine.directory / 'typed'}\nsandbox: none\nlock: {{settle: 0}}\n"
        f"github: {{api_url: '{engine.lab.url}', write_interval_seconds: 0}}\n"
    )
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(engine.directory),
        "PYTHONPATH": str(ROOT),
        "GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES),
    }
    argv = (sys.executable, "-m", "console", "recover", *words, "--config", str(place))
    return await run(argv, cwd=engine.directory, env=env)


async def test_the_command_line_tells_programs_what_became_of_it(engine: Engine) -> None:
    number = await given_up(engine)
    item = f"{REPOSITORY}#{number}"
    wrong = [("explode", item), ("retry", "ada"), ("retry", item, "--backend", "gpt"), ("stop", item, "--backend", "x")]
    for words in wrong:
        done = await command(engine, *words)
        assert (done.code, done.stdout) == (2, b""), done.stderr
    refused = await command(engine, "stop", item, "--json")
    assert (refused.code, json.loads(refused.stdout)["done"]) == (1, False)
    retried = await command(engine, "retry", item, "--backend", "scripted", "--json")
    answer = json.loads(retried.stdout)
    assert (retried.code, answer["done"], answer["stage"]) == (0, True, "ready")
    assert "and scripted" in answer["outcome"]
    assert (await fence(engine, number)).backend == "scripted"


async def test_with_one_account_the_owners_words_are_still_theirs(engine: Engine) -> None:
    engine.account = OWNER
    engine.scenario = demo_script(engine.directory)
    story = engine.lab.issue(REPOSITORY, "Add user search", "By name.", author=OWNER, labels=("story",)).number
    async with engine.agent(Role.PLANNER) as planner:
        await engine.until(lambda: "status:awaiting-approval" in labels(engine, story), planner)
        for _ in range(2):
            await engine.tick(planner)
        assert "status:awaiting-approval" in labels(engine, story), "its own plan, which names /approve, orders nothing"
        say(engine, story, "/approve")
        await engine.until(lambda: "status:specified" in labels(engine, story), planner)
    engine.script(SLOW)
    (number,) = {one.number for one in engine.lab.at(REPOSITORY).issues.records.values()} - {story}
    async with engine.agent(Role.WORKER) as worker:
        await during_the_call(engine, worker)
        say(engine, number, "/pause")
        await engine.tick(worker)
        assert "flag:paused" in labels(engine, number)
        engine.lab.unlabel(REPOSITORY, number, "flag:paused", actor=OWNER)
        await engine.look(worker)
        await engine.look(worker)
        assert worker.busy == 1
        engine.lab.unlabel(REPOSITORY, number, "status:implementing", actor=OWNER)
        await engine.until(lambda: len(worker.ended) >= 2, worker)
    assert (await fence(engine, number)).stage is Stage.WITHDRAWN
    assert pulls(engine) == []


async def test_a_review_under_way_is_paused_taken_up_again_and_stopped(engine: Engine) -> None:
    engine.script(TESTS + CODE + "- call: review\n  takes: 600\n  text: never\n")
    engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
    pull = pulls(engine)[0].number
    async with engine.agent(Role.REVIEWER) as reviewer:
        await engine.look(reviewer)
        await eventually(lambda: "status:in-review" in labels(engine, pull))
        say(engine, pull, "/stop", by="mallory")
        await engine.look(reviewer)
        assert reviewer.busy == 1
        say(engine, pull, "/pause")
        await engine.tick(reviewer)
        assert [end.result for end in reviewer.ended] == [Result.WITHDRAWN]
        assert "flag:paused" in labels(engine, pull)
        say(engine, pull, "/resume")
        await engine.look(reviewer)
        await engine.look(reviewer)
        assert reviewer.busy == 1
        say(engine, pull, "/stop")
        await engine.until(lambda: len(reviewer.ended) >= 2, reviewer)
        for _ in range(2):
            await engine.tick(reviewer)
        assert (reviewer.busy, len(reviewer.ended)) == (0, 2), "what was stopped is not taken up by itself"
    stopped = await engine.fence(Role.REVIEWER, pull)
    assert stopped is not None
    assert stopped.stage is Stage.WITHDRAWN
    assert engine.issue(pull).open
