"""One item in work, from its claim to its end: step, rest until woken, stop when revoked."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

import anyio
import structlog

from shared.clock import Clock
from shared.errors import Blocked, Lost, RunFailed, Transient
from shared.items import Agent, Ended, Rest, Result, Step
from shared.lock.claim import Lease
from shared.lock.hold import Held
from shared.telemetry.logging import bind_item

log = structlog.get_logger()

BACKOFF_CAP_SECONDS = 900.0
"""The longest pause after failures in a row on one item."""

PAID_RETRIES = 5
"""A failed run is repeated so often; then a person decides, because every one may have cost money."""

STOP_SECONDS = 60.0
"""How long ending the work on a person's order may take."""


class Pursuit:
    """What a loop knows of one held item. Nothing that happens here reaches other items."""

    def __init__(
        self, number: int, agent: Agent, clock: Clock, interval_seconds: float, changed: Callable[[], None]
    ) -> None:
        self.number = number
        self.resting: Rest | None = None
        self.broken = False
        """It ended without a person being told: whoever begins it again should not do so at once."""
        self._agent = agent
        self._clock = clock
        self._interval = interval_seconds
        self._changed = changed
        self._scope = anyio.CancelScope()
        self._woken = anyio.Event()
        self._revoked = ""
        self._failures = 0
        self._paid_failures = 0
        self._not_before = 0.0

    @property
    def active(self) -> bool:
        """False while it rests and nobody has woken it."""
        return self.resting is None or self._woken.is_set()

    def wake(self) -> None:
        """Let a resting item look again, unless it backs off."""
        if self._clock.boot() >= self._not_before:
            self._woken.set()

    def revoke(self, reason: str) -> None:
        """End it on a person's order; a step that runs is cancelled."""
        self._revoked = self._revoked or reason
        self._scope.cancel()
        self._woken.set()

    async def run(self, lease: Lease) -> Ended:
        """Work as the holder until the item has ended; the lease is released in any case."""
        ended = Ended(Result.LOST, "the lease was lost")
        with bind_item(repo=self._agent.repository, issue=self.number):
            try:
                async with self._agent.hold(lease) as held:
                    ended = await self._work(held)
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

    async def _work(self, held: Held) -> Ended:
        while True:
            step: Step = None
            with self._scope:
                if not self._revoked:
                    step = await self._guarded(held)
            if self._revoked:
                with anyio.move_on_after(STOP_SECONDS, shield=True):
                    await self._agent.stop(held, self._revoked)
                return Ended(Result.WITHDRAWN, self._revoked)
            match step:
                case Ended():
                    return step
                case Rest():
                    await self._rest(step)
                case None:
                    self._scope = anyio.CancelScope()
                case _:
                    assert_never(step)

    async def _guarded(self, held: Held) -> Step:
        """A step whose errors become decisions: rest and retry, or hand to a person."""
        try:
            step = await self._agent.step(held)
        except Lost:
            raise
        except Transient as error:
            self._paid_failures += isinstance(error, RunFailed)
            if self._paid_failures > PAID_RETRIES:
                return await self._fail(held, Blocked(f"{error} It failed {self._paid_failures} times in a row."))
            return self._back_off(error)
        except Blocked as error:
            return await self._fail(held, error)
        except Exception as error:
            log.exception("step_failed", outcome="failed")
            return await self._fail(held, Blocked(own_fault(error)))
        self._failures, self._paid_failures, self._not_before = 0, 0, 0.0
        return step

    def _back_off(self, error: Transient) -> Rest:
        """The first failure is tried again at the next tick, later ones after 2, 4, 8 ... intervals."""
        self._failures += 1
        if self._failures > 1:
            pause = min(self._interval * 2.0 ** (self._failures - 1), BACKOFF_CAP_SECONDS)
            self._not_before = self._clock.boot() + pause
        log.warning("step_failed", outcome="retrying", error=str(error), failures=self._failures)
        return Rest("backoff", sentence=str(error))

    async def _fail(self, held: Held, error: Blocked) -> Ended:
        await self._agent.fail(held, error)
        return Ended(Result.FAILED, str(error))

    async def _rest(self, rest: Rest) -> None:
        log.info("item_resting", reason=rest.reason)
        self._woken = anyio.Event()
        self._scope = anyio.CancelScope()
        self.resting = rest
        self._changed()
        await self._woken.wait()
        self.resting = None


def own_fault(error: Exception) -> str:
    """What people are told of a bug: no value of it, because that may be a secret; the log has the traceback."""
    return f"The engine met an error of its own: {type(error).__name__}."
