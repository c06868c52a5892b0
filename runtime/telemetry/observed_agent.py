"""Emits an agent's events: its ticks are the sign that the process lives, its runs end in events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

import anyio

from shared.errors import Blocked, EngineError, Lost, Transient, Unauthorized
from shared.github.waits import reporting_waits
from shared.lock.hold import Held
from shared.lock.lease import Lease
from shared.scheduling.agent_contract import Agent, Candidate, Claim, Ended, Result, Skip, Step
from shared.telemetry.event_recorder import EventRecorder, working_on
from shared.telemetry.events import EventKind
from shared.telemetry.health_state import HealthState
from shared.workflow import Stage


class ObservedAgent:
    """An agent that passes everything on and records events; satisfies `shared.scheduling.agent_contract.Agent`."""

    def __init__(self, agent: Agent, event_recorder: EventRecorder, health: HealthState) -> None:
        self._agent, self._recorder, self._health = agent, event_recorder, health
        self.role, self.repository, self.wait = agent.role, agent.repository, agent.wait
        self._ends: dict[int, Ended] = {}
        self._refused = False

    async def discover(self) -> Sequence[Candidate]:
        """Return everything that may have work; that it could be asked is the sign that GitHub answers."""
        self._health.ticked(self.repository)
        self._recorder.look_at_pace()
        try:
            with reporting_waits(self._waits):
                found = await self._agent.discover()
        except Unauthorized as error:
            self._note_token(str(error))
            raise
        self._note_token("")
        self._health.answered(self.repository)
        return found

    def _waits(self) -> None:
        """Count a tick that waits for its turn to read or write as a sign of life."""
        self._health.ticked(self.repository)

    def _note_token(self, refusal: str) -> None:
        if bool(refusal) is not self._refused:
            self._refused = bool(refusal)
            self._health.refused = {self.repository: refusal} if refusal else {}
            state = "token_refused" if refusal else "token_accepted"
            self._recorder.tell(EventKind.AGENT, state=state, reason=refusal or None)

    async def prepare(self, candidate: Candidate) -> Claim | Skip:
        """Look at one candidate closely; return the claim that may be made of it."""
        with reporting_waits(self._waits):
            got = await self._agent.prepare(candidate)
        return got if isinstance(got, Skip) else partial(self._claim, got)

    async def _claim(self, claim: Claim) -> Lease | Skip:
        with reporting_waits(self._waits):
            return await claim()

    @asynccontextmanager
    async def hold(self, lease: Lease) -> AsyncIterator[Held]:
        """Keep the lease alive while the block runs, whose end is the end of the run."""
        number, fence, outside = lease.fence.key.number, lease.fence, ""
        self._ends.pop(number, None)
        try:
            async with self._agent.hold(lease) as held:
                with working_on(held):
                    try:
                        yield held
                    finally:
                        fence = held.fence
        except (Lost, Transient) as error:
            self._ends[number] = Ended(Result.LOST, str(error))
            raise
        except Exception as error:
            sentence = str(error) if isinstance(error, EngineError) else f"an error of its own: {type(error).__name__}"
            self._ends[number] = Ended(Result.FAILED, sentence)
            raise
        except anyio.get_cancelled_exc_class():
            outside = "stopped"
            raise
        finally:
            usual = Ended(Result.WITHDRAWN if fence.stage is Stage.WITHDRAWN else Result.PARKED, "")
            ended = self._ends.pop(number, usual)
            self._recorder.tell(EventKind.ENDED, fence, status=outside or ended.result, sentence=ended.sentence or None)

    async def step(self, held: Held) -> Step:
        """Observe, decide, act - once."""
        step = await self._agent.step(held)
        if isinstance(step, Ended):
            self._ends[held.fence.key.number] = step
        return step

    async def revoked(self, number: int) -> str | None:
        """Return why a person's order ends the work on an item we hold; None if nothing does."""
        with reporting_waits(self._waits):
            return await self._agent.revoked(number)

    async def stop(self, held: Held, reason: str) -> None:
        """End the work on a person's order."""
        self._ends[held.fence.key.number] = Ended(Result.WITHDRAWN, reason)
        await self._agent.stop(held, reason)

    async def fail(self, held: Held, error: Blocked) -> None:
        """Hand the item to a person."""
        before = held.fence
        await self._agent.fail(held, error)
        self._ends[held.fence.key.number] = Ended(Result.FAILED, str(error))
        retried = bool(before.failures)
        self._recorder.tell(EventKind.ESCALATION, before, category=error.category, sentence=str(error), retried=retried)
