"""Paid runs are counted before they begin, where neither a crash nor a failing server can reset them."""

from __future__ import annotations

import pytest
from fakes.lock_port import FakeAgent, run
from fakes.lock_server import Fault, Server

from shared.errors import Transient
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import begin
from shared.lock.port import AdvanceFence
from shared.retry.run_limit import RUNS_PER_STEP, RunsUsedUp, begin_run


def test_runs_are_counted_in_the_fence_and_bounded() -> None:
    server = Server()
    alice = FakeAgent(server, "worker-a")
    held = alice.win()
    for count in range(1, RUNS_PER_STEP + 1):
        run(alice.port, begin_run(held))
        assert held.fence.paid_runs == count
    with pytest.raises(RunsUsedUp):
        run(alice.port, begin_run(held))


@pytest.mark.parametrize(
    "progress", [FenceChange(phase="green"), FenceChange(attempt=1), FenceChange(work_head="1" * 40)]
)
def test_what_is_achieved_begins_the_count_anew(progress: FenceChange) -> None:
    server = Server()
    alice = FakeAgent(server, "worker-a")
    held = alice.win()
    run(alice.port, begin_run(held))
    run(alice.port, advance(held, progress))
    assert held.fence.paid_runs == 0


def test_a_restart_and_another_agent_go_on_counting() -> None:
    server = Server()
    alice, bob = FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")
    run(alice.port, begin_run(alice.win()))
    server.seconds += 4000
    lease = bob.take_over()
    assert lease is not None
    held = begin(bob.port, lease, bob.claimant)
    assert held.fence.paid_runs == 1
    run(bob.port, begin_run(held))
    assert held.fence.paid_runs == 2


def test_a_run_that_cannot_be_counted_is_not_begun() -> None:
    server = Server()
    alice = FakeAgent(server, "worker-a")
    held = alice.win()
    alice.port.plan(AdvanceFence, Fault.FAILED)
    with pytest.raises(Transient):
        run(alice.port, begin_run(held))
    assert held.fence.paid_runs == 0
