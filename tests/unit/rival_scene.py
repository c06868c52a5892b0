"""Workers that want the same issues, in virtual time: the engine's own loops, slots, queues, claims and locks.

Only GitHub is played: each of its answers takes a given time, and no time passes in this machine.
"""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, cast

import anyio
from fakes.lock_port import KEYS, FakeNonces
from fakes.lock_server import BOT, Server

from shared.errors import Blocked
from shared.lock.claim import Intent
from shared.lock.claimant import Claimant
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from shared.lock.lease import Lease
from shared.lock.port import AdvanceFence, Operation, ReadComment, ReadComments, ReadFence, Reply
from shared.loop.claims import OVERTAKEN, Claims
from shared.loop.polling_loop import Loop
from shared.scheduling.agent_contract import Candidate, Claim, Ended, Result, Skip, Step
from shared.scheduling.slots import Slots
from shared.workflow import Role, Stage

T = TypeVar("T")

READS = 3
"""Charged reads between the look at a lock and the claim: the issue, its events, its author's permission."""

POLL_SECONDS = 30.0


class _NoWaiting(selectors.SelectSelector):
    """A selector that moves the loop's time instead of waiting."""

    loop: VirtualTime

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0)
        if not found and timeout:
            self.loop.seconds += timeout
        return found


class VirtualTime(asyncio.SelectorEventLoop):
    """An event loop whose time passes at once."""

    def __init__(self) -> None:
        selector = _NoWaiting()
        selector.loop = self
        self.seconds = 1000.0
        super().__init__(selector)

    def time(self) -> float:
        return self.seconds


class LoopClock:
    """The event loop's time, for everything."""

    def now(self) -> float:
        return anyio.current_time()

    def boot(self) -> float:
        return anyio.current_time()

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


@dataclass
class Counts:
    """The requests and results of all workers."""

    charged: int = 0
    refused: int = 0
    """Pushes of a fence that another one had moved."""
    overtaken: int = 0
    """Claims that were given up right before their push."""
    won: list[tuple[str, str, int]] = field(default_factory=list)
    """Each claim: the worker, its repository and the issue."""
    passed_over: int = 0
    """Claims of an issue while its claimer had listed a more urgent one that was free."""
    most_at_once: int = 0


@dataclass
class Project:
    """A repository: its locks, and the rank of each open issue."""

    name: str
    server: Server = field(default_factory=Server)
    ranks: dict[int, int] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)

    def version(self, number: int) -> str:
        """Return what changes when the issue is claimed, or handed over."""
        return f"{self.free(number)} {number in self.done}"

    def free(self, number: int) -> bool:
        """Return whether nobody has claimed it so far."""
        return number in self.ranks and not any(ref.endswith(f"/{number}") for ref in self.server.refs)


@dataclass
class RivalPort(LoopClock):
    """One worker's way to one repository; each answer takes as long as `latency` says.

    A read that shows what this worker has read before is not charged.
    """

    server: Server
    latency: Callable[[], float]
    counts: Counts
    read: dict[object, object] = field(default_factory=dict)

    def charge(self, what: object, shown: object) -> None:
        """Count a read as charged unless it shows what it showed last time."""
        self.counts.charged += what not in self.read or self.read[what] != shown
        self.read[what] = shown

    async def request(self, operation: Operation[T]) -> Reply[T]:
        """Carry the operation out half way through its time."""
        seconds = self.latency()
        await anyio.sleep(seconds / 2)
        self.server.seconds = anyio.current_time()
        value = self.server.carry_out(operation, None)
        at = self.server.at
        if isinstance(operation, ReadComments | ReadComment):
            self.charge(operation, value)
        elif not isinstance(operation, ReadFence | AdvanceFence):
            self.counts.charged += 1
        self.counts.refused += isinstance(operation, AdvanceFence) and value is None
        await anyio.sleep(seconds / 2)
        return Reply(cast("T", value), at)


class Rival:
    """A worker in one repository; its work takes `work_seconds`."""

    role = Role.WORKER

    def __init__(self, name: str, project: Project, latency: Callable[[], float], counts: Counts, work: float) -> None:
        self.repository, self._name, self._project, self._work = project.name, name, project, work
        self._latency, self._counts = latency, counts
        self._port = RivalPort(project.server, latency, counts)
        claimant = Claimant(name, frozenset({BOT.id}), KEYS, FakeNonces(f"{name}{project.name}"))
        self._claims = Claims(Role.WORKER, self._port, claimant)
        self._listed: dict[int, int] = {}

    async def discover(self) -> Sequence[Candidate]:
        await anyio.sleep(self._latency())
        open_ones = {number: rank for number, rank in self._project.ranks.items() if number not in self._project.done}
        self._listed = open_ones
        queue = sorted((rank, number) for number, rank in open_ones.items())
        return [Candidate(number, self._project.version(number), rank) for rank, number in queue]

    async def prepare(self, candidate: Candidate) -> Claim | Skip:
        view = await self._claims.look(candidate.number)
        if isinstance(view, Skip):
            return view
        for read in range(READS):
            await anyio.sleep(self._latency())
            self._port.charge((candidate.number, read), self._project.version(candidate.number))
        if candidate.number in self._project.done:
            return Skip("it is done", 1800)
        claim = await self._claims.prepare(view, Intent(Stage.IMPLEMENTING, attempt=0))
        return claim if isinstance(claim, Skip) else partial(self._claim, candidate, claim)

    async def _claim(self, candidate: Candidate, claim: Claim) -> Lease | Skip:
        lease = await claim()
        self._counts.overtaken += isinstance(lease, Skip) and lease.reason == OVERTAKEN
        if isinstance(lease, Lease):
            self._counts.won.append((self._name, self.repository, candidate.number))
            ahead = (n for n, rank in self._listed.items() if rank < candidate.rank and self._project.free(n))
            self._counts.passed_over += any(ahead)
        return lease

    def hold(self, lease: Lease) -> AbstractAsyncContextManager[Held]:
        return self._claims.hold(lease)

    async def step(self, held: Held) -> Step:
        await anyio.sleep(self._work)
        await advance(held, FenceChange(stage=Stage.REVIEWING))
        self._project.done.add(held.fence.key.number)
        return Ended(Result.HANDED_OVER, "done")

    async def revoked(self, number: int) -> str | None:
        return None

    async def stop(self, held: Held, reason: str) -> None:
        raise AssertionError(reason)

    async def wait(self, held: Held, sentence: str) -> None:
        raise AssertionError(sentence)

    async def fail(self, held: Held, error: Blocked) -> None:
        raise error


@dataclass(frozen=True)
class Sizes:
    """The sizes of a fleet: `slow` are the seconds between which an answer takes, `work` those of an issue."""

    workers: int
    repositories: int
    issues: int
    slow: tuple[float, float]
    work: float = 60.0
    concurrent: int = 1


def race(sizes: Sizes, seed: int = 1) -> tuple[Counts, float]:
    """Let the workers do all issues, which are there from the start; return the counts and the seconds."""
    return anyio.run(_race, sizes, seed, backend_options={"loop_factory": VirtualTime})


async def _race(sizes: Sizes, seed: int) -> tuple[Counts, float]:
    chance, counts = random.Random(seed), Counts()
    random.seed(seed)  # the loops' own pauses
    projects = [Project(f"ada/p{number}") for number in range(sizes.repositories)]
    for number in range(sizes.issues):
        projects[number % len(projects)].ranks[number + 1] = chance.randrange(3)
    began = anyio.current_time()
    async with anyio.create_task_group() as group:
        for worker in range(sizes.workers):
            slots, loops, at = Slots(sizes.concurrent, LoopClock()), list[Loop](), chance.uniform(0, POLL_SECONDS)
            for one in projects:
                agent = Rival(f"worker-{worker}", one, lambda: chance.uniform(*sizes.slow), counts, sizes.work)
                loops.append(Loop(agent, LoopClock(), slots=slots, interval_seconds=POLL_SECONDS))
                group.start_soon(_driven, loops[-1], at)
            group.start_soon(_watched, loops, counts)
        while sum(len(one.done) for one in projects) < sizes.issues:
            await anyio.sleep(1)
            assert anyio.current_time() - began < 36_000, "it never ends"
        took = anyio.current_time() - began
        group.cancel_scope.cancel()
    return counts, took


async def _driven(loop: Loop, after_seconds: float) -> None:
    await anyio.sleep(after_seconds)
    async with loop.open():
        await loop.run(anyio.Event())


async def _watched(loops: Sequence[Loop], counts: Counts) -> None:
    while True:
        counts.most_at_once = max(counts.most_at_once, sum(loop.busy for loop in loops))
        await anyio.sleep(1)
