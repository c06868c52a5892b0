"""What a maintainer does without thinking of the engine, while it works: every item goes on, or says how it would."""

from __future__ import annotations

import pytest
from branch_scene import work_branch
from engine import OWNER, REPOSITORY, Engine
from office import office
from worker_scene import calls, labels, pulls

from lab.github.ci.behaviours import GREEN, NEVER
from shared.specification import body_sha256
from shared.workflow import Role

pytestmark = pytest.mark.long

BODY = "Greet them.\n\n## Acceptance criteria\n- [ ] AC1: ant.txt says hello.\n"


async def test_a_title_that_its_author_corrects_while_ci_runs_holds_nothing_up(engine: Engine) -> None:
    async with office(engine, "ant") as here:
        engine.lab.ci_mood(REPOSITORY, NEVER)
        number = here.ready("Greet ant", BODY)
        await here.until(lambda: here.is_proposed(number), here.worker)
        here.edit(number, title="Greet ant kindly")
        here.edit(number, body=f"{BODY}\nThanks!\n")
        await here.until(lambda: "was edited by somebody with write access" in here.status(number), here.worker)
        assert "Waiting for CI" in here.status(number)
        fence = await engine.fence(Role.WORKER, number)
        assert fence is not None
        assert fence.body_sha256 == body_sha256("Greet ant kindly", f"{BODY}\nThanks!\n")
        engine.lab.ci_mood(REPOSITORY, GREEN)
        await engine.lab.ci_run(REPOSITORY, work_branch(number))
        await here.until(lambda: here.is_merged(number))
    assert (calls(engine, "write_tests"), calls(engine, "implement")) == (1, 1), "nothing is paid for anew"


async def test_an_issue_that_is_locked_says_what_leads_on_once_it_is_unlocked(engine: Engine) -> None:
    async with office(engine, "ant") as here:
        number = here.ready("Greet ant", BODY)
        await here.until(lambda: here.is_proposed(number), here.worker)
        engine.lab.lock(REPOSITORY, number, actor=OWNER)
        await here.look(3)
        told, pull = here.status(number), here.pull(number).number
        assert "Stopped: the issue was locked." in told
        assert f"unlock this issue, then set `status:reviewing` on this issue and on #{pull}" in told
        assert not {one for one in labels(engine, number) | labels(engine, pull) if one.startswith("status:")}
        engine.lab.unlock(REPOSITORY, number, actor=OWNER)
        here.label(number, "status:reviewing")
        here.label(pull, "status:reviewing")
        await here.until(lambda: here.is_merged(number))
    assert len(pulls(engine)) == 1
