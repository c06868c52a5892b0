"""GitHub's points of a minute as arithmetic: how often a process polls, and when its next read may go out."""

from __future__ import annotations

import pytest
from fakes.clock import PassingClock

from shared.github.limits import Pacing
from shared.github.points import CALM_SECONDS, LOOK_SECONDS, MINUTE, POINTS_PER_MINUTE, Points
from shared.github.waits import reporting_waits
from shared.telemetry.health_state import STUCK_SECONDS, HealthState


def points(clock: PassingClock, *, polled: int = 1, others: tuple[int, ...] = (), share: float = 1.0) -> Points:
    made = Points(clock, share=share)
    made.limited = True
    made.join("worker-a", 2 * polled)  # every 30 s
    made.neighbours = lambda: [2 * one for one in others]
    return made


@pytest.mark.parametrize(
    ("polled", "others", "share", "seconds"),
    [
        (1, (), 1.0, 30),
        (225, (), 1.0, 30),  # 450 polls a minute: half of the points
        (300, (), 1.0, 40),
        (1000, (), 1.0, pytest.approx(133.3, abs=0.1)),
        (200, (200, 200), 1.0, 80),  # the planner's and the reviewer's polls count as much
        (200, (), 0.5, pytest.approx(53.3, abs=0.1)),
    ],
)
def test_polls_take_half_of_the_points_however_many_repositories_there_are(
    polled: int, others: tuple[int, ...], share: float, seconds: float
) -> None:
    assert points(PassingClock(50.0), polled=polled, others=others, share=share).interval(30) == seconds


def test_a_share_of_its_own_is_not_divided_with_the_neighbours() -> None:
    made = points(PassingClock(50.0), polled=300, others=(300, 300, 300), share=0.5)
    made.divides_share = False
    assert made.interval(30) == 80
    assert made.shared_seconds() == 10, "their lists are read all the same"


def test_agents_of_one_process_are_counted_together_and_once() -> None:
    made = points(PassingClock(50.0), polled=200)
    made.join("reviewer-a", 400)
    made.join("reviewer-a", 800)  # after a reload
    assert made.polls == 1200
    assert made.interval(30) == 80
    for _ in range(2):  # once for each owner that an App acts for
        made.leave("reviewer-a")
    assert made.polls == 400


def test_many_repositories_that_are_polled_rarely_slow_down_none_that_is_polled_often() -> None:
    made = Points(PassingClock(50.0))
    made.limited = True
    made.join("worker-a", 1000 * MINUTE / 600 + 10 * MINUTE / 10)
    assert [made.interval(seconds) for seconds in (10, 600)] == [10, 600]
    made.neighbours = lambda: (740.0,)
    assert [made.interval(seconds) for seconds in (10, 600)] == [20, 1200]


@pytest.mark.parametrize(
    ("others", "interval", "shares", "seconds"),
    [
        ((1, 1), 30, True, 0),
        ((1, 1, 1), 30, True, 10),
        ((1, 1, 1), 6, True, 2),
        ((1, 1, 1), 600, True, 10),
        ((1,) * 9, 30, False, 0),
    ],
)
def test_many_agents_read_each_others_lists(
    others: tuple[int, ...], interval: float, shares: bool, seconds: float
) -> None:
    made = points(PassingClock(50.0), others=others)
    made.reads_neighbours = shares
    assert made.shared_seconds() == 0, "it has not polled yet"
    made.interval(interval)
    assert made.shared_seconds() == seconds


async def seconds_of(made: Points, clock: PassingClock, reads: int, *, urgent: bool = False) -> list[float]:
    """Return when so many reads in a row go out."""
    sent = []
    for _ in range(reads):
        await made.read(urgent=urgent)
        sent.append(clock.seconds)
    return sent


@pytest.mark.parametrize(
    ("urgent", "others", "share", "allowed"),
    [(False, (), 1.0, 810), (True, (), 1.0, 900), (False, (1, 1), 0.5, 135), (True, (998, 999), 1.0, 150)],
)
async def test_no_minute_holds_more_reads_than_its_part(
    urgent: bool, others: tuple[int, ...], share: float, allowed: int
) -> None:
    clock = PassingClock(50.0)
    sent = await seconds_of(points(clock, others=others, share=share), clock, 2000, urgent=urgent)
    assert min(later - sooner for sooner, later in zip(sent, sent[allowed:], strict=False)) >= MINUTE
    assert sent[allowed - 1] == sent[0], "what is allowed goes out at once"


async def test_a_write_is_five_reads() -> None:
    clock = PassingClock(50.0)
    made = points(clock)
    for _ in range(80):
        made.wrote()
    sent = await seconds_of(made, clock, 411)
    assert sent[409] == 50.0
    assert sent[410] >= 50.0 + MINUTE


@pytest.mark.parametrize("others", [(1,) * 19, (1,) * 10_000])
async def test_writes_in_work_keep_no_read_waiting_for_ever(others: tuple[int, ...]) -> None:
    class Busy(PassingClock):
        async def sleep(self, seconds: float) -> None:
            await super().sleep(seconds)
            made.wrote()  # more than the points, if there is one every five seconds
            assert self.seconds < 1000.0, "it waits for ever"

    made = points(clock := Busy(50.0), others=others)
    for _ in range(12):
        made.wrote()
    sent = await seconds_of(made, clock, 3)
    assert sent[-1] <= 50.0 + 2 * MINUTE


async def test_a_pace_counts_its_own_writes() -> None:
    clock = PassingClock(50.0)
    pacing = Pacing(clock)
    pacing.points.limited = True
    await pacing.wait()
    sent = await seconds_of(pacing.points, clock, 806)
    assert sent[804] == 50.0
    assert sent[805] >= 50.0 + MINUTE


async def test_a_tick_whose_reads_wait_lives_and_one_that_hangs_does_not() -> None:
    clock = PassingClock(50.0)
    made, health = points(clock, others=(1,) * 10_000), HealthState(clock)
    for name in ("a/waits", "a/hangs"):
        health.join(name, lambda: 30.0)
    with reporting_waits(lambda: health.ticked("a/waits")):
        await seconds_of(made, clock, 18)
    assert clock.seconds - 50.0 > STUCK_SECONDS + 90
    assert health.pulses["a/waits"].ticked >= clock.seconds - LOOK_SECONDS
    assert health.stuck().startswith("The loop of a/hangs has not ticked")


async def test_one_read_goes_out_however_small_the_part_is() -> None:
    clock = PassingClock(50.0)
    assert await seconds_of(points(clock, others=(1,) * 10_000), clock, 2) == [50.0, 110.0]


def test_refusals_halve_the_pace_once_a_minute_and_calm_gives_it_back() -> None:
    clock = PassingClock(50.0)
    made = points(clock, polled=225)
    found = []
    for wait in (0.0, 1.0, 60.0, 60.0, 60.0, CALM_SECONDS, CALM_SECONDS, CALM_SECONDS):
        clock.seconds += wait
        if wait < CALM_SECONDS:
            made.refused()
        found.append(made.interval(30))
    assert found == [60, 60, 120, 240, 240, 120, 60, 30]


def test_a_refusal_slows_nobody_whose_polls_take_a_small_part_of_the_points() -> None:
    clock = PassingClock(50.0)
    made = points(clock, polled=20)
    for _ in range(4):
        made.refused()
        clock.seconds += MINUTE
    assert made.interval(30) == 30
    assert made.interval(300) == 300, "not every forty minutes"


async def test_a_refusal_halves_the_reads_too() -> None:
    clock = PassingClock(50.0)
    made = points(clock)
    made.refused()
    sent = await seconds_of(made, clock, 406)
    assert (sent[404], sent[405]) == (50.0, 110.0)


async def test_a_server_without_limits_is_polled_and_read_as_often_as_configured() -> None:
    for made in (Points(clock := PassingClock(50.0), off=True), Points(clock)):
        made.join("worker-a", 10_000)
        made.limited = False
        made.refused()
        assert made.interval(30) == 30
        assert (await seconds_of(made, clock, POINTS_PER_MINUTE + 1))[-1] == 50.0
