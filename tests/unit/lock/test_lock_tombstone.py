"""The holder of an item, in words, and the tombstone on another kind's fence after the item has ended."""

from __future__ import annotations

import pytest
from fakes.lock_port import KEY, FakeAgent, run
from fakes.lock_server import Server

from shared.lock.claimant import LockTimes
from shared.lock.codec import ItemKey
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance, end_resting_fence
from shared.workflow import Role, Stage


def test_a_look_names_the_holder_to_everybody_but_itself(server: Server) -> None:
    alice, bob = FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")
    assert bob.observe().other_holder == ""
    alice.win()
    assert bob.observe().other_holder == "worker-a"
    assert alice.observe().other_holder == ""
    server.seconds += LockTimes().timeout + 1
    assert bob.observe().other_holder == "worker-a, which shows no sign of life,"
    server.seconds += LockTimes().look_again
    assert bob.observe().other_holder == ""


@pytest.mark.parametrize(("rests_at", "after"), [(Stage.REVIEWING, Stage.DONE), (Stage.TESTING, Stage.TESTING)])
def test_only_a_fence_that_rests_where_it_was_left_is_buried(server: Server, rests_at: Stage, after: Stage) -> None:
    worker = FakeAgent(server, "worker-a")
    held = worker.win()
    run(worker.port, advance(held, FenceChange(stage=rests_at, phase="x")))
    run(worker.port, end_resting_fence(held, KEY, Stage.REVIEWING))
    fence = server.fence(KEY)
    assert fence is not None
    assert fence.stage is after


def test_where_there_is_no_fence_nothing_is_written(server: Server) -> None:
    worker = FakeAgent(server, "worker-a")
    held = worker.win()
    before = dict(server.refs)
    run(worker.port, end_resting_fence(held, ItemKey(Role.WORKER, 999), Stage.REVIEWING))
    assert server.refs == before
