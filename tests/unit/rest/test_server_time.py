"""The server's time, and the one word about a local clock that is far from it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from structlog.testing import capture_logs

from shared.errors import Transient
from shared.github.server_time import APART_SECONDS, WITNESS_SECONDS, ServerTime

NOON = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)


class WrongClock:
    """A local clock that is `ahead` of the server's by so many seconds; boot time is its own."""

    def __init__(self, ahead: float) -> None:
        self.ahead = ahead
        self.seconds = 0.0

    def now(self) -> float:
        return NOON.timestamp() + self.seconds + self.ahead

    def boot(self) -> float:
        return 77.0 + self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds


def answer(clock: WrongClock) -> dict[str, str]:
    return {"date": format_datetime(NOON + timedelta(seconds=clock.seconds), usegmt=True)}


@pytest.mark.fault(39)
@pytest.mark.parametrize("ahead", [0, 3600, -3600, 300, -NOON.timestamp()])
def test_server_time_does_not_depend_on_the_local_clock(ahead: float) -> None:
    clock = WrongClock(ahead)
    time = ServerTime(clock)
    with pytest.raises(Transient):
        time.now()
    with capture_logs():
        time.note(answer(clock))
    clock.seconds += 90
    clock.ahead += 1000
    assert time.now() == NOON + timedelta(seconds=90)


@pytest.mark.fault(39)
def test_a_clock_that_comes_apart_is_mentioned_once_until_it_agrees_again() -> None:
    clock = WrongClock(APART_SECONDS)
    time = ServerTime(clock)
    with capture_logs() as said:
        for ahead in (APART_SECONDS, -APART_SECONDS, 3600, 3600, -40, 1, 0, -31):
            clock.ahead = ahead
            time.note(answer(clock))
    assert [(one["event"], one["log_level"], one["ahead_seconds"]) for one in said] == [
        ("clock_apart", "warning", 3600),
        ("clock_agrees", "info", 1),
        ("clock_apart", "warning", -31),
    ]


def is_sure(time: ServerTime) -> bool:
    return time.sure


def noted(time: ServerTime, clock: WrongClock, *, wrong: float = 0.0) -> None:
    time.note({"date": format_datetime(NOON + timedelta(seconds=clock.seconds + wrong), usegmt=True)})


@pytest.mark.parametrize("wrong", [1600.0, -1600.0, 31.0])
def test_one_wrong_date_changes_nothing_and_takes_certainty_away(wrong: float) -> None:
    clock = WrongClock(0)
    time = ServerTime(clock)
    noted(time, clock)
    assert not is_sure(time), "one answer agrees with nobody"
    noted(time, clock)
    assert is_sure(time)
    clock.seconds += 5
    noted(time, clock, wrong=wrong)
    assert (time.now(), is_sure(time)) == (NOON + timedelta(seconds=5), False)
    noted(time, clock)
    assert not is_sure(time)
    noted(time, clock)
    assert is_sure(time)


def test_a_burst_of_wrong_dates_is_not_believed_and_a_lasting_change_is() -> None:
    """A proxy that dates all its answers is believed when it has agreed with itself for ten minutes."""
    clock = WrongClock(0)
    time = ServerTime(clock)
    for _ in range(2):
        noted(time, clock)
    for _ in range(59):
        clock.seconds += 10
        noted(time, clock, wrong=1600)
    assert time.now() == NOON + timedelta(seconds=590)
    clock.seconds += 20
    noted(time, clock, wrong=1600)
    assert time.now() == NOON + timedelta(seconds=610 + 1600)
    assert not is_sure(time)
    noted(time, clock, wrong=1600)
    assert is_sure(time)


def test_a_first_answer_that_is_wrong_is_found_out_by_the_local_clock() -> None:
    clock = WrongClock(WITNESS_SECONDS)
    time = ServerTime(clock)
    with capture_logs():
        noted(time, clock, wrong=1600)
        noted(time, clock, wrong=1600)
        assert not is_sure(time)
        noted(time, clock)
    assert time.now() == NOON
    assert not is_sure(time)
    noted(time, clock)
    assert is_sure(time)


def test_a_first_answer_that_is_wrong_is_found_out_without_a_clock_that_is_right() -> None:
    clock = WrongClock(7200)
    time = ServerTime(clock)
    with capture_logs():
        noted(time, clock, wrong=1600)
        for _ in range(61):
            clock.seconds += 10
            noted(time, clock)
            assert not is_sure(time), "nothing is claimed by it"
        assert time.now() == NOON + timedelta(seconds=610)
        noted(time, clock)
    assert is_sure(time)


@pytest.mark.parametrize("wrong", [0.0, 1600.0, -1600.0])
def test_a_process_that_starts_while_all_answers_are_dated_alike_is_sure_after_ten_minutes(wrong: float) -> None:
    """The answers may be a proxy's: a clock that is more than two minutes away from them may be right."""
    clock = WrongClock(wrong + WITNESS_SECONDS + 1)
    time = ServerTime(clock)
    with capture_logs():
        for _ in range(60):
            noted(time, clock, wrong=wrong)
            assert not is_sure(time)
            clock.seconds += 10
        noted(time, clock, wrong=wrong)
    assert is_sure(time)
    assert time.now() == NOON + timedelta(seconds=600 + wrong)


def test_a_clock_that_is_right_again_confirms_what_was_known() -> None:
    clock = WrongClock(3600)
    time = ServerTime(clock)
    with capture_logs():
        noted(time, clock)
        noted(time, clock)
        assert not is_sure(time)
        clock.ahead = 0
        noted(time, clock)
    assert is_sure(time)


def test_a_clock_that_goes_wrong_later_takes_nothing_away() -> None:
    """The clock confirms the first answers; later an answer that agrees with the wrong clock is doubted."""
    clock = WrongClock(0)
    time = ServerTime(clock)
    with capture_logs():
        noted(time, clock)
        noted(time, clock)
        clock.ahead = 1600
        noted(time, clock)
        assert is_sure(time)
        noted(time, clock, wrong=1600)
    assert time.now() == NOON
    assert not is_sure(time)


def test_wrong_dates_that_differ_from_each_other_never_add_up() -> None:
    clock = WrongClock(0)
    time = ServerTime(clock)
    noted(time, clock)
    for number in range(200):
        clock.seconds += 10
        noted(time, clock, wrong=1000.0 + 100 * number)
        noted(time, clock)
    assert time.now() == NOON + timedelta(seconds=2000)
