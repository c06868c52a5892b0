"""The decision whether a run may be paid for, from the ledger's figures, and the budget table for people (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

DAY, WEEK = timedelta(hours=24), timedelta(days=7)


class Period(StrEnum):
    """The period that a limit covers."""

    ISSUE = "issue"
    DAY = "24 hours"
    WEEK = "7 days"


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """Limits in US dollars; `warn` is the fraction of a limit at which a warning is given."""

    issue: float = 25.0
    day: float = 100.0
    week: float = 500.0
    warn: float = 0.8
    unknown_run: float = 15.0


@dataclass(frozen=True, slots=True)
class Run:
    """One paid run: `usd` is the cost that it counts, settled or not; `open` is True while it may still be running."""

    id: str
    item: str
    at: datetime
    usd: float
    open: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True)
class Books:
    """Every run of the last 7 days, and each item's cost from before them."""

    runs: Sequence[Run] = ()
    before: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LimitState:
    """The state of one limit; `resets_at` is the time at which its oldest run leaves the period, None for issues."""

    period: Period
    used: float
    limit: float
    runs: int
    resets_at: datetime | None = None

    @property
    def remaining(self) -> float:
        """US dollars that may still be spent."""
        return max(self.limit - self.used, 0.0)

    @property
    def share(self) -> float:
        """The used fraction of the limit."""
        return self.used / self.limit


@dataclass(frozen=True, slots=True)
class Shortage:
    """Reason why paid work cannot begin, and the time from which it can; `until` None: when a person makes room."""

    sentence: str
    until: datetime | None


def limit_states(books: Books, item: str, limits: BudgetLimits, now: datetime) -> tuple[LimitState, ...]:
    """Return the state of the three limits for `item` at server time `now`."""
    of_item = [run for run in books.runs if run.item == item]
    spent = books.before.get(item, 0.0) + sum(run.usd for run in of_item)
    found = [LimitState(Period.ISSUE, spent, limits.issue, len(of_item))]
    for period, span, limit in ((Period.DAY, DAY, limits.day), (Period.WEEK, WEEK, limits.week)):
        recent = [run for run in books.runs if now - run.at < span]
        first = min((run.at for run in recent), default=None)
        resets_at = None if first is None else first + span
        found.append(LimitState(period, sum(run.usd for run in recent), limit, len(recent), resets_at))
    return tuple(found)


def refusal(books: Books, item: str, usd: float, limits: BudgetLimits, now: datetime) -> Shortage | None:
    """Return the reason why `usd` US dollars more may not be reserved for `item`; None if they may."""
    for state in limit_states(books, item, limits, now):
        if state.used + usd <= state.limit + _CENT:
            continue
        until = None if state.period is Period.ISSUE else _time_of_room(books, state, usd, now)
        return Shortage(_sentence(state, item, usd, until), until)
    return None


def warnings(books: Books, item: str, limits: BudgetLimits, now: datetime, added: float) -> tuple[LimitState, ...]:
    """Return the limits whose warning fraction was crossed by the last `added` US dollars."""
    found = limit_states(books, item, limits, now)
    return tuple(state for state in found if state.share >= limits.warn > (state.used - added) / state.limit)


def table(found: Iterable[LimitState], limits: BudgetLimits, now: datetime) -> str:
    """Return the budget table as Markdown, with a sentence above it once a limit is nearly or fully used up."""
    found = tuple(found)
    return "\n".join((*_headline(found, limits), *_rows(found, now)))


_CENT = 1e-6
"""Tolerance for sums of floats, in US dollars: a limit may be used up exactly."""


def _time_of_room(books: Books, state: LimitState, usd: float, now: datetime) -> datetime | None:
    """Return the time at which enough runs have left the period; None if the limit itself is below `usd`."""
    span = DAY if state.period is Period.DAY else WEEK
    used = state.used
    for run in sorted((run for run in books.runs if now - run.at < span), key=lambda run: run.at):
        used -= run.usd
        if used + usd <= state.limit + _CENT:
            return run.at + span
    return None


def _sentence(state: LimitState, item: str, usd: float, until: datetime | None) -> str:
    period = f"issue {item}" if state.period is Period.ISSUE else f"the last {state.period}"
    said = f"The budget of {period} leaves ${state.remaining:.2f} of ${state.limit:.2f}, and a run may cost ${usd:.2f}"
    if until is not None:
        return f"{said}: waiting until {until:%Y-%m-%d %H:%M} UTC."
    return f"{said}."


def _headline(found: Sequence[LimitState], limits: BudgetLimits) -> Iterator[str]:
    out = [state.period for state in found if state.used >= state.limit - _CENT]
    near = [state.period for state in found if state.share >= limits.warn and state.period not in out]
    if out:
        yield f"**Budget used up**: {', '.join(out)}."
    if near:
        yield f"**Budget nearly used up** ({limits.warn:.0%} or more): {', '.join(near)}."
    yield "**Budget**" if not (out or near) else ""


def _rows(found: Sequence[LimitState], now: datetime) -> Iterator[str]:
    yield ""
    yield "| Period | Usage | Limit | Remaining | Used | Runs | Reset in |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for state in found:
        amounts = f"${state.used:.2f} | ${state.limit:.2f} | ${state.remaining:.2f} | {state.share:.0%}"
        yield f"| {state.period} | {amounts} | {state.runs} | {_time_left(state.resets_at, now)} |"


def _time_left(at: datetime | None, now: datetime) -> str:
    if at is None:
        return "-"
    minutes = max(int((at - now).total_seconds()) // 60, 0)
    days, hours = minutes // 1440, minutes // 60 % 24
    return f"{days} d {hours} h" if days else f"{hours} h {minutes % 60} min"
