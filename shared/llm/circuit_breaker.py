"""When a run of a backend may begin: not while it is paused after five failures in a row, and only so many at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import anyio
import structlog

from shared.clock import Clock
from shared.llm.port import NOT_RUN, Coder, Ending, Request, RunOutcome

log = structlog.get_logger()

FAILURES = 5
"""So many in a row open the breaker."""

PAUSE_SECONDS = 60.0
"""How long nothing is asked; then one run probes, and the others wait for what it finds."""

PROBE_SECONDS = 15.0
"""How soon the others look again while the probe runs."""

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
"""Endings that say something about the backend; every other one shows that it answers."""


@dataclass(slots=True)
class Breaker:
    """One backend's failures in a row, over all items of a process; times are those of the boot clock."""

    failures: int = 0
    opened_until: float | None = None
    probing: bool = False

    def pause(self, now: float) -> float | None:
        """For how long nothing may be asked; None when a run may begin, which then may be the probe."""
        if self.opened_until is None:
            return None
        if now < self.opened_until:
            return self.opened_until - now
        if self.probing:
            return PROBE_SECONDS
        self.probing = True
        return None

    def note(self, *, failed: bool, now: float) -> None:
        """How a run ended."""
        self.probing = False
        self.failures = self.failures + 1 if failed else 0
        self.opened_until = now + PAUSE_SECONDS if self.failures >= FAILURES else None

    def abandon(self) -> None:
        """A run was cut off by us: it has shown nothing, and the next one may probe."""
        self.probing = False


@dataclass(slots=True)
class CircuitBreaker:
    """Another coder behind a breaker; while it is open a run ends at once, at no cost, with the time to try again.

    A run that may begin waits for its turn in `limiter`, which all items of a process share.
    """

    coder: Coder
    breaker: Breaker
    clock: Clock
    limiter: anyio.CapacityLimiter
    _told: bool = field(default=False, init=False)

    @property
    def name(self) -> str:
        """The configured word."""
        return self.coder.name

    async def run(self, request: Request) -> RunOutcome:
        """Make one call unless the backend is paused."""
        seconds = self.breaker.pause(self.clock.boot())
        if seconds is not None:
            return self._paused(seconds)
        ended = False
        try:
            async with self.limiter:
                outcome = await self.coder.run(request)
            ended = True
        finally:
            if not ended:
                self.breaker.abandon()
        self.breaker.note(failed=outcome.ending in OF_BACKEND, now=self.clock.boot())
        self._tell()
        return outcome

    def _tell(self) -> None:
        """One line in the log when it opens, one when it closes."""
        opened = self.breaker.opened_until is not None
        if opened and not self._told:
            log.warning("backend_paused", backend=self.name, failures=self.breaker.failures, seconds=PAUSE_SECONDS)
        elif self._told and not opened:
            log.info("backend_answers_again", backend=self.name)
        self._told = opened

    def _paused(self, seconds: float) -> RunOutcome:
        until = datetime.fromtimestamp(self.clock.now(), UTC) + timedelta(seconds=seconds)
        said = f"the backend '{self.name}' failed {self.breaker.failures} times in a row; nothing is asked of it now"
        return RunOutcome(Ending.OVERLOADED, said, usage=NOT_RUN, retry_at=until)
