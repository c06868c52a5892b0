"""A daemon waits for a GitHub that does not answer, ever longer and quietly; whatever else is wrong ends it at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel
import pytest
from fakes.clock import PassingClock
from structlog.testing import capture_logs

from runtime.daemon.start import (
    AT_ONCE,
    LONGEST_SECONDS,
    TOLD_SECONDS,
    own_order,
    retry_while_transient,
    side_by_side,
)
from shared.errors import EngineError, Misconfigured, NotAllowed, Transient, Unauthorized


def failing(times: int, error: Callable[[], EngineError]) -> tuple[Callable[[], Awaitable[str]], list[int]]:
    """Return an attempt that fails so often and then tells its result, and the list of attempts."""
    made: list[int] = []

    async def attempt() -> str:
        made.append(len(made))
        if len(made) <= times:
            raise error()
        return "here"

    return attempt, made


@pytest.mark.fault(9)
async def test_it_waits_longer_each_time_until_it_is_answered() -> None:
    clock = PassingClock()
    attempt, made = failing(12, Transient)
    assert await retry_while_transient(attempt, clock) == "here"
    assert len(made) == 13
    assert clock.slept[:4] == [1, 2, 4, 8]
    assert clock.slept[-3:] == [LONGEST_SECONDS] * 3
    assert all(before <= after for before, after in zip(clock.slept, clock.slept[1:], strict=False))


@pytest.mark.fault(9)
async def test_it_says_so_at_most_once_a_minute() -> None:
    clock = PassingClock()
    attempt, _ = failing(12, lambda: Transient("GitHub answered 503"))
    began = clock.seconds
    with capture_logs() as events:
        await retry_while_transient(attempt, clock)
    told = [event for event in events if event["event"] == "start_delayed"]
    assert told[0]["error"] == "GitHub answered 503"
    assert 1 < len(told) <= 1 + (clock.seconds - began) / TOLD_SECONDS
    assert len(told) < 12, "the first, short waits are not each told"


@pytest.mark.fault(4)
@pytest.mark.parametrize("error", [Unauthorized, NotAllowed, Misconfigured])
async def test_what_does_not_pass_is_not_waited_for(error: type[EngineError]) -> None:
    clock = PassingClock()
    attempt, made = failing(1, error)
    with pytest.raises(error):
        await retry_while_transient(attempt, clock)
    assert (len(made), clock.slept) == (1, [])


def test_agents_that_start_together_begin_with_different_repositories() -> None:
    names = [f"owner/thing-{number:02}" for number in range(40)]
    orders = [own_order(names, f"machine-worker-{number}") for number in range(8)]
    for order in orders:
        assert sorted(order) == names, "each is made ready once"
    at_the_same_moment = [Counter(order[place] for order in orders).most_common(1)[0][1] for place in range(40)]
    assert max(at_the_same_moment) <= 2
    assert own_order(names, "machine-worker-0") == orders[0]
    assert own_order([], "worker") == ()


async def test_repositories_are_made_ready_side_by_side_and_keep_their_order() -> None:
    under_way, most = 0, 0

    async def attempt(name: str) -> str:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        for _ in range(30 - int(name)):
            await anyio.lowlevel.checkpoint()
        under_way -= 1
        if name == "3":
            raise NotAllowed("no")
        return name

    names = [str(number) for number in range(2 * AT_ONCE)]
    found = await side_by_side(names, attempt)
    assert list(found) == names
    assert isinstance(found.pop("3"), NotAllowed)
    assert all(name == what for name, what in found.items())
    assert most == AT_ONCE


@pytest.mark.parametrize("error", [Transient("away"), Unauthorized("away"), ZeroDivisionError("away")])
async def test_what_says_nothing_about_one_repository_ends_the_attempt_and_breaks_nothing_off(error: Exception) -> None:
    begun: list[str] = []
    ended: list[str] = []

    async def attempt(name: str) -> str:
        begun.append(name)
        for _ in range(3 if name == "1" else 6):
            await anyio.lowlevel.checkpoint()
        if name == "1":
            raise error
        ended.append(name)
        return name

    with pytest.raises(type(error), match="away"):
        await side_by_side([str(number) for number in range(2 * AT_ONCE)], attempt)
    assert len(begun) == AT_ONCE
    assert ended == [name for name in begun if name != "1"]
