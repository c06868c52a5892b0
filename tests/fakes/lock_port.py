"""The lock's port over one server, by hand or on an event loop. By hand, `Run.step` carries out one operation.

A test chooses every interleaving. Faults are planned per port; a test checks that each was met.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

import anyio
import anyio.lowlevel

from fakes.lock_server import BOT, Fault, Plan, Server
from shared.errors import EngineError, Transient, UnknownOutcome
from shared.lock.claim import Intent, claim
from shared.lock.claimant import Claimant, LockTimes
from shared.lock.codec import ItemKey
from shared.lock.hold import Held, begin
from shared.lock.lease import Lease
from shared.lock.port import AdvanceFence, Operation, Reply
from shared.lock.view import LockView, observe
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Role, Stage

T = TypeVar("T")
R = TypeVar("R")

KEY = ItemKey(Role.WORKER, 42)
KEYS = Keyring(99, (Key.of(b"k" * 32),))


@dataclass
class Step(Generic[T]):
    """A coroutine's wish: an operation to be carried out, or seconds to pass."""

    wish: Operation[T] | float

    def __await__(self) -> Generator[Step[T], Reply[T], Reply[T]]:
        return (yield self)


@dataclass
class FakePort:
    """One agent's port. `boot_offset` grows in `suspend`, `skew` is its wall clock's error, in seconds;
    `sure` is False where the server's time cannot be trusted."""

    server: Server
    skew: float = 0.0
    boot_offset: float = 1000.0
    sure: bool = True
    done: list[Operation[Any]] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    plans: list[tuple[type[Operation[Any]], Plan | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.server.planned.append(self.plans)

    def plan(self, on: type[Operation[Any]], *plans: Plan | None) -> None:
        """Let the next operations of a kind meet these faults, in order; None: no fault."""
        self.plans += [(on, plan) for plan in plans]

    def count(self, *kinds: type[Operation[Any]]) -> int:
        """Return how many operations of these kinds were sent."""
        return sum(isinstance(operation, kinds) for operation in self.done)

    async def request(self, operation: Operation[T]) -> Reply[T]:
        """Wait until the test carries the operation out."""
        return await Step(operation)

    async def sleep(self, seconds: float) -> None:
        """Wait until the test lets the time pass."""
        await Step[None](seconds)

    def now(self) -> float:
        """The local wall clock."""
        return self.server.at.timestamp() + self.skew

    def boot(self) -> float:
        """The boot clock, which has nothing to do with the wall clock."""
        return self.server.seconds + self.boot_offset

    def answer(self, operation: Operation[Any]) -> Reply[Any]:
        """Carry out one operation, with the fault that is planned for it."""
        self.done.append(operation)
        plan = self._next_plan(operation)
        if isinstance(plan, EngineError):
            raise plan
        if plan in {Fault.FAILED, Fault.LOST, Fault.LATE}:
            if plan is Fault.LATE:
                self.server.delay(operation)
            raise Transient if plan is Fault.FAILED else UnknownOutcome
        value = self.server.carry_out(operation, plan)
        if plan is Fault.TWICE:
            value = self.server.carry_out(operation, None)
        if plan is Fault.REPLY_LOST:
            raise UnknownOutcome
        return Reply(value, self.server.at, sure=self.sure)

    def _next_plan(self, operation: Operation[Any]) -> Plan | None:
        for index, (kind, plan) in enumerate(self.plans):
            if isinstance(operation, kind):
                del self.plans[index]
                return plan
        return None


class ServerPort:
    """The port on a running event loop: pauses shorter than a heartbeat are over at once, longer ones never end."""

    def __init__(self, server: Server) -> None:
        self.server = server

    async def request(self, operation: Operation[T]) -> Reply[T]:
        """Carry out the operation."""
        return Reply(cast("T", self.server.carry_out(operation, None)), self.server.at)

    async def sleep(self, seconds: float) -> None:
        """Return at once for a short pause, else wait until cancelled."""
        if seconds >= 60:
            await anyio.Event().wait()
        await anyio.lowlevel.checkpoint()
        self.server.seconds += seconds

    def now(self) -> float:
        """Wall clock."""
        return self.server.at.timestamp()

    def boot(self) -> float:
        """Boot clock."""
        return 1000 + self.server.seconds


class ServerClock(ServerPort):
    """A clock whose time is the server's, on which all pauses are over at once."""

    async def sleep(self, seconds: float) -> None:
        self.server.seconds += seconds


@dataclass
class FencePort:
    """A port on which only fences move; each advance succeeds and is remembered."""

    at: datetime
    advances: list[AdvanceFence] = field(default_factory=list)

    async def request(self, operation: Operation[Any]) -> Reply[Any]:
        assert isinstance(operation, AdvanceFence)
        self.advances.append(operation)
        return Reply(f"{len(self.advances):040x}", self.at)

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing waits here")

    def now(self) -> float:
        return self.at.timestamp()

    def boot(self) -> float:
        return 0.0


_NOTHING: Operation[Any] = Operation()


class Run(Generic[R]):
    """A coroutine and its present wish; `step` fulfils exactly one wish."""

    def __init__(self, port: FakePort, coroutine: Coroutine[Any, Any, R]) -> None:
        self._port = port
        self._coroutine = coroutine
        self.error: BaseException | None = None
        self.result: R | None = None
        self.finished = False
        self.waits_for: Operation[Any] | float = _NOTHING
        self._wakes_at = 0.0
        self._resume(lambda: coroutine.send(None))

    def step(self) -> None:
        """Carry out the operation that the coroutine waits for, or let its pause pass."""
        wish = self.waits_for
        if isinstance(wish, Operation):
            try:
                reply: Reply[Any] | None = self._port.answer(wish)
            except EngineError as error:
                raised = error
                self._resume(lambda: self._coroutine.throw(raised))
                return
        else:
            self._port.slept.append(wish)
            self._port.server.seconds = max(self._port.server.seconds, self._wakes_at)
            reply = None
        self._resume(lambda: self._coroutine.send(reply))

    def until(self, kind: type[Operation[Any]]) -> None:
        """Go on until an operation of this kind is next; it is not carried out."""
        while not isinstance(self.waits_for, kind):
            assert not self.finished, f"ended without any {kind.__name__}"
            self.step()

    def finish(self) -> R:
        """Go on to the end; returns the result or raises what the coroutine raised."""
        while not self.finished:
            self.step()
        if self.error is not None:
            raise self.error
        return cast("R", self.result)

    def crash(self) -> None:
        """Let the process die here."""
        self._coroutine.close()
        self.finished = True

    def _resume(self, go: Callable[[], Step[Any]]) -> None:
        try:
            self.waits_for = go().wish
            if not isinstance(self.waits_for, Operation):
                self._wakes_at = self._port.server.seconds + self.waits_for
        except StopIteration as stop:
            self.result, self.finished, self.waits_for = stop.value, True, _NOTHING
        except EngineError as error:
            self.error, self.finished, self.waits_for = error, True, _NOTHING


def run(port: FakePort, coroutine: Coroutine[Any, Any, R]) -> R:
    """Drive one coroutine alone to its end."""
    return Run(port, coroutine).finish()


class FakeNonces:
    """Nonces of one state directory; counted, so that a test can tell them apart."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.count = 0
        self.kept: set[str] = set()

    def fresh(self) -> str:
        """A new nonce."""
        self.count += 1
        nonce = hashlib.md5(f"{self._name}{self.count}".encode()).hexdigest()
        self.kept.add(nonce)
        return nonce

    def mine(self, nonce: str) -> bool:
        """Return whether the nonce is remembered."""
        return nonce in self.kept

    def forget(self, nonce: str) -> None:
        """Remove it; removing it twice is a mistake of the lock."""
        self.kept.remove(nonce)


class FakeAgent:
    """An agent with its port and its state directory; `restart` is the same agent in a new process."""

    def __init__(self, server: Server, name: str, *, keys: Keyring = KEYS, terms: LockTimes | None = None) -> None:
        self.port = FakePort(server)
        self.nonces = FakeNonces(name)
        self.claimant = Claimant(name, frozenset({BOT.id}), keys, self.nonces, terms or LockTimes())

    def observe(self) -> LockView:
        """Look at the lock once."""
        return run(self.port, observe(self.port, KEY, self.claimant))

    async def attempt(self, **facts: Any) -> Lease | None:
        """Look and claim, as a tick does."""
        view = await observe(self.port, KEY, self.claimant)
        return await claim(self.port, view, self.claimant, Intent(Stage.IMPLEMENTING, **facts))

    def claim(self, **facts: Any) -> Lease | None:
        """`attempt`, driven alone to its end."""
        return run(self.port, self.attempt(**facts))

    def take_over(self, **facts: Any) -> Lease | None:
        """Look at an epoch that is dead, and claim it by the second look, a minute later."""
        assert self.claim(**facts) is None
        self.port.server.seconds += self.claimant.times.look_again
        return self.claim(**facts)

    def begin(self, **facts: Any) -> Run[Lease | None]:
        """`attempt`, to be driven by the test."""
        return Run(self.port, self.attempt(**facts))

    def win(self, **facts: Any) -> Held:
        """Claim, which must succeed, and hold."""
        lease = self.claim(**facts)
        assert lease is not None
        return begin(self.port, lease, self.claimant)

    def restart(self) -> FakeAgent:
        """The agent after a crash: only its state directory is left."""
        again = FakeAgent(self.port.server, self.claimant.agent, keys=self.claimant.keys, terms=self.claimant.times)
        again.nonces.kept, again.nonces.count = self.nonces.kept, self.nonces.count
        return again
