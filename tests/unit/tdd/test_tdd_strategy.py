"""Each kind of failure has its retries and its end, and each red result somebody who mends it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared.llm.port import CoderCall
from shared.retry.failures import Category, GiveUp, History, Pause, after
from worker_agent.tdd.judging.verdict import ErrorType
from worker_agent.tdd.phases.strategy import (
    QUALITY_TRIES,
    REFACTORING,
    STRATEGIES,
    During,
    End,
    Reaction,
    Red,
    Strategy,
    answer,
)

NOW = datetime(2026, 1, 2, tzinfo=UTC)
MANY = 40


@pytest.mark.parametrize(
    ("error", "retries", "end"),
    [
        (ErrorType.NO_TEST_WRITTEN, 5, End.FAILED),
        (ErrorType.COMPILATION_ERROR, 5, End.FAILED),
        (ErrorType.TEST_UNEXPECTED_PASS, 0, End.NEXT_CRITERION),
        (ErrorType.TEST_UNEXPECTED_FAIL, 5, End.FAILED),
        (ErrorType.IMPLEMENTATION_FAILED, None, End.FAILED),
        (ErrorType.REGRESSION, 5, End.FAILED),
        (ErrorType.DUPLICATE_TEST, 0, End.NEXT_CRITERION),
        (ErrorType.API_RATE_LIMIT, None, End.WAITS),
        (ErrorType.NETWORK_TIMEOUT, 3, End.FAILED),
        (ErrorType.WORKFLOW_ABORTED, 0, End.FAILED),
    ],
)
def test_each_error_has_its_retries_and_its_end(error: ErrorType, retries: int | None, end: End) -> None:
    assert STRATEGIES[error] == Strategy(retries, end)


def test_no_error_is_without_a_strategy_and_a_refactoring_never_fails_an_item() -> None:
    assert set(STRATEGIES) == set(ErrorType)
    assert Strategy(5, End.ROLLED_BACK) == REFACTORING


def test_governance_repeats_a_rate_limit_for_ever_and_a_timeout_as_often_as_the_table_says() -> None:
    def pauses(category: Category) -> list[float]:
        history, found = History(), list[float]()
        for _ in range(MANY):
            step = after(category, history, now=NOW)
            if isinstance(step, GiveUp):
                return found
            assert isinstance(step, Pause)
            history = step.history
            found.append((step.until - NOW).total_seconds())
        return found

    assert len(pauses(Category(ErrorType.API_RATE_LIMIT))) == MANY
    at_once = [seconds for seconds in pauses(Category(ErrorType.NETWORK_TIMEOUT)) if seconds == 0]
    assert len(at_once) == (STRATEGIES[ErrorType.NETWORK_TIMEOUT].retries or 0) + 1, "the schedule begins with none"


@pytest.mark.parametrize(
    ("red", "during", "wanted"),
    [
        ({Red.TESTS}, During.CYCLE, Reaction(CoderCall.IMPLEMENT, spends_attempt=True)),
        ({Red.TESTS}, During.CI, Reaction(CoderCall.FIX_CI)),
        ({Red.TESTS}, During.REVIEW, Reaction(CoderCall.IMPLEMENT)),
        ({Red.TESTS, Red.QUALITY}, During.CI, Reaction(CoderCall.FIX_CI)),
        ({Red.QUALITY}, During.CYCLE, Reaction(CoderCall.REFACTOR, QUALITY_TRIES)),
        ({Red.QUALITY}, During.CI, Reaction(CoderCall.REFACTOR, QUALITY_TRIES)),
        ({Red.CONFLICT, Red.TESTS}, During.CI, Reaction(CoderCall.RESOLVE_CONFLICT, 1)),
    ],
)
def test_who_mends_what_is_red(red: set[Red], during: During, wanted: Reaction) -> None:
    assert answer(frozenset(red), during) == wanted


@pytest.mark.parametrize("during", During)
def test_only_an_implementation_of_the_cycle_spends_an_attempt(during: During) -> None:
    spends = {red for red in Red if answer(frozenset({red}), during).spends_attempt}
    assert spends == ({Red.TESTS} if during is During.CYCLE else set())


def test_nobody_mends_what_is_green() -> None:
    with pytest.raises(ValueError, match="nothing is red"):
        answer(frozenset(), During.CYCLE)
