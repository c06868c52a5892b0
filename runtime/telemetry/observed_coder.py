"""Emits the events of a coding backend: each call becomes one event with its tokens, its cost and its ending."""

from __future__ import annotations

from shared.clock import Clock
from shared.errors import EngineError
from shared.llm.port import Coder, Ending, Request, RunOutcome
from shared.telemetry.event_recorder import EventRecorder
from shared.telemetry.events import EventKind


class ObservedCoder:
    """A coder that passes calls on and records an event for each; satisfies `shared.llm.port.Coder`."""

    def __init__(self, coder: Coder, event_recorder: EventRecorder, clock: Clock) -> None:
        self._coder, self._recorder, self._clock = coder, event_recorder, clock

    @property
    def name(self) -> str:
        """The configured name of the backend."""
        return self._coder.name

    async def run(self, request: Request) -> RunOutcome:
        """Make one call. One that did not end by itself is recorded as `cut off`; only the ledger knows its cost."""
        begun = self._clock.boot()
        try:
            outcome = await self._coder.run(request)
        except EngineError:
            self._tell(request, RunOutcome(Ending.CONFIG), begun, "not made")
            raise
        except BaseException:
            self._tell(request, RunOutcome(Ending.KILLED), begun, "cut off")
            raise
        self._tell(request, outcome, begun, str(outcome.ending))
        return outcome

    def _tell(self, request: Request, outcome: RunOutcome, begun: float, ending: str) -> None:
        usage = outcome.usage
        self._recorder.tell(
            EventKind.LLM_CALL,
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
            resumed_tokens=outcome.resumed,
        )
