"""hold: the block ends with its lease, its own errors come out as they are, and the lease is released."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeVar

import anyio
import pytest
from fakes.lock_port import KEY, KEYS, FakeAgent, FakePort
from fakes.lock_server import BOT, Fault, Server
from lock_world import TERMS

from shared.errors import Blocked, EngineError, Lost, Transient
from shared.lock.codec import AckState
from shared.lock.comment import trusted
from shared.lock.hold import release
from shared.lock.lease import Lease
from shared.lock.port import EditComment, Operation, ReadComment, ReadFence, Reply
from shared.lock.scope import hold

T = TypeVar("T")


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
        assert held.ack.revision == 1
    assert state(server, lease) is AckState.RELEASED
    with pytest.raises(Lost):
        held.check()


async def test_losing_the_lease_cancels_the_block(
    server: Server, alice: FakeAgent, lease: Lease, port: LoopPort
) -> None:
    """The fence is free only after the block has ended, because an agent that waits for it begins at once."""
    ended: list[bool] = []

    async def work() -> None:
        async with hold(port, lease, alice.claimant):
            await port.wake()
            try:
                await anyio.Event().wait()
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.lowlevel.checkpoint()  # a coder takes a moment to end
                fence = server.fence(KEY)
                ended.append(fence is not None and fence.free)

    server.edit(lease.ack.id, "I do this myself.")
    with pytest.raises(Lost, match="edited"):
        await work()
    assert ended == [False]
    fence = server.fence(KEY)
    assert fence is not None
    assert fence.free
    assert port.count(EditComment) == 0


async def test_a_loss_that_the_block_ignored_is_raised_at_its_end(
    server: Server, alice: FakeAgent, lease: Lease, port: LoopPort
) -> None:
    async def work() -> None:
        async with hold(port, lease, alice.claimant) as held:
            with suppress(Lost):
                held.check()

    server.seconds += TERMS.self_fence
    with pytest.raises(Lost, match="no heartbeat"):
        await work()
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
    async def work() -> None:
        async with hold(port, lease, alice.claimant):
            await port.wake()
            await anyio.Event().wait()

    bug = EngineError("none of the families")
    port.plan(on, bug)
    with pytest.raises(EngineError) as raised:
        await work()
    assert raised.value is bug


async def test_releasing_does_not_wait_for_ever(server: Server, alice: FakeAgent, lease: Lease) -> None:
    async with hold(HungPort(server), lease, alice.claimant, release_seconds=0):
        pass
    assert state(server, lease) is AckState.ACTIVE
