"""A backend as all items of a process use it: paused by five failures in a row, a limit of runs, an event of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import anyio
import structlog

from shared.clock import Clock
from shared.errors import EngineError
from shared.llm.port import NOT_RUN, Coder, Ending, Request, RunOutcome

log = structlog.get_logger()

FAILURES = 5
"""Failures in a row that open the breaker."""

PAUSE_SECONDS = 60.0
"""Seconds until a single run may probe the backend; the others wait for its result."""

PROBE_SECONDS = 15.0
"""Seconds until the others look again while the probe runs."""

OF_BACKEND = frozenset(
    {
        Ending.TRANSIENT,
        Ending.OVERLOADED,
        Ending.USAGE_LIMIT,
        Ending.TIMED_OUT,
        Ending.KILLED,
        Ending.AUTH,
        Ending.BILLING,
        Ending.CONFIG,
        Ending.UNKNOWN,
    }
)
"""Endings that show a problem of the backend; every other one shows that it answers."""


@dataclass(slots=True)
class Breaker:
    """One backend's failures in a row, over all items of a process; times are those of the boot clock."""

    failures: int = 0
    opened_until: float | None = None
    probing: bool = False

    def pause(self, now: float) -> float | None:
        """Return the seconds for which no run may start; None if one may start, which then may be the probe."""
        if self.opened_until is None:
            return None
        if now < self.opened_until:
            return self.opened_until - now
        if self.probing:
            return PROBE_SECONDS
        self.probing = True
        return None

    def note(self, *, failed: bool, now: float) -> None:
        """Record the end of a run: `FAILURES` in a row open the breaker, a success closes it."""
        self.probing = False
        self.failures = self.failures + 1 if failed else 0
        self.opened_until = now + PAUSE_SECONDS if self.failures >= FAILURES else None

    def abandon(self) -> None:
        """Note that we cancelled a run: it has shown nothing, and the next one may probe."""
        self.probing = False


@dataclass(slots=True)
class CircuitBreaker:
    """Another coder behind a breaker; while that is open a run ends at once, at no cost, with the time to try again.

    A run that may start waits for its turn in `limiter`, which all items of a process share. `tell` is given the facts
    of each call, also of a refused one.
    """

    coder: Coder
    breaker: Breaker
    clock: Clock
    limiter: anyio.CapacityLimiter
    tell: Callable[..., None]
    _reported: bool = field(default=False, init=False)

    @property
    def name(self) -> str:
        """The coder's name in the configuration."""
        return self.coder.name

    async def run(self, request: Request) -> RunOutcome:
        """Make one call unless the backend is paused.

        One that did not end by itself is told as `cut off`; only the ledger knows its cost.
        """
        begun = self.clock.boot()
        seconds = self.breaker.pause(begun)
        if seconds is not None:
            outcome = self._paused_outcome(seconds)
        else:
            try:
                async with self.limiter:
                    outcome = await self.coder.run(request)
            except BaseException as error:
                self.breaker.abandon()
                ending = "not made" if isinstance(error, EngineError) else "cut off"
                self._tell(request, RunOutcome(Ending.KILLED), begun, ending)
                raise
            self.breaker.note(failed=outcome.ending in OF_BACKEND, now=self.clock.boot())
            self._log_change()
        self._tell(request, outcome, begun, str(outcome.ending))
        return outcome

    def _log_change(self) -> None:
        opened = self.breaker.opened_until is not None
        if opened and not self._reported:
            log.warning("backend_paused", backend=self.name, failures=self.breaker.failures, seconds=PAUSE_SECONDS)
        elif self._reported and not opened:
            log.info("backend_answers_again", backend=self.name)
        self._reported = opened

    def _paused_outcome(self, seconds: float) -> RunOutcome:
        until = datetime.fromtimestamp(self.clock.now(), UTC) + timedelta(seconds=seconds)
        said = f"the backend '{self.name}' failed {self.breaker.failures} times in a row; nothing is asked of it now"
        return RunOutcome(Ending.OVERLOADED, said, usage=NOT_RUN, retry_at=until)

    def _tell(self, request: Request, outcome: RunOutcome, begun: float, ending: str) -> None:
        usage = outcome.usage
        self.tell(
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
            seconds=round(self.clock.boot() - begun, 3),
            attempt=request.attempt,
            round=request.round,
            retry=request.retry,
            ledger_run=request.run or None,
            resumed_tokens=outcome.resumed,
        )
