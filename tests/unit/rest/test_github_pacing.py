"""Pacing as arithmetic: when the next write may go out."""

from __future__ import annotations

import pytest
from fakes.clock import PassingClock
from structlog.testing import capture_logs

from shared.github.limits import LOOK_SECONDS, Pacing
from shared.github.waits import reporting_waits
from shared.telemetry.health_state import STUCK_SECONDS, HealthState


async def times(count: int, *, urgent: bool = False, share: float = 1.0, interval: float = 1.0) -> list[float]:
    """Return the times at which `count` writes in a row go out, in seconds after the first."""
    clock = PassingClock(50.0)
    pacing = Pacing(clock, share=share, write_interval_seconds=interval)
    granted = []
    for _ in range(count):
        await pacing.wait(urgent=urgent)
        granted.append(clock.seconds)
    return [time - granted[0] for time in granted]


async def test_writes_keep_their_distance() -> None:
    assert await times(4) == [0, 1, 2, 3]


@pytest.mark.fault(8)
@pytest.mark.parametrize(
    ("urgent", "share", "per_minute", "per_hour"),
    [(False, 1.0, 72, 450), (True, 1.0, 80, 500), (False, 0.25, 18, 112), (True, 0.25, 20, 125)],
)
async def test_no_window_holds_more_than_its_share(urgent: bool, share: float, per_minute: int, per_hour: int) -> None:
    granted = await times(700, urgent=urgent, share=share, interval=0.01)
    for window, allowed in ((60, per_minute), (3600, per_hour)):
        gaps = [later - earlier for earlier, later in zip(granted, granted[allowed:], strict=False)]
        assert min(gaps) >= window - 1e-6  # one more than allowed never fits into the window
    assert granted[per_minute - 1] < 1  # but all that is allowed goes out at once


async def test_urgent_writes_find_room_when_ordinary_ones_wait() -> None:
    clock = PassingClock(50.0)
    pacing = Pacing(clock, write_interval_seconds=0.1)
    for _ in range(72):
        await pacing.wait()
    assert pacing.delay(clock.seconds) > 50
    assert pacing.delay(clock.seconds, urgent=True) == pytest.approx(0.1)


async def test_a_long_wait_is_logged_once_and_a_short_one_never() -> None:
    with capture_logs() as logged:
        await times(72)
        assert logged == []
        await times(73, interval=0.1)
        assert [(line["event"], line["seconds"] > 50) for line in logged] == [("writes_used_up", True)]
        await times(451, interval=0.1)
    assert sum(line["seconds"] > 1800 for line in logged) == 1, "the rest of the hour, not each look at it"


async def test_an_interval_of_zero_switches_pacing_off() -> None:
    assert set(await times(1000, interval=0)) == {0}


async def test_the_smallest_share_still_writes() -> None:
    assert len(await times(3, share=0.001)) == 3


@pytest.mark.parametrize("share", [0, -1, 1.01])
def test_a_share_is_a_fraction(share: float) -> None:
    with pytest.raises(ValueError, match="share"):
        Pacing(PassingClock(50.0), share=share)


async def test_a_tick_that_waits_for_its_turn_lives_and_one_that_hangs_does_not() -> None:
    clock = PassingClock(50.0)
    pacing, health = Pacing(clock, share=0.2, write_interval_seconds=0.001), HealthState(clock)
    for name in ("a/waits", "a/hangs"):
        health.join(name, lambda: 30.0)
    for _ in range(90):
        await pacing.wait()
    began = clock.seconds
    with reporting_waits(lambda: health.ticked("a/waits")):
        await pacing.wait()
    assert clock.seconds - began > STUCK_SECONDS + 90
    assert health.pulses["a/waits"].ticked >= clock.seconds - LOOK_SECONDS
    assert health.stuck().startswith("The loop of a/hangs has not ticked")
    ticked = health.pulses["a/waits"].ticked
    await pacing.wait()
    assert health.pulses["a/waits"].ticked == ticked, "another's wait is no sign of this one"
