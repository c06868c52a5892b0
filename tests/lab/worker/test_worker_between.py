"""Acts of people while the worker waits on cached knowledge: beside its pull request, and beside its work."""

from __future__ import annotations

import pytest
from engine import OWNER, REPOSITORY, Engine
from worker_scene import CODE, TESTS, branch, calls, eventually, fence, is_released, labels, pulls, status

from lab.github.ci.behaviours import NEVER
from lab.github.http.exchanges import Exchange
from lab.github.repositories.git_command import signed
from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage

pytestmark = pytest.mark.long

PERSON = ("ada", "ada@example.org")


async def test_a_pause_right_after_the_pull_request_was_opened_parks_the_issue(engine: Engine) -> None:
    engine.script(TESTS + CODE)
    engine.lab.ci_mood(REPOSITORY, NEVER)
    number = engine.ready("Greet people")

    def pause(one: Exchange) -> None:
        if one.method == "POST" and one.path.endswith("/pulls"):
            engine.lab.label(REPOSITORY, number, "flag:paused", actor=OWNER)

    engine.lab.exchanges.observe(pause)
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
        assert "Paused" in status(engine, number)
        assert (await fence(engine, number)).stage is Stage.TESTING, "it is parked, not withdrawn"
        assert await is_released(engine, number)
        engine.lab.unlabel(REPOSITORY, number, "flag:paused", actor=OWNER)
        await engine.until(lambda: bool(worker.resting), worker)
    assert calls(engine, "implement") == len(pulls(engine)) == 1
    assert labels(engine, number) == {"status:testing"}


async def test_a_branch_that_a_person_makes_during_the_work_is_not_overwritten(engine: Engine) -> None:
    engine.script(TESTS + CODE.replace("implement", "implement\n  takes: 1"))
    number = engine.ready("Greet people")
    bare = engine.lab.at(REPOSITORY).bare
    async with engine.agent(Role.WORKER) as worker:
        await engine.look(worker)
        await eventually(lambda: calls(engine, "implement") == 1)
        tree = (await bare.git.check("mktree", stdin=b"")).text
        made = await bare.git.check("commit-tree", tree, "-m", "Mine", env=signed(PERSON, PERSON))
        theirs = made.text  # a commit that our work is not built on, nor built on ours
        async with bare.changing(OWNER):
            await bare.git.run("update-ref", f"refs/heads/auto/issue-{number}", theirs)
        await engine.until(lambda: bool(worker.ended), worker)
        assert [end.result for end in worker.ended] == [Result.FAILED]
    assert await branch(engine, number) == theirs
    assert "not built on" in status(engine, number)
    assert pulls(engine) == []
    assert calls(engine, "implement") == 1, "nothing is paid for twice"
