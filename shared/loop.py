"""The polling loop, stop and drain, and the real clock: the only place that waits."""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio
import structlog
from anyio.abc import TaskGroup

from shared.clock import Clock
from shared.complaints import Complaints
from shared.errors import EngineError, Misconfigured, NotAllowed, Transient, Unauthorized
from shared.items import Agent, Candidate, Ended, Rest, Result, Skip
from shared.lock.claim import Lease
from shared.pursuit import Pursuit, own_fault
from shared.room import Room
from shared.skipped import Skipped
from shared.slots import Slots
from shared.telemetry.logging import bind_item

log = structlog.get_logger()

LOST_CLAIMS_PER_TICK = 3
"""After so many lost races the rest of the candidates waits for the next tick."""

BROKEN_ITEM_SECONDS = 900.0
"""How long an item is left alone at which the engine met an error of its own."""

BARRED_SECONDS = 300.0
"""Nothing is claimed for so long after a claim whose token was refused; GitHub locks out who goes on trying."""

JITTER = 0.1
"""The part of the interval by which a poll may be late, so that agents do not poll in step."""


class RealClock:
    """The machine's clocks. `boot` counts suspend where the system can (Linux)."""

    def __init__(self) -> None:
        self._boot = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

    def now(self) -> float:
        """Wall clock."""
        return time.time()

    def boot(self) -> float:
        """Boot clock."""
        return time.clock_gettime(self._boot)

    async def sleep(self, seconds: float) -> None:
        """Let `seconds` pass."""
        await anyio.sleep(seconds)


class Loop:
    """Drives one agent: wake what rests, stop what is revoked, claim what is free.

    Used as `async with loop.open():`; `tick` may be called by hand, `run` calls it for ever and
    `once` until one item has ended.
    """

    def __init__(
        self,
        agent: Agent,
        clock: Clock,
        *,
        slots: Slots | None = None,
        interval_seconds: float = 30.0,
        cooldown_seconds: float = 0.0,
        room: Room | None = None,
    ) -> None:
        """`cooldown_seconds` pass between the end of an item and the next claim; `room` is where it writes."""
        self._agent, self._clock = agent, clock
        self._slots = slots or Slots(1)
        self._slots.join(self)
        self._interval = interval_seconds
        self._cooldown = cooldown_seconds
        self._room = room or Room(())
        self._not_before = 0.0
        self._complaints = Complaints()
        self._items: dict[int, Pursuit] = {}
        self._skipped = Skipped(clock)
        self._changed = anyio.Event()
        self._group: TaskGroup | None = None
        self.ended: list[Ended] = []

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Loop]:
        """The block in which items live; leaving it stops them and releases their leases."""
        failure: Exception | None = None
        async with anyio.create_task_group() as group:
            self._group = group
            try:
                yield self
            except Exception as error:  # carried past the group, which would wrap it
                failure = error
            group.cancel_scope.cancel()
        self._group = None
        if failure is not None:
            raise failure

    @property
    def busy(self) -> int:
        """How many items of this loop are being worked on just now."""
        return sum(item.resting is None for item in self._items.values())

    @property
    def resting(self) -> tuple[Rest, ...]:
        """What the held items wait for."""
        return tuple(item.resting for item in self._items.values() if item.resting)

    @property
    def skipped(self) -> tuple[str, ...]:
        """Which candidates were not claimed, and why: a sentence for each."""
        return tuple(f"{self._agent.repository}#{n}: {why}" for n, why in self._skipped.reasons.items())

    async def tick(self, *, claims: int | None = None, strict: bool = False) -> int:
        """One look at everything; returns how many items are in work. Errors of one item stay there.

        At most `claims` items are begun; None means as many as there are slots. `Unauthorized` is
        raised out of a claim; with `strict`, `NotAllowed` and `Misconfigured` are too.
        """
        candidates = await self._agent.discover()
        for item in tuple(self._items.values()):
            await self._look_after(item)
        await self._claim(candidates, len(candidates) if claims is None else claims, strict)
        return len(self._items)

    async def quiet(self) -> None:
        """Return when every held item rests or has ended."""
        while any(item.active for item in self._items.values()):
            await self._changed.wait()

    async def run(self, stop: anyio.Event, *, most_ticks: int = 0) -> None:
        """Tick until `stop`, or `most_ticks` times; a bad tick is logged and the loop goes on."""
        ticks = 0
        while not stop.is_set() and (not most_ticks or ticks < most_ticks):
            ticks += 1
            try:
                await self.tick()
                self._complaints.settled()
            except EngineError as error:
                self._complaints.hear(error)
            except Exception:
                log.exception("tick_failed", outcome="retrying")
            await self._pause(stop)

    async def once(self, stop: anyio.Event, *, wait: bool) -> Ended | Rest | None:
        """Work on exactly one item; None when there was nothing to do, and `skipped` says why.

        With `wait` false, or when a person has to act, it returns at the first wait. Errors of the
        process itself are raised: `NotAllowed`, `Unauthorized`, `Misconfigured`, `Transient`.
        """
        while not stop.is_set():
            try:
                await self.tick(claims=0 if self._items or self.ended else 1, strict=True)
            except Transient as error:
                if not self._items:
                    raise
                log.warning("tick_failed", outcome="retrying", error=str(error))
            if not self._items and not self.ended:
                failure = self._skipped.failure
                return Ended(Result.FAILED, failure) if failure else None
            await self.quiet()
            if self.ended:
                return self.ended[0]
            if refusal := next((item.refusal for item in self._items.values() if item.refusal), None):
                raise refusal
            if not wait and self.resting:
                return self.resting[0]
            await self._pause(stop)
        return Ended(Result.LOST, "stopped by a signal")

    async def _pause(self, stop: anyio.Event) -> None:
        with anyio.move_on_after(self._interval * (1 + JITTER * random.random())):
            await stop.wait()

    async def _look_after(self, item: Pursuit) -> None:
        """Stop or wake one item; when GitHub cannot be asked about it, it is woken all the same."""
        try:
            reason = await self._agent.revoked(item.number)
        except EngineError as error:
            log.warning("look_failed", outcome="retrying", issue=item.number, error=str(error))
            reason = None
        if reason:
            item.revoke(reason)
        item.wake()

    async def _claim(self, candidates: Sequence[Candidate], most: int, strict: bool) -> None:
        lost = begun = 0
        if not most or self._clock.boot() < self._not_before or not self._room.admits(strict=strict):
            return
        for candidate in self._skipped.due(candidates, self._items):
            if not self._slots.free(self) or lost >= LOST_CLAIMS_PER_TICK or begun >= most:
                return
            match await self._attempt(candidate, strict):
                case Lease() as lease:
                    self._begin(candidate.number, lease)
                    begun += 1
                case Skip() as skip:
                    self._skipped.add(candidate, skip)
                    lost += skip.seconds == 0

    async def _attempt(self, candidate: Candidate, strict: bool) -> Lease | Skip:
        with bind_item(repo=self._agent.repository, issue=candidate.number):
            try:
                got = await self._agent.claim(candidate)
            except Unauthorized as error:  # it would be the same for every other candidate
                self._not_before = self._clock.boot() + (0 if error.told else BARRED_SECONDS)
                raise
            except (NotAllowed, Misconfigured) as error:  # they say something about this process, not about the item
                if strict:
                    raise
                if self._skipped.refuse(candidate):
                    log.error("claim_refused", outcome="failed", error=str(error))
                return Skip(str(error), self._interval, failed=True)
            except EngineError as error:
                got = Skip(str(error), self._interval, failed=True)
            except Exception as error:  # one item that cannot be looked at must not keep away from the rest
                log.exception("claim_failed", outcome="failed")
                got = Skip(own_fault(error), BROKEN_ITEM_SECONDS, failed=True)
            if isinstance(got, Skip):
                log.info("item_skipped", outcome="skipped", reason=got.reason)
            return got

    def _begin(self, number: int, lease: Lease) -> None:
        if self._group is None:
            raise RuntimeError("tick() belongs inside `async with loop.open()`")
        pursuit = Pursuit(number, self._agent, self._clock, self._interval, self._note_change)
        self._items[number] = pursuit
        self._group.start_soon(self._pursue, pursuit, lease)

    async def _pursue(self, pursuit: Pursuit, lease: Lease) -> None:
        try:
            ended = await pursuit.run(lease)
        finally:
            del self._items[pursuit.number]
            self._not_before = max(self._not_before, self._clock.boot() + self._cooldown)
            self._note_change()
        if pursuit.broken:
            self._skipped.leave(pursuit.number, ended.sentence, BROKEN_ITEM_SECONDS)
        self.ended.append(ended)

    def _note_change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
