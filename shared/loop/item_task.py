"""One item in work, from its claim to its end: step, rest until woken, stop when revoked."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import assert_never

import anyio
import structlog

from shared.clock import Clock
from shared.errors import Blocked, Gone, Lost, Outdated, RunFailed, Transient, Unauthorized
from shared.filesystem.disk_space import as_disk_full
from shared.lock.hold import Held
from shared.lock.lease import Lease
from shared.reconcile.tombstones import abandon
from shared.retry.failures import Category, GiveUp, History, after
from shared.retry.run_errors import used_up
from shared.retry.run_limit import park
from shared.scheduling.agent_contract import Agent, Ended, Rest, Result, Step
from shared.scheduling.slots import Slot
from shared.telemetry.logging import bind_item

log = structlog.get_logger()

BACKOFF_CAP_SECONDS = 900.0
"""Longest pause in seconds after failures in a row on one item."""

LATE_SECONDS = 5.0
"""Shortest pause in seconds before a look for data that GitHub does not show yet, however long the interval."""

TOLD_SECONDS = 60.0
"""Seconds from which on a wait is told to people; a shorter one is over before anybody reads it."""

REFUSALS = 5
"""Refused tokens in a row for which an item waits; then a person is told, as soon as anything can be told."""

SLOT_TAKEN = Rest("slot")
"""The wait of an item whose slot was taken while it waited for something else."""

STOP_SECONDS = 60.0
"""Seconds that the end of the work on a person's order may take."""


class ItemTask:
    """The task of one held item in a loop. No error here reaches other items."""

    def __init__(
        self,
        number: int,
        agent: Agent,
        clock: Clock,
        interval_seconds: float,
        changed: Callable[[], None],
        leaving: Callable[[], str] = lambda: "",
    ) -> None:
        """`changed` is called when a rest begins; `leaving` is asked after each step for a reason to release it."""
        self.number = number
        self.resting: Rest | None = None
        self.broken = False
        """True if it ended without a person being told: it should not begin again at once."""
        self.refusal: Unauthorized | None = None
        """The error for which it waits until the token works again."""
        self._agent = agent
        self._clock = clock
        self._interval = interval_seconds
        self._changed = changed
        self._leaving = leaving
        self._scope = anyio.CancelScope()
        self._woken = anyio.Event()
        self._revoked = ""
        self._failures = 0
        self._refusals = 0
        self._untold: Blocked | None = None
        self._not_before = 0.0
        self._is_late = False

    @property
    def due(self) -> float:
        """Boot time at which it has to be woken even without a poll; infinite while it waits for the next tick."""
        return self._not_before if self._is_late and self.resting is not None else math.inf

    @property
    def active(self) -> bool:
        """False while it rests and nobody has woken it."""
        return self.resting is None or self._woken.is_set()

    def wake(self) -> None:
        """Let a resting item look again, unless it backs off."""
        if self._clock.boot() >= self._not_before:
            self._woken.set()

    def let_go(self) -> None:
        """End a wait at once, because `leaving` gives a reason; a running step comes to its end."""
        self._woken.set()

    def revoke(self, reason: str) -> None:
        """End the item on a person's order; a running step is cancelled."""
        self._revoked = self._revoked or reason
        self._scope.cancel()
        self._woken.set()

    async def run(self, lease: Lease, slot: Slot) -> Ended:
        """Work as the holder until the item has ended; release the lease in any case.

        `slot` is held at first. It is given away during waits; who runs the item gives it away at the end.
        """
        ended = Ended(Result.LOST, "the lease was lost")
        with bind_item(repo=self._agent.repository, issue=self.number):
            try:
                async with self._agent.hold(lease) as held:
                    ended = await self._work(held, slot)
            except Lost as error:
                ended = Ended(Result.LOST, str(error))
            except Transient as error:
                ended = Ended(Result.LOST, f"left for the next tick: {error}")
            except Blocked as error:  # even telling a person was refused
                ended, self.broken = Ended(Result.FAILED, str(error)), True
            except Exception as error:
                log.exception("item_failed", outcome="failed")
                ended, self.broken = Ended(Result.FAILED, own_fault(error)), True
            log.info("item_ended", outcome=str(ended.result), sentence=ended.sentence)
        return ended

    async def _work(self, held: Held, slot: Slot) -> Ended:
        while True:
            if not self._revoked and (reason := self._leaving()):
                return Ended(Result.PARKED, reason)
            step: Step = None
            with self._scope:
                if not self._revoked:
                    step = await self._step_safely(held)
            if self._revoked:
                with anyio.move_on_after(STOP_SECONDS, shield=True):
                    await self._stop(held)
                return Ended(Result.WITHDRAWN, self._revoked)
            match step:
                case Ended():
                    return step
                case Rest():
                    await self._rest(step, slot)
                case None:
                    self._scope = anyio.CancelScope()
                    await self._wait_for_slot(slot)
                case _:
                    assert_never(step)

    async def _stop(self, held: Held) -> None:
        """Stop the item; try once more after a failure, because the cancelled step may have moved the fence unheard."""
        try:
            try:
                await self._agent.stop(held, self._revoked)
            except Transient as error:
                log.warning("stop_failed", outcome="retrying", error=str(error))
                await self._agent.stop(held, self._revoked)
        except Gone as error:
            await self._abandon(held, error)

    async def _abandon(self, held: Held, error: Gone) -> None:
        """End the fence of a deleted item, where no comment is possible; the work so far stays in the fence."""
        log.warning("item_gone", outcome="skipped", error=str(error))
        await abandon(held)

    async def _step_safely(self, held: Held) -> Step:
        """Take a step and turn its errors into decisions: rest and retry, or hand to a person."""
        if self._untold is not None:
            return await self._fail(held, self._untold)
        try:
            step = await self._take_step(held)
        except Lost:
            raise
        except Unauthorized as error:
            self._refusals += 1
            return self._wait(error) if self._refusals <= REFUSALS else await self._fail(held, error)
        except Transient as error:
            return self._back_off(error)
        except Outdated as error:  # nothing is wrong with the item: a newer agent goes on with it at once
            log.error("agent_outdated", outcome="skipped", error=str(error))
            self.broken = True
            return Ended(Result.PARKED, str(error))
        except Blocked as error:
            return await self._fail(held, error)
        except Exception as error:
            log.exception("step_failed", outcome="failed")
            return await self._fail(held, Blocked(own_fault(error)))
        if self._untold is None:
            self._failures, self._refusals, self.refusal = 0, 0, None
        return step

    async def _take_step(self, held: Held) -> Step:
        """Take one step; a failed paid run becomes a wait that the fence records, or is handed to a person."""
        try:
            step = await self._agent.step(held)
        except RunFailed as error:
            return await self._after_run(held, error)
        except OSError as error:  # a full disk is emptied one day; nothing else of it is ours to foresee
            raise as_disk_full(error) or error from error
        self._not_before = 0.0
        return step

    async def _after_run(self, held: Held, error: RunFailed) -> Step:
        now, history = held.server_now(), History.read(held.fence.failures)
        pause = after(Category(error.category), history, now=now, reset=error.reset)
        if isinstance(pause, GiveUp):
            return await self._fail(held, used_up(error, pause.attempts))
        await park(held, pause)
        seconds = (pause.until - now).total_seconds()
        self._not_before = self._clock.boot() + seconds
        log.warning("run_failed", outcome="retrying", category=error.category, seconds=seconds, error=str(error))
        if seconds >= TOLD_SECONDS:
            await self._agent.wait(held, str(error))
        if not pause.keeps_lease(now):
            return Ended(Result.PARKED, f"waits until {pause.until:%Y-%m-%d %H:%M} UTC: {error}")
        return Rest(pause.reason, pause.until, str(error))

    def _wait(self, refusal: Unauthorized) -> Rest:
        """Wait for a token that works: the next tick that GitHub answers goes on from here if the lease still lasts."""
        self.refusal = refusal
        log.warning("step_failed", outcome="retrying", error=str(refusal))
        return Rest("token", sentence=str(refusal))

    def _back_off(self, error: Transient) -> Rest:
        """Retry the first failure at the next tick, later ones after 2, 4, 8 ... intervals.

        Late data has shorter intervals, and does not wait for a poll. A rate limit is retried at each tick: while it
        lasts nothing is sent, and with longer pauses an agent would find it used up by others again and again.
        """
        if error.is_limit:
            log.warning("step_failed", outcome="retrying", error=str(error), failures=self._failures)
            return Rest("backoff", sentence=str(error))
        self._failures += 1
        self._is_late = error.seconds is not None
        interval = min(self._interval, max(LATE_SECONDS, error.seconds or 0.0)) if self._is_late else self._interval
        if self._failures > 1 or self._is_late:
            pause = min(interval * 2.0 ** (self._failures - 1), BACKOFF_CAP_SECONDS)
            self._not_before = max(self._not_before, self._clock.boot() + pause)
        log.warning("step_failed", outcome="retrying", error=str(error), failures=self._failures)
        return Rest("backoff", sentence=str(error))

    async def _fail(self, held: Held, error: Blocked) -> Step:
        """Hand it to a person; if that fails for now, retry later, without another step, which might be a paid one."""
        try:
            await self._agent.fail(held, error)
        except Unauthorized as refusal:
            self._untold = error
            return self._wait(refusal)
        except Transient as failure:
            self._untold = error
            return self._back_off(failure)
        except Gone as gone:
            await self._abandon(held, gone)
            return Ended(Result.WITHDRAWN, f"it is gone: {gone}")
        return Ended(Result.FAILED, str(error))

    async def _rest(self, rest: Rest, slot: Slot) -> None:
        log.info("item_resting", reason=rest.reason)
        slot.give()
        await self._sleep(rest)
        slot.look()

    async def _wait_for_slot(self, slot: Slot) -> None:
        """Wait for a slot to go on with, unless it still holds its own; a person's order and leaving end the wait."""
        if not slot.go_on(self.let_go):
            log.info("item_resting", reason=SLOT_TAKEN.reason)
        while not (slot.is_held or self._revoked or self._leaving()):
            await self._sleep(SLOT_TAKEN)

    async def _sleep(self, rest: Rest) -> None:
        """Rest until something wakes the item."""
        self._woken = anyio.Event()
        self._scope = anyio.CancelScope()
        self.resting = rest
        self._changed()
        await self._woken.wait()
        self.resting, self._is_late = None, False


def own_fault(error: Exception) -> str:
    """Return the text about a bug for people, without values, which may be secret; the log has the traceback."""
    return f"The engine met an error of its own: {type(error).__name__}."
