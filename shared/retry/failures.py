"""What a failed run leads to (pure): its outcome and the failures before it -> a wait, or a person.

Rules in order, the first that fits: a run's own limits go to a person at once; a limit with a reset
parks the item until then; a rate limit backs off without a limit of tries; a timeout is repeated as
it was; what still fails, and anything that passes, follows a schedule; what cannot pass goes to a
person at once; a malformed answer, repaired once by its asker, follows the schedule; an unknown
failure is repeated once. None of these spends an attempt, and nothing here sleeps: a wait is a time.
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
    """What kind of failure a run ended in; the words stand in comments and in the fence."""

    TURNS = "turns-used-up"
    BUDGET = "budget-used-up"
    LIMIT = "usage-limit"
    CREDIT = "budget"
    """A limit of our own over a day or a week: the run was not begun."""
    RATE = "API_RATE_LIMIT"
    TIMEOUT = "NETWORK_TIMEOUT"
    PASSING = "transient"
    LASTING = "persistent"
    MALFORMED = "malformed-answer"
    UNKNOWN = "unknown"


FINAL = frozenset({Category.TURNS, Category.BUDGET, Category.LASTING})
"""Repeating the same run would not change these."""

SCHEDULE_SECONDS = (0, 60, 180, 420, 900)
"""How long after each passing failure the run is repeated; then a person is asked."""

TIMEOUT_REPEATS = 3
"""How often a run that timed out is repeated as it was."""

UNKNOWN_REPEATS = 1
"""How often a failure is repeated that nobody can name."""

RATE_CAP_SECONDS = 900
"""The longest pause after a rate limit that names no time."""

KEPT_SECONDS = 900
"""A wait up to this keeps its lease; a longer one releases it."""

_PASSING = re.compile(
    r"\b(?:50[234]|529|429|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOMEM|network|out of memory)\b", re.IGNORECASE
)
_LASTING = re.compile(
    r"\b(?:SyntaxError|TypeError|ReferenceError|Cannot find module|ENOENT|parse error)\b", re.IGNORECASE
)

_BY_ENDING: Mapping[Ending, Category] = {
    Ending.MAX_TURNS: Category.TURNS,
    Ending.MAX_BUDGET: Category.BUDGET,
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
    """The category of a run that did not complete; what it says decides where its ending says nothing."""
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
    """How often each category was met since something was last achieved; stands in the fence as text."""

    counts: tuple[tuple[Category, int], ...] = ()

    @classmethod
    def read(cls, text: str) -> History:
        """Back from `str`; words that this version does not know are left out."""
        pairs = (part.partition("=") for part in text.split())
        known = [(name, count) for name, _, count in pairs if name in set(Category) and count.isdecimal()]
        return cls(tuple((Category(name), int(count)) for name, count in known))

    def of(self, category: Category) -> int:
        """How often it was met."""
        return dict(self.counts).get(category, 0)

    def plus(self, category: Category) -> History:
        """One more."""
        return History(tuple(sorted({**dict(self.counts), category: self.of(category) + 1}.items())))

    def __str__(self) -> str:
        return " ".join(f"{category}={count}" for category, count in self.counts)


@dataclass(frozen=True, slots=True)
class Pause:
    """Try the same again at `until`, server time; `history` includes this failure."""

    reason: str
    until: datetime
    history: History

    def keeps_lease(self, now: datetime) -> bool:
        """Whether it is short enough to wait for with the lease."""
        return self.until - now <= timedelta(seconds=KEPT_SECONDS)


@dataclass(frozen=True, slots=True)
class GiveUp:
    """A person has to decide; `tries` runs failed."""

    tries: int


def after(category: Category, history: History, *, now: datetime, reset: datetime | None = None) -> Pause | GiveUp:
    """What follows one more failure of `category`, after those of `history`; `reset` is what the vendor named."""
    if category in FINAL:
        return GiveUp(1)
    if category in {Category.LIMIT, Category.CREDIT}:
        if reset is not None and reset > now:
            return Pause(category, bounded(reset, now), history)
        category = Category.RATE  # a reset that has passed already says nothing
    known = history.plus(category)
    seconds = _seconds(category, history)
    if seconds is None:
        return GiveUp(sum(count for _, count in known.counts))
    return Pause("backoff", now + timedelta(seconds=seconds), known)


def _seconds(category: Category, history: History) -> float | None:
    """How long the pause is; None when tries are used up."""
    match category:
        case Category.RATE:
            return float(min(2 ** min(history.of(Category.RATE), 30), RATE_CAP_SECONDS))
        case Category.UNKNOWN:
            return 0.0 if history.of(Category.UNKNOWN) < UNKNOWN_REPEATS else None
        case Category.TIMEOUT if history.of(Category.TIMEOUT) < TIMEOUT_REPEATS:
            return 0.0
        case _:
            step = _scheduled(history)
            return float(SCHEDULE_SECONDS[step]) if step < len(SCHEDULE_SECONDS) else None


def _scheduled(history: History) -> int:
    """How many steps of the schedule are behind: every failure that follows it counts."""
    timeouts = max(0, history.of(Category.TIMEOUT) - TIMEOUT_REPEATS)
    return history.of(Category.PASSING) + history.of(Category.MALFORMED) + timeouts
