"""The candidates of one loop: the order in which they are tried, those left alone for a while, and the reasons."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import structlog

from shared.clock import Clock
from shared.errors import EngineError, Misconfigured, NotAllowed, Unauthorized
from shared.lock.lease import Lease
from shared.loop.item_task import own_fault
from shared.scheduling.admission import Admission
from shared.scheduling.agent_contract import Agent, Candidate, CandidateKind, Skip
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

LOOKS = 30
"""Candidates looked at in one tick: each costs a few requests, and held items wait for the tick's end."""

LOOK_AGAIN_SECONDS = (1.0, 60.0)
"""Pauses in seconds before the second and the third look at one state of an item: GitHub's times of change have whole
seconds, so that two changes may look like one, and a single item may be read older than the list that named it."""

KEPT = 1000
"""Items that are remembered in any case; above, only those that are candidates, or are left alone."""


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


_State = tuple[CandidateKind, str]


@dataclass(frozen=True, slots=True)
class _Memory:
    state: _State | None
    """None stands for every state of the item."""
    until: float
    reason: str
    failed: bool
    looks: int = 1


class SkipBackoff:
    """The candidates that are left alone for a while; `candidate in skipped` tells whether one is."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[int, _Memory] = {}
        self._refused: dict[int, _State] = {}

    @property
    def reasons(self) -> Mapping[int, str]:
        """Reason per item why it was not claimed when it was last looked at."""
        return {number: memory.reason for number, memory in self._known.items()}

    @property
    def failure(self) -> str:
        """The first error that a claim met; empty if there was none."""
        return next((memory.reason for memory in self._known.values() if memory.failed), "")

    def __contains__(self, candidate: Candidate) -> bool:
        memory = self._known.get(candidate.number)
        if memory is None or memory.state not in {None, candidate.state}:
            return False
        return self._clock.boot() < memory.until

    def due(self, candidates: Sequence[Candidate], held: Container[int]) -> tuple[Candidate, ...]:
        """Return the candidates to look at now, at most `LOOKS`, in their order.

        If there are more, half are the first ones, and half those that were never looked at: so the first ones,
        coming due again and again, do not keep the last of thousands from being looked at.
        """
        self._forget({one.number for one in candidates})
        due = [one for one in candidates if one.number not in held and one not in self]
        if len(due) <= LOOKS:
            return tuple(due)
        first, others = due[: LOOKS // 2], due[LOOKS // 2 :]
        new = sorted(others, key=lambda one: one.number in self._known)[: LOOKS - len(first)]
        return (*first, *(one for one in others if one in new))

    def _forget(self, listed: Container[int]) -> None:
        """Forget items that are no candidates any more, if there are many; one that is left alone stays so."""
        now = self._clock.boot()
        if len(self._known) > KEPT:
            self._known = {n: known for n, known in self._known.items() if n in listed or now < known.until}
        if len(self._refused) > KEPT:
            self._refused = {n: state for n, state in self._refused.items() if n in listed}

    def add(self, candidate: Candidate, skip: Skip) -> None:
        """Leave it alone, but look twice more soon: the first looks may have read an older state of it."""
        looks = self._looks(candidate)
        soon = LOOK_AGAIN_SECONDS[looks] if looks < len(LOOK_AGAIN_SECONDS) else skip.seconds
        until = self._clock.boot() + min(skip.seconds, soon)
        self._known[candidate.number] = _Memory(candidate.state, until, skip.reason, skip.failed, looks + 1)

    def defer(self, candidate: Candidate, reason: str) -> None:
        """Keep the reason why it was not claimed although it may be: it stays due, and what was read was good."""
        self._known[candidate.number] = _Memory(
            candidate.state, self._clock.boot(), reason, False, self._looks(candidate)
        )

    def _looks(self, candidate: Candidate) -> int:
        memory = self._known.get(candidate.number)
        return memory.looks if memory is not None and memory.state == candidate.state else 0

    def leave(self, number: int, reason: str, seconds: float) -> None:
        """Leave an item alone for `seconds`, even if it changes."""
        self._known[number] = _Memory(None, self._clock.boot() + seconds, reason, True)

    def refuse(self, candidate: Candidate) -> bool:
        """Note that its claim was refused; return whether that is new for this state."""
        known = self._refused.get(candidate.number)
        self._refused[candidate.number] = candidate.state
        return known != candidate.state
