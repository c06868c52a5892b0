"""The meter of one run: the usage of its requests, the check of its budget, and the end of a limit that it met."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from shared.llm.endpoint import BROKEN, ESTIMATED, METERED, MeasuredRun
from shared.llm.prices import Prices, Tokens, usage_of
from shared.llm.proxy.metering import RequestBound, UsageMeter

MOST_FAILURES = 4
"""Failed answers in a row after which a program that repeats for minutes gets the last one as final."""


@dataclass(slots=True)
class RunMeter:
    """The meter of a run while it lasts; `budget_usd` limits it."""

    prices: Prices
    budget_usd: float
    requests: int = 0
    refused: bool = False
    retry_at: datetime | None = None
    barred: str = ""
    gave_up: int | None = None
    failures: int = 0
    unfinished: bool = False
    answers: set[int] = field(default_factory=set)
    _meters: list[UsageMeter] = field(default_factory=list)
    _done: list[UsageMeter] = field(default_factory=list)
    _broken_off: list[UsageMeter] = field(default_factory=list)

    def opened(self, request_bound: RequestBound) -> UsageMeter:
        """Open a meter for a request that is about to be sent."""
        meter = UsageMeter(request_bound)
        self._meters.append(meter)
        self.requests += 1
        return meter

    def closed(self, meter: UsageMeter, *, charged: bool, cut_here: bool = False) -> None:
        """Close a request's meter; a refused one is not `charged`. `cut_here`: the proxy itself cut the answer."""
        self._meters.remove(meter)
        if charged:
            meter.end()
            if meter.failed:
                self.answers.add(BROKEN)
            self._done.append(meter)
            self._broken_off += [] if meter.whole or cut_here else [meter]

    def failed(self, status: int, *, at_once: bool = False) -> bool:
        """Count a failed answer that a program repeats; return whether it is the last, by their number or `at_once`."""
        self.failures += 1
        if at_once or self.failures >= MOST_FAILURES:
            self.gave_up = status
        return self.gave_up is not None

    def ended(self, *, finished: bool) -> None:
        """Note the end of an answer: one that broke off is a failure like any other."""
        self.unfinished = not finished
        if finished:
            self.failures = 0
        else:
            self.failed(BROKEN)

    @property
    def used_up(self) -> bool:
        """True if no further request may be sent, by the cost of finished requests and the seen cost of open ones."""
        seen = sum(self._bound(meter.total) for meter in self._meters)
        return sum(map(self._most, self._done)) + seen >= self.budget_usd

    @property
    def has_room(self) -> bool:
        """True if a further request may be sent now: each open one may still cost the most that it can."""
        return sum(map(self._most, (*self._done, *self._meters))) < self.budget_usd

    @property
    def measurement(self) -> MeasuredRun:
        """The measurement up to now."""
        meters = (*self._done, *self._meters)
        tokens = [meter.total for meter in meters]
        unpriced = any(self.prices.cost(one) is None for one in tokens)
        source = ESTIMATED if any(one.estimated for one in tokens) else METERED
        usage = usage_of(
            tokens,
            max(tokens, key=self._bound).model if tokens else "",
            None if unpriced else sum(map(self._most, meters)),
            "unknown" if unpriced else source,
        )
        others = sum(map(self._most, self._done)) - sum(map(self._most, self._broken_off))
        return MeasuredRun(
            usage,
            self.requests,
            self.refused,
            self.retry_at,
            answers=frozenset(self.answers),
            barred=self.barred,
            cut_off=self.refused and bool(self._broken_off) and others < self.budget_usd,
            gave_up=self.gave_up,
            unfinished=self.unfinished,
        )

    def _most(self, meter: UsageMeter) -> float:
        """Return the cost of a request, or the most that it can have cost while it is unknown."""
        return max(map(self._bound, meter.most))

    def _bound(self, tokens: Tokens) -> float:
        cost = self.prices.cost(tokens)
        return self.prices.most(tokens) if cost is None else cost
