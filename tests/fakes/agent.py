"""An agent whose answers a test plans, for the loop that drives it; the test moves the time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import anyio

from fakes.clock import HandClock
from fakes.lock_port import KEYS, FakeNonces, ServerPort
from fakes.lock_server import BOT, EPOCH, Server
from shared.errors import Blocked
from shared.lock.claimant import Claimant
from shared.lock.codec import Ack, ItemKey
from shared.lock.fence import Fence
from shared.lock.hold import Held, begin
from shared.lock.lease import Lease
from shared.scheduling.agent_contract import Agent, Candidate, Claim, Ended, Result, Skip, Step
from shared.scheduling.slots import Slot, Slots
from shared.workflow import Role, Stage

DONE = Ended(Result.HANDED_OVER, "done")
HANG = "hang"
"""A step that never ends by itself."""

INTERVAL = 30.0

Answer = Step | Exception | str | anyio.Event


@dataclass
class FakeAgent:
    """An agent that answers each item as planned, in order; the last answer stays. Unlisted items are done at once.

    A step that is an event lasts until the event and then goes on.
    """

    numbers: list[int]
    steps: dict[int, list[Answer]] = field(default_factory=dict)
    claims: dict[int, Skip | Exception] = field(default_factory=dict)
    orders: dict[int, str | Exception] = field(default_factory=dict)
    discovery: list[Exception] = field(default_factory=list)
    failing: Exception | None = None
    stopping: Exception | None = None
    holding: Exception | None = None
    repository: str = "ada/thing"
    version: str = "1"
    log: list[str] = field(default_factory=list)
    held: set[int] = field(default_factory=set)
    role: Role = Role.WORKER
    server: Server = field(default_factory=Server)

    async def discover(self) -> Sequence[Candidate]:
        await anyio.lowlevel.checkpoint()
        if self.discovery:
            raise self.discovery.pop(0)
        return [Candidate(number, self.version) for number in self.numbers]

    async def prepare(self, candidate: Candidate) -> Claim | Skip:
        self.log.append(f"claim {candidate.number}")
        answer = self.claims.get(candidate.number)
        if isinstance(answer, Exception):
            raise answer
        return answer or partial(self.claim, candidate.number)

    async def claim(self, number: int) -> Lease | Skip:
        """Win the claim."""
        return lease(number)

    @asynccontextmanager
    async def hold(self, lease: Lease) -> AsyncIterator[Held]:
        number = lease.fence.key.number
        self.held.add(number)
        oid = self.server.push(lease.fence, self.server.refs.get(lease.fence.key.ref), "", ())
        lease = replace(lease, fence=replace(lease.fence, oid=oid or ""))
        try:
            yield begin(
                ServerPort(self.server), lease, Claimant("worker-1", frozenset({BOT.id}), KEYS, FakeNonces("n"))
            )
        finally:
            self.held.remove(number)
            self.log.append(f"release {number}")
        if self.holding is not None:
            raise self.holding

    async def step(self, held: Held) -> Step:
        number = held.fence.key.number
        self.log.append(f"step {number}")
        answers = self.steps.get(number, [DONE])
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, str):
            await anyio.sleep_forever()
            raise AssertionError
        if isinstance(answer, anyio.Event):
            await answer.wait()
            return None
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def revoked(self, number: int) -> str | None:
        order = self.orders.get(number)
        if isinstance(order, Exception):
            raise order
        return order

    async def stop(self, held: Held, reason: str) -> None:
        self.log.append(f"stop {held.fence.key.number}: {reason}")
        if self.stopping is not None:
            raise self.stopping

    async def wait(self, held: Held, sentence: str) -> None:
        self.log.append(f"wait {held.fence.key.number}: {sentence}")

    async def fail(self, held: Held, error: Blocked) -> None:
        self.log.append(f"fail {held.fence.key.number}: {error}")
        if self.failing is not None:
            raise self.failing

    def count(self, event: str) -> int:
        """Return how many times an event happened."""
        return self.log.count(event)


async def claimed(agent: Agent, candidate: Candidate) -> Lease | Skip:
    """Let the agent read a candidate and make its claim at once, as if slots were free."""
    claim = await agent.prepare(candidate)
    return claim if isinstance(claim, Skip) else await claim()


def own_slot() -> Slot:
    """Return a held slot that no other item wants."""
    slot = Slot(Slots(1, HandClock()).join(lambda: None))
    assert slot.take()
    return slot


def lease(number: int) -> Lease:
    """A won claim."""
    key = ItemKey(Role.WORKER, number)
    ack = Ack(key, "worker-1", 1, 0, "a" * 32, 1800, id=number)
    return Lease(ack, Fence(key, number, "a" * 32, "worker-1", Stage.IMPLEMENTING, EPOCH), EPOCH, 1000.0)
