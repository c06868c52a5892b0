"""The decision after a failed run (pure): from its outcome and the failures before it to a wait, or to a person.

The first rule that fits decides: a limit of the run itself (turns, budget) goes to a person at once; a limit with a
reset time parks the item until then; a rate limit backs off without a limit of retries; a timeout is retried at once,
a few times; a failure that can pass follows a schedule; a failure that cannot pass goes to a person at once; a
malformed answer, which its caller has already asked to correct once, follows the schedule; an unknown failure is
retried once. No retry counts as an attempt, and nothing here sleeps: a wait is a time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from shared.llm.port import Ending, RunOutcome
from shared.retry_times import bounded


class Category(StrEnum):
    """The kind of failure that ended a run; the values appear in comments and in the fence."""

    TURNS = "turns-used-up"
    RUN_BUDGET = "budget-used-up"
    """The budget of the run was used up, or that of its issue leaves too little for one."""
    LIMIT = "usage-limit"
    PERIOD_BUDGET = "budget"
    """The engine's own budget for a day or a week was used up: the run was not started."""
    RATE = "API_RATE_LIMIT"
    TIMEOUT = "NETWORK_TIMEOUT"
    PASSING = "transient"
    LASTING = "persistent"
    MALFORMED = "malformed-answer"
    UNKNOWN = "unknown"


FINAL = frozenset({Category.TURNS, Category.RUN_BUDGET, Category.LASTING})
"""Categories that are never retried: the same run would fail in the same way."""

SCHEDULE_SECONDS = (0, 60, 180, 420, 900)
"""Seconds to wait before each retry after failures that can pass; after the last one a person is asked."""

TIMEOUT_REPEATS = 3
"""Immediate retries after a timeout."""

UNKNOWN_REPEATS = 1
"""Retries after a failure of unknown kind."""

RATE_CAP_SECONDS = 900
"""The longest pause, in seconds, after a rate limit without a reset time."""

KEPT_SECONDS = 900
"""Seconds up to which a pause keeps the lease; a longer one releases it."""

_PASSING = re.compile(
    r"\b(?:50[234]|529|429|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOMEM|network|out of memory)\b", re.IGNORECASE
)
_LASTING = re.compile(
    r"\b(?:SyntaxError|TypeError|ReferenceError|Cannot find module|ENOENT|parse error)\b", re.IGNORECASE
)

_BY_ENDING: Mapping[Ending, Category] = {
    Ending.MAX_TURNS: Category.TURNS,
    Ending.MAX_BUDGET: Category.RUN_BUDGET,
    Ending.USAGE_LIMIT: Category.RATE,
    Ending.OVERLOADED: Category.RATE,
    Ending.TIMED_OUT: Category.TIMEOUT,
    Ending.TRANSIENT: Category.PASSING,
    Ending.KILLED: Category.PASSING,  # by whoever else: mostly the kernel, short of memory
    Ending.PERSISTENT: Category.LASTING,
    Ending.AUTH: Category.LASTING,
    Ending.BILLING: Category.LASTING,
    Ending.CONFIG: Category.LASTING,
    Ending.REFUSED: Category.LASTING,
    Ending.MALFORMED: Category.MALFORMED,
}


def classify(outcome: RunOutcome) -> Category:
    """Return the category of a run that did not complete: by its ending, or by its text if the ending is not listed."""
    limits = {Ending.USAGE_LIMIT, Ending.OVERLOADED}
    if outcome.ending in limits and outcome.retry_at is not None:
        return Category.LIMIT
    known = _BY_ENDING.get(outcome.ending)
    if known is not None:
        return known
    if _PASSING.search(outcome.text):
        return Category.PASSING
    return Category.LASTING if _LASTING.search(outcome.text) else Category.UNKNOWN


@dataclass(frozen=True, slots=True)
class History:
    """Failures by category since something was last achieved; kept in the fence as text."""

    counts: tuple[tuple[Category, int], ...] = ()

    @classmethod
    def read(cls, text: str) -> History:
        """Parse the text that `str` returned; unknown categories are skipped."""
        pairs = (part.partition("=") for part in text.split())
        known = [(name, count) for name, _, count in pairs if name in set(Category) and count.isdecimal()]
        return cls(tuple((Category(name), int(count)) for name, count in known))

    def of(self, category: Category) -> int:
        """Return the number of failures of this category."""
        return dict(self.counts).get(category, 0)

    def plus(self, category: Category) -> History:
        """Return a copy with one more failure of this category."""
        return History(tuple(sorted({**dict(self.counts), category: self.of(category) + 1}.items())))

    def __str__(self) -> str:
        return " ".join(f"{category}={count}" for category, count in self.counts)


@dataclass(frozen=True, slots=True)
class Pause:
    """The decision to retry at `until` (server time); `history` includes this failure unless a reset time was given."""

    reason: str
    until: datetime
    history: History

    def keeps_lease(self, now: datetime) -> bool:
        """Return whether the pause is short enough to keep the lease meanwhile."""
        return self.until - now <= timedelta(seconds=KEPT_SECONDS)


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The decision to ask a person, after `attempts` failed runs."""

    attempts: int


def after(category: Category, history: History, *, now: datetime, reset: datetime | None = None) -> Pause | GiveUp:
    """Decide what follows one more failure of `category` after `history`; `reset` is the time that the vendor named."""
    if category in FINAL:
        return GiveUp(1)
    if category in {Category.LIMIT, Category.PERIOD_BUDGET}:
        if reset is not None and reset > now:
            return Pause(category, bounded(reset, now), history)
        category = Category.RATE  # a reset that has passed already says nothing
    known = history.plus(category)
    seconds = _seconds(category, history)
    if seconds is None:
        return GiveUp(sum(count for _, count in known.counts))
    return Pause("backoff", now + timedelta(seconds=seconds), known)


def _seconds(category: Category, history: History) -> float | None:
    """Return the seconds to pause; None if no retry is left."""
    match category:
        case Category.RATE:
            return float(min(2 ** min(history.of(Category.RATE), 30), RATE_CAP_SECONDS))
        case Category.UNKNOWN:
            return 0.0 if history.of(Category.UNKNOWN) < UNKNOWN_REPEATS else None
        case Category.TIMEOUT if history.of(Category.TIMEOUT) < TIMEOUT_REPEATS:
            return 0.0
        case _:
            step = _steps_used(history)
            return float(SCHEDULE_SECONDS[step]) if step < len(SCHEDULE_SECONDS) else None


def _steps_used(history: History) -> int:
    """Return the schedule steps used: passing failures, malformed answers, and timeouts beyond their own retries."""
    timeouts = max(0, history.of(Category.TIMEOUT) - TIMEOUT_REPEATS)
    return history.of(Category.PASSING) + history.of(Category.MALFORMED) + timeouts
