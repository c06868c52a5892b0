"""The reaction to each kind of failure: the call, the number of retries, and the end (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from shared.llm.port import CoderCall
from shared.retry.failures import TIMEOUT_REPEATS
from worker_agent.tdd.judging.verdict import ErrorType


class End(StrEnum):
    """The outcome when all retries have failed."""

    FAILED = "failed"
    """A person takes over; everything is kept."""
    NEXT_CRITERION = "next criterion"
    """The criterion's tests are set aside; failed if no other criterion has any."""
    ROLLED_BACK = "rolled back"
    """The commit before stands, and work goes on from it."""
    WAITS = "waits"
    """The call is repeated until it passes."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """`retries`: the number of repetitions of the same call; None if only `max_attempts` or nothing limits it."""

    retries: int | None
    end: End


STRATEGIES: Mapping[ErrorType, Strategy] = {
    ErrorType.NO_TEST_WRITTEN: Strategy(5, End.FAILED),
    ErrorType.COMPILATION_ERROR: Strategy(5, End.FAILED),
    ErrorType.TEST_UNEXPECTED_PASS: Strategy(0, End.NEXT_CRITERION),
    ErrorType.TEST_UNEXPECTED_FAIL: Strategy(5, End.FAILED),
    ErrorType.IMPLEMENTATION_FAILED: Strategy(None, End.FAILED),
    ErrorType.REGRESSION: Strategy(5, End.FAILED),
    ErrorType.DUPLICATE_TEST: Strategy(0, End.NEXT_CRITERION),
    ErrorType.API_RATE_LIMIT: Strategy(None, End.WAITS),
    ErrorType.NETWORK_TIMEOUT: Strategy(TIMEOUT_REPEATS, End.FAILED),
    ErrorType.WORKFLOW_ABORTED: Strategy(0, End.FAILED),
}
"""The strategy for each error while tests and code are written."""

REFACTORING = Strategy(5, End.ROLLED_BACK)
"""A refactoring that breaks tests or quality commands; it is never a reason to fail."""


class Red(StrEnum):
    """The kind of check that is red."""

    TESTS = "tests"
    QUALITY = "quality"
    CONFLICT = "conflict"


class During(StrEnum):
    """The time at which the failure was found."""

    CYCLE = "cycle"
    CI = "ci"
    REVIEW = "review"


@dataclass(frozen=True, slots=True)
class Reaction:
    """The call, its most tries (None: by the configuration), and True if it uses an attempt."""

    call: CoderCall
    tries: int | None = None
    spends_attempt: bool = False


_TESTS: Mapping[During, Reaction] = {
    During.CYCLE: Reaction(CoderCall.IMPLEMENT, spends_attempt=True),
    During.CI: Reaction(CoderCall.FIX_CI),
    During.REVIEW: Reaction(CoderCall.IMPLEMENT),
}
QUALITY_TRIES = 3
"""The most tries at cleaning up a change with passing tests for the quality commands."""


def answer(red: frozenset[Red], during: During) -> Reaction:
    """Return the reaction to red checks: a conflict first, then tests; quality only if nothing else is red.

    Raises ValueError if nothing is red.
    """
    if Red.CONFLICT in red:
        return Reaction(CoderCall.RESOLVE_CONFLICT, 1)
    if Red.TESTS in red:
        return _TESTS[during]
    if Red.QUALITY in red:
        return Reaction(CoderCall.REFACTOR, QUALITY_TRIES)
    raise ValueError("nothing is red")
