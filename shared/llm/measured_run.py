"""The model proxy's measurement of a run, and the outcome corrected by it: cost, exceeded budget, end of a limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from shared.llm.port import Ending, RunOutcome, Usage

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
    unpriced: tuple[str, ...] = ()
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
    if measured.barred and not measured.requests and outcome.ending is not Ending.COMPLETED:
        return replace(outcome, ending=Ending.CONFIG, text=f"the model proxy refused: {measured.barred}", answer=None)
    if measured.unfinished and outcome.ending is Ending.COMPLETED:
        return replace(outcome, ending=Ending.TRANSIENT, text=f"its last answer broke off: {outcome.text}", answer=None)
    if measured.gave_up is not None and outcome.ending not in {Ending.COMPLETED, *_OF_THE_VENDOR}:
        ending = (
            Ending.OVERLOADED if measured.gave_up in _OF_THE_VENDOR[Ending.OVERLOADED] - {503} else Ending.TRANSIENT
        )
        outcome = replace(outcome, ending=ending, answer=None)
    if outcome.ending in _OF_THE_VENDOR and not measured.answers & {*_OF_THE_VENDOR[outcome.ending], BROKEN}:
        said = f"it ended as after an answer that the vendor never gave ({outcome.ending}): {outcome.text}"
        outcome = replace(outcome, ending=Ending.UNKNOWN, text=said, retry_at=None)
    if measured.cut_off and outcome.ending is not Ending.COMPLETED:
        return replace(outcome, ending=Ending.TRANSIENT, text=_CUT_OFF, answer=None)
    if measured.refused and outcome.ending is not Ending.COMPLETED:
        return replace(outcome, ending=Ending.MAX_BUDGET, text="the model proxy refused more requests", answer=None)
    if outcome.ending in LATER and outcome.retry_at is None and measured.retry_at is not None:
        return replace(outcome, ending=Ending.USAGE_LIMIT, retry_at=measured.retry_at)
    return outcome
