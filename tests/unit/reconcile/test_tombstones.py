"""A tombstone on a fence whose item is gone: only where nobody can be at work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from fakes.lock_port import KEY, FakeAgent, run
from fakes.lock_server import Server
from lock_world import TERMS

from shared.errors import Gone
from shared.lock.fence import Fence
from shared.lock.port import ReadComments
from shared.reconcile.tombstones import end_unheld_fence
from shared.workflow import Stage


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.check_all_met()


@pytest.fixture
def left(server: Server) -> Fence:
    """Push a fence of an older engine for an issue that was transferred since, so that its comment cannot be read."""
    fence = replace(FakeAgent(server, "worker-a").win().fence, format=1, oid="")
    oid = server.push(fence, server.refs[KEY.ref], "", ())
    assert oid is not None
    return replace(fence, oid=oid)


def buried(server: Server, left: Fence, *, sure: bool = True) -> bool:
    bob = FakeAgent(server, "worker-b")
    bob.port.sure = sure
    bob.port.plan(ReadComments, Gone())
    return run(bob.port, end_unheld_fence(bob.port, bob.claimant, left, Stage.WITHDRAWN))


def test_what_is_gone_is_buried_when_its_holder_is_surely_dead(server: Server, left: Fence) -> None:
    server.seconds += TERMS.certain - 1
    assert not buried(server, left)
    server.seconds += 1
    assert not buried(server, left, sure=False), "nobody knows what time it is"
    assert server.refs[KEY.ref] == left.oid
    assert buried(server, left)
    fence = server.fence(KEY)
    assert fence is not None
    assert (fence.stage, fence.free) == (Stage.WITHDRAWN, False)


def test_what_has_moved_meanwhile_is_left(server: Server, left: Fence) -> None:
    server.seconds += TERMS.certain
    assert server.push(replace(left, pr=7, oid=""), left.oid, "", ()) is not None
    assert not buried(server, left)
