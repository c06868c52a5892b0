"""A coder behind the model proxy: its outcomes say what only the proxy knows - cost, budget used up, end of a limit."""

from __future__ import annotations

from dataclasses import replace

from shared.llm.port import Coder, Ending, Outcome, Request, Usage
from shared.llm.proxy.account import METERED, Reading
from shared.llm.proxy.server import ModelProxy

LATER = frozenset({Ending.OVERLOADED, Ending.USAGE_LIMIT})
"""Endings to which the reset that the proxy has seen belongs."""


UNSEEN = Reading(Usage(cost_usd=0.0, cost_source=METERED))
"""Of a run that ended before the proxy was opened for it: it has cost nothing."""


class Metered:
    """Another coder, whose requests go through `proxy`."""

    def __init__(self, coder: Coder, proxy: ModelProxy) -> None:
        self._coder = coder
        self._proxy = proxy

    @property
    def name(self) -> str:
        """The configured word."""
        return self._coder.name

    async def run(self, request: Request) -> Outcome:
        """Make one call."""
        return judged(await self._coder.run(request), self._proxy.seen(request.run) or UNSEEN)


def judged(outcome: Outcome, seen: Reading) -> Outcome:
    """`outcome` with what the proxy has seen of the run.

    The answer that refuses a request over the budget looks to the CLI like one about its key.
    """
    outcome = replace(outcome, usage=known(outcome.usage, seen))
    if seen.refused and outcome.ending is not Ending.COMPLETED:
        return replace(outcome, ending=Ending.MAX_BUDGET, text="the model proxy refused more requests", answer=None)
    if outcome.ending in LATER and outcome.retry_at is None and seen.retry_at is not None:
        return replace(outcome, ending=Ending.USAGE_LIMIT, retry_at=seen.retry_at)
    return outcome


def known(usage: Usage, seen: Reading) -> Usage:
    """Money as the CLI reports it, else as the proxy has reckoned it; never less than the proxy has seen."""
    if usage.cost_usd is None:
        return seen.usage
    more = seen.usage.cost_usd is not None and seen.usage.cost_usd > usage.cost_usd
    return replace(usage, cost_usd=seen.usage.cost_usd, cost_source=seen.usage.cost_source) if more else usage
