"""What follows from each kind of failure: who is asked, how often again, and how it ends (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from shared.llm.port import CoderCall
from shared.retry.failures import TIMEOUT_REPEATS
from worker_agent.tdd.judging.verdict import ErrorType


class End(StrEnum):
    """What happens when asking again has not helped."""

    FAILED = "failed"
    """A person takes over; everything is kept."""
    NEXT_CRITERION = "next criterion"
    """Its tests are set aside; failed if no other criterion has any."""
    ROLLED_BACK = "rolled back"
    """What was there before stands, and work goes on from it."""
    WAITS = "waits"
    """It is repeated until it passes."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """`retries`: how often the same call is repeated; None where `max_attempts` or nothing limits it."""

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
"""What each error leads to while tests and code are written."""

REFACTORING = Strategy(5, End.ROLLED_BACK)
"""A refactoring that breaks tests or quality commands; it is never a reason to fail."""


class Red(StrEnum):
    """What is red."""

    TESTS = "tests"
    QUALITY = "quality"
    CONFLICT = "conflict"


class During(StrEnum):
    """When it was found."""

    CYCLE = "cycle"
    CI = "ci"
    REVIEW = "review"


@dataclass(frozen=True, slots=True)
class Reaction:
    """Which call is made, how often at most (None: the configuration says), and whether it spends an attempt."""

    call: CoderCall
    tries: int | None = None
    spends_attempt: bool = False


_TESTS: Mapping[During, Reaction] = {
    During.CYCLE: Reaction(CoderCall.IMPLEMENT, spends_attempt=True),
    During.CI: Reaction(CoderCall.FIX_CI),
    During.REVIEW: Reaction(CoderCall.IMPLEMENT),
}
QUALITY_TRIES = 3
"""How often a change whose tests pass is asked to be cleaned up for the quality commands."""


def answer(red: frozenset[Red], during: During) -> Reaction:
    """Who mends what is red: a conflict first, then tests; quality only when nothing else is red.

    Raises ValueError when nothing is red.
    """
    if Red.CONFLICT in red:
        return Reaction(CoderCall.RESOLVE_CONFLICT, 1)
    if Red.TESTS in red:
        return _TESTS[during]
    if Red.QUALITY in red:
        return Reaction(CoderCall.REFACTOR, QUALITY_TRIES)
    raise ValueError("nothing is red")
