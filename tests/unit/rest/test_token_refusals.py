"""A refused token in the parts that meet it: the client's gate, the loop, one item, and tokens that can be renewed."""

from __future__ import annotations

from datetime import UTC, datetime

import anyio
import pytest
from fakes.agent import DONE, INTERVAL, FakeAgent, lease, own_slot
from fakes.clock import HandClock
from structlog.testing import capture_logs

from shared.errors import Blocked, Misconfigured, Transient, Unauthorized
from shared.github.errors import Limited
from shared.github.token_refusals import RETRY_SECONDS, TokenRefusals
from shared.github.tokens import Kept
from shared.loop.claim_queue import BARRED_SECONDS
from shared.loop.item_task import REFUSALS, ItemTask
from shared.loop.polling_loop import Loop
from shared.scheduling.agent_contract import Ended, Rest, Result

pytestmark = pytest.mark.fault(5)

BAD = "Bad credentials"
FIRST, SECOND = (Limited(datetime(2026, 7, 25, hour, tzinfo=UTC), "the hour is used up") for hour in (10, 11))


def loop_of(agent: FakeAgent, clock: HandClock, *, interval: float = 0.0) -> Loop:
    return Loop(agent, clock, interval_seconds=interval)


def goes_out(gate: TokenRefusals, method: str) -> bool:
    try:
        gate.admit(method)
    except Unauthorized:
        return False
    return True


def test_after_a_refusal_one_read_in_five_minutes_goes_out_and_no_write() -> None:
    clock = HandClock()
    gate = TokenRefusals(clock)
    gate.accepted()
    gate.refused(Unauthorized(BAD))
    seen = []
    for minute in range(11):
        seen += [(minute, method) for method in ("PATCH", "GET", "GET") if goes_out(gate, method)]
        clock.seconds += 60
    assert seen == [(5, "GET"), (10, "GET")]
    gate.accepted()
    assert goes_out(gate, "POST")


def test_the_log_tells_of_a_refusal_once_until_the_token_has_worked_again() -> None:
    gate = TokenRefusals(HandClock())
    with capture_logs() as events:
        gate.refused(Unauthorized(BAD))  # nothing starts with a token that never worked: its start says so
        assert events == []
        for _ in range(2):
            gate.accepted()
            for _ in range(3):
                gate.refused(Unauthorized(BAD))
    assert [event["event"] for event in events] == ["token_accepted", "token_refused"] * 2
    assert {event["retry_seconds"] for event in events if event["event"] == "token_refused"} == {RETRY_SECONDS}


def test_an_app_that_was_uninstalled_is_refused_in_its_own_words() -> None:
    gate = TokenRefusals(HandClock())
    gate.accepted()
    gate.refused(Misconfigured("The App is not installed in ada/thing."))
    with pytest.raises(Misconfigured, match="not installed in ada/thing"):
        gate.admit("GET")


@pytest.mark.parametrize(
    ("errors", "logged"),
    [
        ([Unauthorized(BAD)] * 4, [BAD]),
        ([Unauthorized(BAD, logged=True)] * 4, []),
        (
            [Misconfigured("no such label"), Misconfigured("no such label"), Misconfigured("no App")],
            ["no such label", "no App"],
        ),
        ([Transient("502"), Transient("502")], ["502", "502"]),
        ([FIRST] * 3 + [SECOND], [str(FIRST), str(SECOND)]),
    ],
)
async def test_a_daemon_says_once_what_only_a_person_or_a_time_can_end(
    errors: list[Exception], logged: list[str]
) -> None:
    agent = FakeAgent([1], discovery=list(errors))
    with capture_logs() as events:
        async with loop_of(agent, HandClock()).open() as loop:
            await loop.run(anyio.Event(), most_ticks=len(errors))
            assert agent.log == [], "nothing was claimed"
            await loop.run(anyio.Event(), most_ticks=1)
            await loop.quiet()
    assert [event["error"] for event in events if event["event"] == "tick_failed"] == logged
    assert agent.count("claim 1") == 1, "it goes on by itself"


async def test_a_claim_that_is_refused_ends_the_claims_of_this_tick_and_the_next_five_minutes() -> None:
    agent, clock = FakeAgent([1, 2, 3], claims={1: Unauthorized(BAD)}), HandClock()
    async with loop_of(agent, clock).open() as loop:
        with pytest.raises(Unauthorized):
            await loop.tick()
        clock.seconds += BARRED_SECONDS - 1
        await loop.tick()
        assert agent.log == ["claim 1"]
        clock.seconds += 1
        del agent.claims[1]
        await loop.tick()
        assert agent.log[:2] == ["claim 1", "claim 1"]


async def test_an_item_waits_for_the_token_and_goes_on_where_it_was() -> None:
    agent = FakeAgent([4], {4: [None, Unauthorized(BAD), Unauthorized(BAD), DONE]})
    item = ItemTask(4, agent, HandClock(), INTERVAL, lambda: None)
    async with anyio.create_task_group() as group:
        group.start_soon(item.run, lease(4), own_slot())
        for _ in range(2):
            await anyio.wait_all_tasks_blocked()
            assert (item.resting, agent.held) == (Rest("token", sentence=BAD), {4})
            item.wake()
    assert agent.log == ["step 4"] * 4 + ["release 4"], "no person was told, nothing was stopped"


async def test_a_token_that_only_one_server_refuses_goes_to_a_person_after_a_while() -> None:
    agent = FakeAgent([4], {4: [Unauthorized("git: Authentication failed")]})
    item = ItemTask(4, agent, HandClock(), INTERVAL, lambda: None)
    async with anyio.create_task_group() as group:
        group.start_soon(item.run, lease(4), own_slot())
        for _ in range(REFUSALS):
            await anyio.wait_all_tasks_blocked()
            item.wake()
    assert agent.log == ["step 4"] * (REFUSALS + 1) + ["fail 4: git: Authentication failed", "release 4"]


async def test_what_a_person_has_to_be_told_is_kept_and_told_without_another_step() -> None:
    agent = FakeAgent([4], {4: [Blocked("3 attempts failed")]}, failing=Unauthorized(BAD))
    item, ends = ItemTask(4, agent, HandClock(), INTERVAL, lambda: None), list[Ended]()

    async def run() -> None:
        ends.append(await item.run(lease(4), own_slot()))

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await anyio.wait_all_tasks_blocked()
        assert item.resting == Rest("token", sentence=BAD)
        agent.failing = None
        item.wake()
    assert agent.log == ["step 4", *["fail 4: 3 attempts failed"] * 2, "release 4"]
    assert ends == [Ended(Result.FAILED, "3 attempts failed")]


@pytest.mark.parametrize("wait", [True, False])
async def test_once_ends_with_the_refusal(wait: bool) -> None:
    agent = FakeAgent([1], {1: [Unauthorized(BAD)]})
    async with loop_of(agent, HandClock()).open() as loop:
        with pytest.raises(Unauthorized, match=BAD):
            await loop.once(anyio.Event(), wait=wait)
    assert agent.log == ["claim 1", "step 1", "release 1"]


async def test_a_token_in_a_file_is_read_again_when_it_is_refused() -> None:
    file: list[str | Unauthorized] = ["old"]

    def read() -> str:
        if isinstance(file[0], Unauthorized):
            raise file[0]
        return file[0]

    token = Kept(read)
    assert not await token.renew("old"), "it is still the same"
    file[0] = Unauthorized("The token file is gone.")
    assert not await token.renew("old")
    assert await token() == "old"
    file[0] = "new"
    assert await token.renew("old")
    assert await token() == "new"
