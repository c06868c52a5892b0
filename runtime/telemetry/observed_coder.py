"""A coding backend with eyes: each call becomes one event with its tokens, its cost and its ending."""

from __future__ import annotations

from shared.clock import Clock
from shared.errors import EngineError
from shared.llm.port import Coder, Outcome, Request, Usage
from shared.telemetry.event_recorder import EventRecorder
from shared.telemetry.events import Kind


class ObservedCoder:
    """Passes calls on; satisfies `shared.llm.port.Coder`."""

    def __init__(self, coder: Coder, event_recorder: EventRecorder, clock: Clock) -> None:
        self._coder, self._scribe, self._clock = coder, event_recorder, clock

    @property
    def name(self) -> str:
        """The configured word."""
        return self._coder.name

    async def run(self, request: Request) -> Outcome:
        """Make one call. One that did not end by itself is told as `cut off`; what it cost, only the ledger knows."""
        begun = self._clock.boot()
        try:
            outcome = await self._coder.run(request)
        except EngineError:
            self._tell(request, "not made", Usage(), begun)
            raise
        except BaseException:
            self._tell(request, "cut off", Usage(), begun)
            raise
        self._tell(request, str(outcome.ending), outcome.usage, begun)
        return outcome

    def _tell(self, request: Request, ending: str, usage: Usage, begun: float) -> None:
        self._scribe.tell(
            Kind.LLM_CALL,
            call=request.call,
            role=request.role,
            backend=self.name,
            model=usage.model or request.model,
            ending=ending,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cached_tokens=usage.cached_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            cost_usd=usage.cost_usd,
            cost_source=usage.cost_source,
            seconds=round(self._clock.boot() - begun, 3),
            attempt=request.attempt,
            round=request.round,
            retry=request.retry,
            ledger_run=request.run or None,
        )
