"""The account of one run: what its requests took, whether its budget is used up, when a limit ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from shared.llm.port import Usage
from shared.llm.prices import Prices, Tokens
from shared.llm.proxy.metering import Meter

METERED, ESTIMATED = "proxy", "proxy estimate"
"""Who says what a run has cost: the proxy, from the vendor's own counts or from what it saw."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the proxy knows of a run. `usage.cost_usd` is None when a model of it has no known price.

    `refused`: a request was refused, or an answer cut, because the budget was used up. `retry_at`: when the limit that
    the last request met is over.
    """

    usage: Usage
    requests: int = 0
    refused: bool = False
    retry_at: datetime | None = None
    unpriced: tuple[str, ...] = ()


@dataclass(slots=True)
class Account:
    """One run while it lasts; `budget_usd` bounds it."""

    prices: Prices
    budget_usd: float
    requests: int = 0
    refused: bool = False
    retry_at: datetime | None = None
    _meters: list[Meter] = field(default_factory=list)
    _done: list[Tokens] = field(default_factory=list)

    def opened(self, model: str, request_bytes: int) -> Meter:
        """A request that is about to be sent."""
        meter = Meter(model, request_bytes)
        self._meters.append(meter)
        self.requests += 1
        return meter

    def closed(self, meter: Meter, *, charged: bool) -> None:
        """It is over; a refused one is not `charged`."""
        self._meters.remove(meter)
        if charged:
            meter.end()
            self._done.append(meter.total)

    @property
    def under_way(self) -> int:
        """How many requests are open now."""
        return len(self._meters)

    @property
    def used_up(self) -> bool:
        """Whether no further request may be sent. Without a known price, the dearest one counts."""
        return sum(self._bound(tokens) for tokens in self._tokens) >= self.budget_usd

    @property
    def reading(self) -> Reading:
        """What is known now."""
        tokens = self._tokens
        costs = [self.prices.cost(one) for one in tokens]
        unpriced = sorted({one.model for one, cost in zip(tokens, costs, strict=True) if cost is None})
        source = ESTIMATED if any(one.estimated for one in tokens) else METERED
        usage = Usage(
            input_tokens=sum(one.input for one in tokens),
            output_tokens=sum(one.output for one in tokens),
            cached_tokens=sum(one.cached for one in tokens),
            cache_write_tokens=sum(one.written + one.written_hour for one in tokens),
            model=max(tokens, key=self._bound).model if tokens else "",
            cost_usd=None if unpriced else sum(cost or 0.0 for cost in costs),
            cost_source="unknown" if unpriced else source,
        )
        return Reading(usage, self.requests, self.refused, self.retry_at, tuple(unpriced))

    @property
    def _tokens(self) -> list[Tokens]:
        return [*self._done, *(meter.total for meter in self._meters)]

    def _bound(self, tokens: Tokens) -> float:
        cost = self.prices.cost(tokens)
        return self.prices.most(tokens) if cost is None else cost
