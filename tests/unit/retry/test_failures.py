"""Consequences of a failed run: every rule, in its order, as a wait until a time or a person."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from shared.errors import Blocked, RunFailed
from shared.llm.port import Ending, RunOutcome
from shared.retry.failures import (
    FINAL,
    Category,
    GiveUp,
    History,
    Pause,
    after,
    classify,
)
from shared.retry.run_errors import RunEnded, used_up
from shared.workflow.labels import Flag

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(hours=3)


def pauses(category: Category, *, most: int = 40) -> list[float]:
    """Return the pauses in seconds after failures of one category in a row until a person is asked, at most `most`."""
    history = History()
    found: list[float] = []
    while len(found) < most:
        step = after(category, history, now=NOW)
        if isinstance(step, GiveUp):
            break
        found.append((step.until - NOW).total_seconds())
        history = History.read(str(step.history))  # as the next agent reads it from the fence
    return found


@pytest.mark.fault(26)
def test_a_rate_limit_backs_off_for_ever() -> None:
    found = pauses(Category.RATE)
    assert found[:11] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900]
    assert set(found[10:]) == {900}
    assert len(found) == 40


@pytest.mark.parametrize(
    ("category", "expected"),
    [
        (Category.TIMEOUT, [0, 0, 0, 0, 60, 180, 420, 900]),
        (Category.PASSING, [0, 60, 180, 420, 900]),
        (Category.MALFORMED, [0, 60, 180, 420, 900]),
        (Category.UNKNOWN, [0]),
        *((category, []) for category in sorted(FINAL)),
    ],
)
def test_other_failures_are_repeated_so_often_and_then_a_person_is_asked(
    category: Category, expected: list[float]
) -> None:
    assert pauses(category) == expected


@pytest.mark.fault(26)
def test_a_limit_with_a_reset_parks_until_then_and_counts_as_nothing() -> None:
    history = History(((Category.PASSING, 4),))
    assert after(Category.LIMIT, history, now=NOW, reset=LATER) == Pause("usage-limit", LATER, history)


def test_no_wait_of_anybody_else_is_longer_than_a_week() -> None:
    step = after(Category.LIMIT, History(), now=NOW, reset=datetime(9999, 1, 1, tzinfo=UTC))
    assert step == Pause("usage-limit", NOW + timedelta(days=7), History())


def test_a_reset_that_has_passed_is_a_rate_limit_like_any_other() -> None:
    step = after(Category.LIMIT, History(), now=NOW, reset=NOW)
    assert step == Pause("backoff", NOW + timedelta(seconds=1), History(((Category.RATE, 1),)))


def test_passing_failures_are_not_forgotten_over_rate_limits() -> None:
    history = History(((Category.RATE, 30), (Category.PASSING, 5)))
    assert after(Category.PASSING, history, now=NOW) == GiveUp(36)
    assert isinstance(after(Category.RATE, history, now=NOW), Pause)


@pytest.mark.parametrize(("seconds", "keeps"), [(900, True), (901, False)])
def test_only_a_short_wait_keeps_its_lease(seconds: int, keeps: bool) -> None:
    assert Pause("backoff", NOW + timedelta(seconds=seconds), History()).keeps_lease(NOW) is keeps


@pytest.mark.parametrize(
    ("ending", "text", "category"),
    [
        (Ending.MAX_TURNS, "", Category.TURNS),
        (Ending.MAX_BUDGET, "", Category.RUN_BUDGET),
        (Ending.OVERLOADED, "529", Category.RATE),
        (Ending.USAGE_LIMIT, "no time is named", Category.RATE),
        (Ending.TIMED_OUT, "", Category.TIMEOUT),
        (Ending.TRANSIENT, "cut", Category.PASSING),
        (Ending.KILLED, "", Category.PASSING),
        (Ending.PERSISTENT, "400", Category.LASTING),
        (Ending.AUTH, "401", Category.LASTING),
        (Ending.BILLING, "", Category.LASTING),
        (Ending.CONFIG, "", Category.LASTING),
        (Ending.REFUSED, "", Category.LASTING),
        (Ending.MALFORMED, "{", Category.MALFORMED),
        (Ending.EMPTY, "", Category.UNKNOWN),
        (Ending.UNKNOWN, "strange", Category.UNKNOWN),
        *(
            (Ending.UNKNOWN, text, Category.PASSING)
            for text in ("HTTP 502", "got 503", "504", "ECONNREFUSED 127.0.0.1", "ETIMEDOUT", "Network is down")
        ),
        (Ending.UNKNOWN, "JavaScript heap out of memory", Category.PASSING),
        (Ending.UNKNOWN, "spawn ENOMEM", Category.PASSING),
        *(
            (Ending.UNKNOWN, text, Category.LASTING)
            for text in (
                "SyntaxError: x",
                "TypeError",
                "ReferenceError",
                "Cannot find module 'x'",
                "ENOENT",
                "Parse error",
            )
        ),
        (Ending.UNKNOWN, "SyntaxError after ETIMEDOUT", Category.PASSING),
    ],
)
def test_what_a_run_says_decides_its_category(ending: Ending, text: str, category: Category) -> None:
    assert classify(RunOutcome(ending, text)) is category


def test_a_named_reset_makes_a_limit_of_both_kinds() -> None:
    found = {classify(RunOutcome(e, retry_at=LATER)) for e in (Ending.USAGE_LIMIT, Ending.OVERLOADED)}
    assert found == {Category.LIMIT}


def test_every_ending_has_a_category() -> None:
    assert all(classify(RunOutcome(ending)) for ending in set(Ending) - {Ending.COMPLETED})


def test_a_history_of_a_newer_version_is_read_as_far_as_it_is_known() -> None:
    assert History.read("transient=2 moonphase=9 unknown=x API_RATE_LIMIT=1") == History(
        ((Category.PASSING, 2), (Category.RATE, 1))
    )


def test_a_person_is_told_category_and_what_was_tried() -> None:
    error = RunFailed("The run 'plan' ended as transient: 502", category=Category.PASSING)
    error.kept = "a patch"
    told = used_up(error, 6)
    assert isinstance(told, RunEnded)
    assert (told.category, told.flags, told.kept) == ("transient", (Flag.MANUAL_INTERVENTION,), "a patch")
    assert "6 times" in str(told)
    assert told.advice


def test_the_asker_may_have_its_own_words_for_the_end() -> None:
    final = Blocked("The plan cannot be used.")
    assert used_up(RunFailed("x", category=Category.MALFORMED, final=final), 6) is final
