"""Faults of GitHub for all agents during a trial: storms, lost replies, limits."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from lab.chaos.setup import TrialHost
from lab.github.fault_injection.faults import Fault, FaultKind
from shared.clock import Clock

FAULT_EVERY_SECONDS = 3.0

_WRITES = ("POST", "PATCH", "PUT", "DELETE")


@dataclass
class FaultSchedule:
    """Plans one fault after another; `counts` are for the report."""

    host: TrialHost
    clock: Clock
    chance: random.Random
    counts: Counter[str] = field(default_factory=Counter)

    async def blow(self) -> None:
        """Plan faults until cancelled; then drop those that have not happened yet."""
        faults = self.host.lab.faults
        kinds: tuple[Callable[[], Fault], ...] = (
            self._storm,
            self._lost_exchange,
            self._lost_push,
            self._limit,
            self._delay,
        )
        try:
            while True:
                await self.clock.sleep(FAULT_EVERY_SECONDS * self.chance.uniform(0.5, 1.5))
                fault = faults.plan(self.chance.choice(kinds)())
                self.counts[str(fault.kind)] += 1
        finally:
            self.counts["that hit nothing"] = sum(fault.seen < fault.nth for fault in faults.planned)
            faults.clear()

    def _storm(self) -> Fault:
        kind = self.chance.choice((FaultKind.ERROR_BEFORE, FaultKind.ERROR_AFTER))
        return Fault(kind, lasting=self.chance.uniform(1, 4), status=self.chance.choice((500, 502, 503)))

    def _lost_exchange(self) -> Fault:
        kind = self.chance.choice((FaultKind.LOST_REPLY, FaultKind.LOST_REQUEST, FaultKind.RESET))
        return Fault(kind, self.chance.choice(_WRITES), "^/repos/", times=self.chance.randint(1, 3))

    def _lost_push(self) -> Fault:
        return Fault(self.chance.choice((FaultKind.LOST_REPLY, FaultKind.LOST_REQUEST)), "POST", "/git-receive-pack$")

    def _limit(self) -> Fault:
        kind = self.chance.choice((FaultKind.PRIMARY_LIMIT, FaultKind.SECONDARY_LIMIT))
        return Fault(kind, path="^/repos/", seconds=6, status=self.chance.choice((403, 429)), retry_after=3)

    def _delay(self) -> Fault:
        return Fault(FaultKind.DELAY, path="^/repos/", seconds=self.chance.uniform(0.2, 2), times=5)
