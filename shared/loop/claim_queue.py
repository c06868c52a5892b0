"""The candidates of one loop: the order in which they are tried, those left alone for a while, and the reasons."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from contextlib import ExitStack

import structlog

from shared.clock import Clock
from shared.errors import EngineError, Misconfigured, NotAllowed, Unauthorized
from shared.lock.lease import Lease
from shared.loop.item_task import own_fault
from shared.loop.skip_backoff import SkipBackoff
from shared.scheduling.admission import Admission
from shared.scheduling.agent_contract import Agent, Candidate, Skip
from shared.scheduling.order import Spread
from shared.scheduling.slots import Slot, Turn
from shared.telemetry.logging import bind_item

log = structlog.get_logger()

BROKEN_ITEM_SECONDS = 900.0
"""Seconds for which an item is left alone after the engine met an error of its own there."""

NO_SLOT = "this process has begun other work meanwhile, and has no slot left"
"""Reason why an item was not claimed although it may be."""

Begin = Callable[[int, Lease, Slot], None]
"""Begins the work on an item: its number, its lease and its slot."""

LOST_CLAIMS_PER_TICK = 3
"""Lost races in one tick after which the other candidates wait for the next tick."""

BARRED_SECONDS = 300.0
"""Seconds without claims after GitHub refused a claim's token; it locks out clients that go on trying."""


class ClaimQueue:
    """Tries the candidates of one loop, one after the other."""

    def __init__(self, agent: Agent, clock: Clock, admission: Admission, interval_seconds: float) -> None:
        self._agent, self._clock, self._admission, self._interval = agent, clock, admission, interval_seconds
        self._not_before = 0.0
        self._kept_waiting = False
        self._spread = Spread()
        self.skipped = SkipBackoff(clock)

    def hold_off(self, seconds: float) -> None:
        """Claim nothing for so many seconds."""
        self._not_before = max(self._not_before, self._clock.boot() + seconds)

    def due_in_seconds(self) -> float:
        """Return the seconds until candidates that the last look passed over may be claimed; infinite without any.

        The source that reported them does not report them again: without a look of their own they would wait for a
        whole interval. Each look answers this once: a look that fails does not cause another one right after it.
        """
        kept_waiting, self._kept_waiting = self._kept_waiting, False
        return max(0.0, self._not_before - self._clock.boot()) if kept_waiting else math.inf

    async def look(
        self,
        candidates: Sequence[Candidate],
        held: Container[int],
        most: int,
        turn: Turn,
        begin: Begin,
        *,
        strict: bool,
    ) -> bool:
        """Try candidates in order and `begin` at most `most` of them; return True if it ended for want of a free slot.

        Where other agents win claims, candidates of one rank are tried in another order than theirs.
        Raises `Unauthorized`, and with `strict` `NotAllowed`, `Misconfigured` and the errors of `Admission.admits`.
        """
        queue = list(self.skipped.due(candidates, held)) if most else []
        held_off = self._clock.boot() < self._not_before
        self._kept_waiting = held_off and bool(queue)
        if not most or held_off or not self._admission.admits(strict=strict):
            return False
        with turn.looking():
            return await self._try(queue, most, turn, begin, strict=strict)

    async def _try(self, queue: list[Candidate], most: int, turn: Turn, begin: Begin, *, strict: bool) -> bool:
        lost = begun = 0
        while queue and lost < LOST_CLAIMS_PER_TICK and begun < most and not self._admission.holding_back:
            if not turn.ask():
                return True
            candidate = self._spread.next(queue)
            queue.remove(candidate)
            with ExitStack() as unless_begun:
                slot = Slot(turn)
                unless_begun.callback(slot.give)
                match await self._attempt(candidate, slot, strict=strict):
                    case Lease() as lease:
                        self._spread.won()
                        begin(candidate.number, lease, slot)
                        unless_begun.pop_all()
                        begun += 1
                    case Skip() as skip:
                        self.skipped.add(candidate, skip)
                        if skip.is_lost:
                            self._spread.lost()
                            lost += 1
                    case None:
                        self.skipped.defer(candidate, NO_SLOT)
                        return True
        return False

    async def _attempt(self, candidate: Candidate, slot: Slot, *, strict: bool) -> Lease | Skip | None:
        """Return the lease, a `Skip`, or None if no slot was left for it.

        Errors become the reason of a `Skip`, unless they concern the whole process.
        """
        with bind_item(repo=self._agent.repository, issue=candidate.number):
            try:
                got = await self._claim(candidate, slot)
            except Unauthorized as error:  # it would be the same for every other candidate
                self.hold_off(0 if error.logged else BARRED_SECONDS)
                raise
            except (NotAllowed, Misconfigured) as error:  # they say something about this process, not about the item
                if strict:
                    raise
                if self.skipped.refuse(candidate):
                    log.error("claim_refused", outcome="failed", error=str(error))
                return Skip(str(error), self._interval, failed=True)
            except EngineError as error:
                got = Skip(str(error), self._interval, failed=True)
            except Exception as error:  # one item that cannot be looked at must not keep away from the rest
                log.exception("claim_failed", outcome="failed")
                got = Skip(own_fault(error), BROKEN_ITEM_SECONDS, failed=True)
            if not isinstance(got, Lease):
                log.info("item_skipped", outcome="skipped", reason=got.reason if got else NO_SLOT)
            return got

    async def _claim(self, candidate: Candidate, slot: Slot) -> Lease | Skip | None:
        """Read everything, then take the slot, then write the lock, unless the process was told to stop meanwhile."""
        claim = await self._agent.prepare(candidate)
        if isinstance(claim, Skip):
            return claim
        if reason := self._admission.holding_back:
            return Skip(reason, self._interval)
        return await claim() if slot.take() else None
