"""The polling loop: ticks, stop and drain; the only place that waits."""

from __future__ import annotations

import math
import random
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import structlog
from anyio.abc import TaskGroup

from shared.clock import Clock
from shared.errors import EngineError, Transient, Unauthorized
from shared.lock.lease import Lease
from shared.loop.claim_queue import BROKEN_ITEM_SECONDS, ClaimQueue
from shared.loop.first_event import first_of
from shared.loop.item_task import ItemTask
from shared.scheduling.admission import Admission
from shared.scheduling.agent_contract import Agent, Candidate, Ended, Rest, Result
from shared.scheduling.slots import Slot, Slots

log = structlog.get_logger()

POKED_SECONDS = 3.0
"""Shortest time in seconds between two ticks, however often news is reported."""

AGAIN_SECONDS = 20.0
"""Seconds after news until a second look: the source of the news may know more than GitHub's replicas do yet."""

LOOK_SECONDS = 60.0
"""Seconds after which a waiting loop looks again at how long it has to wait: others may have stopped polling."""

MOST_ENDED = 100
"""Most ends of items that are remembered, the newest."""

JITTER = 0.1
"""Fraction of the interval by which a poll may be late, so that agents do not poll in step.

Agents that start together would do so for an hour: therefore the first interval is cut short by chance.
"""


SideTask = Callable[[Callable[[], str]], Coroutine[Any, Any, None]]
"""Task that runs until it is cancelled; its argument returns why nothing new begins, empty if something may."""


class Loop:
    """Drives one agent: wakes resting items, stops revoked ones, claims free ones.

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
        admission: Admission | None = None,
    ) -> None:
        """`cooldown_seconds` pass between an item's end and the next claim; `admission` may forbid new items."""
        self._agent, self._clock = agent, clock
        self._turn = (slots or Slots(1, clock)).join(self.poke)
        self._interval = interval_seconds
        self.stretched: Callable[[float], float] = lambda seconds: seconds
        """Returns the interval that GitHub's limits allow just now instead of the configured one."""
        self._cooldown = cooldown_seconds
        self._admission = admission or Admission()
        self._admission.join(self._note_change)
        self._log_once = _LogOnce()
        self._items: dict[int, ItemTask] = {}
        self._queue = ClaimQueue(agent, clock, self._admission, interval_seconds)
        self._changed, self._poked = anyio.Event(), anyio.Event()
        self._look_again = math.inf
        self._group: TaskGroup | None = None
        self.ended: list[Ended] = []

    @asynccontextmanager
    async def open(self, side_tasks: Sequence[SideTask] = ()) -> AsyncIterator[Loop]:
        """Open the block in which items and the `side_tasks` run; its end stops them and releases the leases."""
        failure: Exception | None = None
        async with anyio.create_task_group() as group:
            self._group = group
            for one in side_tasks:
                group.start_soon(one, lambda: self._admission.holding_back)
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
        """Number of this loop's items that are being worked on just now."""
        return sum(item.resting is None for item in self._items.values())

    @property
    def resting(self) -> tuple[Rest, ...]:
        """The waits of the held items that rest."""
        return tuple(item.resting for item in self._items.values() if item.resting)

    @property
    def held(self) -> tuple[str, ...]:
        """Held items, in work or waiting, as `owner/repo#3`."""
        return tuple(f"{self._agent.repository}#{number}" for number in self._items)

    @property
    def skipped(self) -> tuple[str, ...]:
        """A sentence for each candidate that was not claimed: its name and the reason."""
        return tuple(f"{self._agent.repository}#{n}: {reason}" for n, reason in self._queue.skipped.reasons.items())

    @property
    def due(self) -> float:
        """Boot time at which an item has to be woken even without a poll; infinite if there is none."""
        return min((item.due for item in self._items.values()), default=math.inf)

    async def tick(self, *, claims: int | None = None, strict: bool = False) -> int:
        """Look once at everything; return the number of items in work. Errors of one item stay there.

        At most `claims` items are begun; None means as many as there are slots. `Unauthorized` is
        raised out of a claim; with `strict`, `NotAllowed` and `Misconfigured` are too.
        """
        if self._admission.leaving:
            self._let_go()
        candidates = await self._agent.discover()
        for item in tuple(self._items.values()):
            await self._look_after(item)
        await self._claim(candidates, len(candidates) if claims is None else claims, strict)
        return len(self._items)

    async def _look_after(self, item: ItemTask) -> None:
        """Stop or wake one item; if GitHub cannot be asked about it, wake it all the same."""
        try:
            reason = await self._agent.revoked(item.number)
        except EngineError as error:
            log.warning("look_failed", outcome="retrying", issue=item.number, error=str(error))
            reason = None
        if reason:
            item.revoke(reason)
        item.wake()

    async def _claim(self, candidates: Sequence[Candidate], most: int, strict: bool) -> None:
        waits = await self._queue.look(candidates, self._items, most, self._turn, self._begin, strict=strict)
        if not waits:
            self._turn.leave()

    def _begin(self, number: int, lease: Lease, slot: Slot) -> None:
        if self._group is None:
            raise RuntimeError("tick() belongs inside `async with loop.open()`")
        task = ItemTask(number, self._agent, self._clock, self._interval, self._note_change, self._leaving)
        self._items[number] = task
        self._group.start_soon(self._work_on, task, lease, slot)

    async def _work_on(self, task: ItemTask, lease: Lease, slot: Slot) -> None:
        try:
            ended = await task.run(lease, slot)
        finally:
            del self._items[task.number]
            self._queue.hold_off(self._cooldown)
            slot.give()
            self._note_change()
        if task.broken:
            self._queue.skipped.leave(task.number, ended.sentence, BROKEN_ITEM_SECONDS)
        self.ended.append(ended)
        del self.ended[:-MOST_ENDED]

    async def run(self, stop: anyio.Event, *, most_ticks: int = 0) -> None:
        """Tick until `stop`, until nothing is held after the admission was shut, or `most_ticks` times.

        A failed tick is logged and the loop goes on.
        """
        try:
            await self._tick_until(stop, most_ticks)
        finally:
            self._turn.leave()
        if not stop.is_set():
            await self.quiet()  # the last look may have begun what is paid for

    async def _tick_until(self, stop: anyio.Event, most_ticks: int) -> None:
        ticks, part = 0, random.random()
        while not self._over(stop) and (not most_ticks or ticks < most_ticks):
            ticks += 1
            began = anyio.current_time()
            try:
                await self.tick()
                self._log_once.settled()
            except EngineError as error:
                self._turn.leave()
                self._log_once.failed(error)
            except Exception:
                self._turn.leave()
                log.exception("tick_failed", outcome="retrying")
            await self._pause(stop, began, part)
            part = 1.0

    async def once(self, stop: anyio.Event, *, wait: bool) -> Ended | Rest | None:
        """Work on exactly one item; None if there was nothing to do, and `skipped` says why.

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
                failure = self._queue.skipped.failure
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

    async def quiet(self) -> None:
        """Wait until every held item rests or has ended."""
        while any(item.active for item in self._items.values()):
            await self._changed.wait()

    def _over(self, stop: anyio.Event) -> bool:
        return stop.is_set() or (self._admission.final and not self._items)

    async def _pause(self, stop: anyio.Event, began: float | None = None, part: float = 1.0) -> None:
        """Wait for the next tick: `part` of the stretched interval, or less if something is due or there is news.

        After news the last tick, which began at `began`, is `POKED_SECONDS` ago at least.
        """
        part *= 1 + JITTER * random.random()
        paused, longest = anyio.current_time(), self._queue.due_in_seconds()
        with anyio.move_on_after(min(self.stretched(self._interval) * part, longest)) as waiting:

            def look_again() -> None:
                waiting.deadline = min(waiting.deadline, paused + self.stretched(self._interval) * part)

            is_due = await self._due_or_told(stop, look_again)
            if began is not None and not is_due:
                with anyio.move_on_at(began + POKED_SECONDS):
                    while not self._over(stop):  # the end of the last item is not waited upon
                        await first_of(stop, self._changed)
        self._poked = anyio.Event()

    async def _due_or_told(self, stop: anyio.Event, look_again: Callable[[], None]) -> bool:
        """Wait; return True if a look is due although nobody reported news, False as soon as somebody does.

        Never returns True at once: what is due stays due if the look fails. Calls `look_again` now and then.
        """
        earliest = self._clock.boot() + POKED_SECONDS
        while not stop.is_set() and not self._poked.is_set():
            due = max(earliest, min(self._look_again, self.due))
            seconds = max(0.0, due - self._clock.boot())
            with anyio.move_on_after(min(seconds, LOOK_SECONDS)) as waiting:
                await first_of(stop, self._poked, self._changed)
            if waiting.cancelled_caught and seconds > LOOK_SECONDS:
                look_again()
            elif waiting.cancelled_caught:
                if self._clock.boot() >= self._look_again:
                    self._look_again = math.inf
                return True
        return False

    def poke(self) -> None:
        """Look soon, without waiting for the end of the interval: there is news."""
        self._poked.set()

    def hear_of_news(self) -> None:
        """Take a hint from outside that there is news: look at once, and again when every replica of GitHub has it."""
        self._look_again = self._clock.boot() + AGAIN_SECONDS
        self.poke()

    def _note_change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
        if self._admission.final:
            self._let_go()
            self.poke()

    def _leaving(self) -> str:
        return self._admission.leaving

    def _let_go(self) -> None:
        """End every wait, without a request to GitHub, which may be down: a leaving process needs no answer of it."""
        for item in self._items.values():
            item.let_go()


class _LogOnce:
    """Logs errors that only a person or a certain time can end once, not at every tick."""

    def __init__(self) -> None:
        self._standing = ""

    def failed(self, error: EngineError) -> None:
        """Log a failed tick, unless it was logged just before or has been told; what may pass at once always."""
        told = str(error) == self._standing or (isinstance(error, Unauthorized) and error.logged)
        self._standing = str(error)
        if isinstance(error, Transient) and (not told or not error.is_limit):
            log.warning("tick_failed", outcome="retrying", error=str(error))
        elif not told:
            log.error("tick_failed", outcome="retrying", error=str(error))

    def settled(self) -> None:
        """Note that a tick went well: the next error is logged again."""
        self._standing = ""
