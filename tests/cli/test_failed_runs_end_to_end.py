"""The whole way of a failed run: a real CLI at a failing model, and what the engine then does on GitHub."""

from __future__ import annotations

import pytest
from engine import Engine
from worker_scene import fence, status

from cli.coding import TOKEN
from cli.failed_shift import CLAUDE_202, CLAUDE_330, CODEX_163, CODEX_169, PERSON, refused, shift
from lab.model.script import Tokens
from shared.retry.failures import SCHEDULE_SECONDS, TIMEOUT_REPEATS
from shared.scheduling.agent_contract import Result
from shared.workflow import Role

FOR_EVER = {"tools": [{"name": "Bash", "input": {"command": "date >> seen", "description": "go on"}}]}
DEAR = {**FOR_EVER, "usage": Tokens(input=200_000, output=20_000).model_dump()}


async def test_turns_used_up(engine: Engine) -> None:
    async with shift(engine, CLAUDE_330, FOR_EVER, max_turns=2) as here:
        await here.given_up("flag:spec-review-needed", "turns-used-up")
        assert len(here.server.journal) == 2


async def test_the_budget_of_a_run_used_up(engine: Engine) -> None:
    async with shift(engine, CLAUDE_202, DEAR, more={"budgets": {"run": 0.5}}) as here:
        await here.given_up("flag:budget-exceeded", "budget-used-up")
        assert len(here.server.journal) == 1


@pytest.mark.parametrize("backend", [CLAUDE_330, CODEX_163], ids="-".join)
@pytest.mark.fault(26)
async def test_a_limit_that_names_its_reset_parks_the_item_until_then(engine: Engine, backend: tuple[str, str]) -> None:
    async with shift(engine, backend, refused(429, retry_after=3600)) as here:
        assert await here.waits(3600, within=60) == ("usage-limit", "")
        assert [end.result for end in here.loop.ended] == [Result.PARKED], "so long a wait keeps no lease"
        asked = len(here.server.journal)
        await here.after(1800)
        assert len(here.server.journal) == asked, "before the reset nothing is asked"


@pytest.mark.parametrize(("backend", "code"), [(CLAUDE_202, 529), (CODEX_169, 429)], ids=["claude", "codex"])
@pytest.mark.fault(26)
async def test_a_rate_limit_without_a_reset_backs_off(engine: Engine, backend: tuple[str, str], code: int) -> None:
    async with shift(engine, backend, refused(code)) as here:
        assert await here.waits(1) == ("backoff", "API_RATE_LIMIT=1")
        assert here.loop.ended == []
        if backend == CODEX_169:
            await here.after(1)
            assert await here.waits(2) == ("backoff", "API_RATE_LIMIT=2")


@pytest.mark.fault(23)
async def test_a_silent_network_is_asked_three_times_more_at_once(engine: Engine) -> None:
    silent = {"trouble": {"kind": "silent"}}
    async with shift(engine, CODEX_163, silent, stall_timeout_minutes=0.02) as here:
        for count in range(1, TIMEOUT_REPEATS + 1):
            assert await here.waits(0) == ("backoff", f"NETWORK_TIMEOUT={count}")
            await here.after(0)
        assert (await here.waits(SCHEDULE_SECONDS[0]))[1] == f"NETWORK_TIMEOUT={TIMEOUT_REPEATS + 1}"


@pytest.mark.fault(24)
async def test_what_may_pass_follows_the_schedule_and_then_goes_to_a_person(engine: Engine) -> None:
    async with shift(engine, CODEX_169, {"trouble": {"kind": "empty"}}) as here:
        for count, seconds in enumerate(SCHEDULE_SECONDS, 1):
            assert await here.waits(seconds) == ("backoff", f"transient={count}")
            await here.after(seconds)
            if "usage-limit" in str((await fence(engine, here.number)).wait):  # five in a row pause the backend
                await here.after(60)
        await here.given_up(PERSON, "transient")


@pytest.mark.fault(22)
async def test_a_wrong_key_is_a_person_s_at_once(engine: Engine) -> None:
    async with shift(engine, CODEX_163, refused(401, message="invalid x-api-key")) as here:
        await here.given_up(PERSON, "persistent")
        assert "key or login" in status(engine, here.number)
        assert TOKEN not in status(engine, here.number)


async def test_what_nobody_can_name_is_tried_once_more(engine: Engine) -> None:
    async with shift(engine, CLAUDE_330, {"say": ""}) as here:
        assert await here.waits(0) == ("backoff", "unknown=1")
        await here.after(0)
        await here.given_up(PERSON, "unknown")


async def test_an_answer_that_does_not_fit_is_asked_for_once_more_and_then_later(engine: Engine) -> None:
    async with shift(engine, CODEX_169, {"say": "Here is my plan."}, role=Role.PLANNER) as here:
        seen = await engine.fence(Role.PLANNER, here.number)
        assert seen is not None
        assert (seen.failures, here.loop.ended) == ("malformed-answer=1", [])
        asked = [str(one.body) for one in here.server.journal]
        assert ["not JSON and nothing else" in text for text in asked] == [False, True], (
            "the second is told what was wrong"
        )
