"""The server and token that a backend's CLI uses during one call, and what the model proxy there measured of it.

With a proxy the token is never the real key, and the outcome is corrected by the measurement: its cost, an exceeded
budget, the end of a limit.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

import structlog

from shared.llm.port import Ending, Request, RunOutcome, Usage

log = structlog.get_logger()

BROKEN = 0
"""Status recorded for an answer that ended with an error inside it."""

METERED, ESTIMATED = "proxy", "proxy estimate"
"""Sources of a run's cost: the vendor's own counts, or the proxy's estimate from what it saw."""

UNSEEN = Usage(cost_usd=0.0, cost_source=METERED)
"""Usage of a run that ended before the proxy was opened for it."""

LATER = frozenset({Ending.OVERLOADED, Ending.USAGE_LIMIT, Ending.TRANSIENT, Ending.TIMED_OUT})
"""Endings that may have been caused by the limit whose reset the proxy has seen."""


_OF_THE_VENDOR: Mapping[Ending, frozenset[int]] = {
    Ending.AUTH: frozenset({400, 401, 403}),
    Ending.BILLING: frozenset({400, 402, 403, 429}),
    Ending.USAGE_LIMIT: frozenset({400, 403, 429, 503, 529}),
    Ending.OVERLOADED: frozenset({429, 503, 529}),
}
"""Endings that concern more than one item -> the vendor's statuses of which at least one must have occurred."""

_CUT_OFF = "an answer broke off, and the most that it can have cost uses up the run's budget"


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """The proxy's measurement of a run. `usage.cost_usd` is None if a model of it has no known price.

    `refused`: a request was refused, or an answer cut, because the budget was used up; `cut_off`: only the possible
    cost of answers that broke off has used it up. `retry_at`: end of the limit that the last request
    met. `answers` are the statuses other than 200 that the vendor gave; one of 200 that
    ends with an error counts as `BROKEN`. `barred` is why the last request was refused here. `gave_up` is the status
    that was passed on as final, so that the program ends, although a later run may do better. `unfinished`: the last
    answer broke off, which a program may take for a whole one.
    """

    usage: Usage
    requests: int = 0
    refused: bool = False
    retry_at: datetime | None = None
    answers: frozenset[int] = frozenset()
    barred: str = ""
    cut_off: bool = False
    gave_up: int | None = None
    unfinished: bool = False


def judged(outcome: RunOutcome, measured: MeasuredRun) -> RunOutcome:
    """Return `outcome` corrected by what the proxy has seen of the run.

    The answer that refuses a request over the budget looks to the CLI like one about its key. What a program says of
    the vendor is believed only if the vendor has answered so: a tool of the run may have written it.
    """
    told = outcome.usage.cost_usd
    if told is not None and measured.usage.cost_usd is not None and abs(told - measured.usage.cost_usd) > 0.01:
        log.debug("cost_told_otherwise", told_usd=told, metered_usd=measured.usage.cost_usd)
    outcome = replace(outcome, usage=replace(measured.usage, model=measured.usage.model or outcome.usage.model))
    if outcome.ending is Ending.COMPLETED:
        if not measured.unfinished:
            return outcome
        return replace(outcome, ending=Ending.TRANSIENT, text=f"its last answer broke off: {outcome.text}", answer=None)
    if measured.barred and not measured.requests:
        return replace(outcome, ending=Ending.CONFIG, text=f"the model proxy refused: {measured.barred}", answer=None)
    if measured.gave_up is not None and outcome.ending not in _OF_THE_VENDOR:
        overloaded = measured.gave_up in _OF_THE_VENDOR[Ending.OVERLOADED] - {503}
        outcome = replace(outcome, ending=Ending.OVERLOADED if overloaded else Ending.TRANSIENT, answer=None)
    if outcome.ending in _OF_THE_VENDOR and not measured.answers & {*_OF_THE_VENDOR[outcome.ending], BROKEN}:
        said = f"it ended as after an answer that the vendor never gave ({outcome.ending}): {outcome.text}"
        outcome = replace(outcome, ending=Ending.UNKNOWN, text=said, retry_at=None)
    if measured.cut_off:
        return replace(outcome, ending=Ending.TRANSIENT, text=_CUT_OFF, answer=None)
    if measured.refused:
        return replace(outcome, ending=Ending.MAX_BUDGET, text="the model proxy refused more requests", answer=None)
    if outcome.ending in LATER and outcome.retry_at is None and measured.retry_at is not None:
        return replace(outcome, ending=Ending.USAGE_LIMIT, retry_at=measured.retry_at)
    return outcome


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`base_url` has no final slash and no `/v1`; None means the vendor's own.

    `login` is True if `token` belongs to a subscription and is no API key, and `file` is the path of the
    program's login file, of which each call gets a copy. `socket` is a unix socket that answers as
    `base_url` does, if there is one. `tools` are those of the vendor that are let through and metered.
    `measured` returns the proxy's measurement of the call, during or after it; None without a proxy.
    """

    base_url: str | None
    token: str = field(repr=False)
    login: bool = False
    socket: Path | None = None
    file: Path | None = None
    tools: frozenset[str] = frozenset()
    measured: Callable[[], MeasuredRun] | None = field(default=None, repr=False, compare=False)

    def usage(self) -> Usage:
        """Return the usage of the call so far; without a proxy it is unknown until the program tells it."""
        return Usage() if self.measured is None else self.measured().usage


class Endpoints(Protocol):
    """Gives each call its endpoint for as long as the call lasts."""

    def open(self, request: Request) -> AbstractAsyncContextManager[Endpoint]:
        """Yield the endpoint of one call; leaving the block invalidates it."""
        ...


class Fixed:
    """The same endpoint for every call: a person's own key or login, without a proxy in between."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Endpoint]:
        """Yield the endpoint."""
        yield self._endpoint
