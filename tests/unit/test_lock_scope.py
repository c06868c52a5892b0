"""hold: the block ends with its lease, its own errors come out as they are, and the lease is released."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import anyio
import pytest
from fake_port import KEYS, FakeAgent, FakePort
from fake_server import BOT, Fault, Server

from shared.errors import Blocked, EngineError, Lost, Transient
from shared.lock import scope
from shared.lock.claim import Lease, Terms
from shared.lock.codec import AckState, trusted
from shared.lock.hold import release
from shared.lock.port import EditComment, Operation, ReadComment, ReadFence, Reply
from shared.lock.scope import hold

T = TypeVar("T")
TERMS = Terms()


class LoopPort(FakePort):
    """The same port on a real event loop: requests are answered at once, a pause lasts until `wake`."""

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self.paused = anyio.Event()
        self._wake = anyio.Event()

    async def request(self, operation: Operation[T]) -> Reply[T]:
        await anyio.lowlevel.checkpoint()
        return self.answer(operation)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.paused.set()
        await self._wake.wait()
        self.server.seconds += seconds

    async def wake(self) -> None:
        """Let the pause of the heartbeat pass, once it has begun."""
        await self.paused.wait()
        self.paused, woken, self._wake = anyio.Event(), self._wake, anyio.Event()
        woken.set()


class HungPort(LoopPort):
    """GitHub no longer answers edits at all."""

    async def request(self, operation: Operation[T]) -> Reply[T]:
        if isinstance(operation, EditComment):
            await anyio.Event().wait()
        return await super().request(operation)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.check_all_met()


@pytest.fixture
def alice(server: Server) -> FakeAgent:
    return FakeAgent(server, "worker-a")


@pytest.fixture
def lease(alice: FakeAgent) -> Lease:
    lease = alice.claim()
    assert lease is not None
    return lease


@pytest.fixture
def port(server: Server) -> LoopPort:
    return LoopPort(server)


def state(server: Server, lease: Lease) -> AckState | None:
    ack = trusted(server.comments()[lease.ack.id], {BOT.id}, KEYS)
    return ack.state if ack else None


async def test_the_block_holds_and_then_releases(
    server: Server, alice: FakeAgent, lease: Lease, port: LoopPort
) -> None:
    async with hold(port, lease, alice.claimant) as held:
        held.check()
        assert state(server, lease) is AckState.ACTIVE
        await port.wake()
        await port.paused.wait()
        assert held.ack.heartbeat == 1
    assert state(server, lease) is AckState.RELEASED
    with pytest.raises(Lost):
        held.check()


async def test_losing_the_lease_cancels_the_block(
    server: Server, alice: FakeAgent, lease: Lease, port: LoopPort
) -> None:
    cancelled = False
    server.delete(lease.ack.id)
    with pytest.raises(Lost, match="deleted"):
        async with hold(port, lease, alice.claimant):
            await port.wake()
            try:
                await anyio.Event().wait()
            except anyio.get_cancelled_exc_class():
                cancelled = True
                raise
    assert cancelled
    assert port.count(EditComment) == 0


async def test_a_loss_that_the_block_did_not_notice_is_raised_at_its_end(
    server: Server, alice: FakeAgent, lease: Lease, port: LoopPort
) -> None:
    server.seconds += TERMS.self_fence
    with pytest.raises(Lost, match="no heartbeat"):
        async with hold(port, lease, alice.claimant) as held:
            with pytest.raises(Lost):
                held.check()
    assert state(server, lease) is AckState.ACTIVE


@pytest.mark.parametrize("error", [Transient("later"), Blocked("ask"), Lost("seen"), ValueError("a bug")])
async def test_what_the_block_raises_comes_out_unwrapped(
    server: Server, alice: FakeAgent, lease: Lease, port: LoopPort, error: Exception
) -> None:
    with pytest.raises(type(error)) as raised:
        async with hold(port, lease, alice.claimant):
            raise error
    assert raised.value is error
    assert state(server, lease) is AckState.RELEASED


async def test_an_error_of_the_block_outweighs_a_failing_release(
    alice: FakeAgent, lease: Lease, port: LoopPort
) -> None:
    port.plan(EditComment, Fault.FAILED)
    with pytest.raises(Blocked, match="ask"):
        async with hold(port, lease, alice.claimant):
            raise Blocked("ask")


async def test_cancelling_from_outside_releases(server: Server, alice: FakeAgent, lease: Lease, port: LoopPort) -> None:
    with anyio.CancelScope() as outer:
        async with hold(port, lease, alice.claimant):
            outer.cancel()
            await anyio.Event().wait()
    assert outer.cancelled_caught
    assert state(server, lease) is AckState.RELEASED


async def test_a_block_that_has_released_ends_quietly(
    server: Server, alice: FakeAgent, lease: Lease, port: LoopPort
) -> None:
    async with hold(port, lease, alice.claimant) as held:
        assert await release(held, AckState.DONE)
    assert state(server, lease) is AckState.DONE


@pytest.mark.parametrize("on", [ReadComment, ReadFence])
async def test_a_bug_in_the_heartbeat_ends_the_block_as_itself(
    alice: FakeAgent, lease: Lease, port: LoopPort, on: type[ReadComment | ReadFence]
) -> None:
    bug = EngineError("none of the families")
    port.plan(on, bug)
    with pytest.raises(EngineError) as raised:
        async with hold(port, lease, alice.claimant):
            await port.wake()
            await anyio.Event().wait()
    assert raised.value is bug


async def test_releasing_does_not_wait_for_ever(
    server: Server, alice: FakeAgent, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope, "RELEASE_SECONDS", 0.01)
    async with hold(HungPort(server), lease, alice.claimant):
        pass
    assert state(server, lease) is AckState.ACTIVE
