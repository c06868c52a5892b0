"""Claimants at the same time: every interleaving of their operations, with fresh and with stale reads."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from fakes.lock_port import KEY, FakeAgent, Run, run
from fakes.lock_server import Hidden, Server
from lock_world import TERMS

from shared.errors import Lost
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import beat, begin, release
from shared.lock.lease import Lease
from shared.lock.port import EditComment, PostComment, ReadComment, ReadComments

STEPS = 6
"""An attempt: fence, thread, compare-and-swap, another one before the first comment, POST, the record of its id."""

COMMENTS = (ReadComments, ReadComment, PostComment)


def interleavings(first: int, second: int) -> Iterator[tuple[int, ...]]:
    """Yield every order in which two agents can take so many steps each (0 and 1)."""
    if not first or not second:
        yield (0,) * first + (1,) * second
        return
    yield from ((0, *rest) for rest in interleavings(first - 1, second))
    yield from ((1, *rest) for rest in interleavings(first, second - 1))


def drive(attempts: list[Run[Lease | None]], order: tuple[int, ...]) -> list[Lease | None]:
    """Take steps in this order, then finish whoever is left, the first one first."""
    for index in order:
        attempt = attempts[index]
        if not attempt.finished:
            attempt.step()
        if isinstance(attempt.waits_for, float | int):
            attempt.step()
    return [attempt.finish() for attempt in attempts]


def fresh(server: Server) -> None:
    """Assert that the thread is empty."""
    assert server.comments() == {}


def expired(server: Server) -> None:
    FakeAgent(server, "worker-z").win()
    server.seconds += TERMS.certain


def released(server: Server) -> None:
    agent = FakeAgent(server, "worker-z")
    assert run(agent.port, release(agent.win()))


def abandoned(server: Server) -> None:
    """Leave an expired fence whose comment was never asked for."""
    attempt = FakeAgent(server, "worker-z").begin()
    attempt.until(PostComment)
    attempt.crash()
    server.seconds += TERMS.certain


def looked(server: Server, agents: list[FakeAgent]) -> None:
    """Have all agents see a minute earlier that nobody is alive; where that is not needed, it changes nothing."""
    for agent in agents:
        agent.observe()
    server.seconds += TERMS.look_again
    for agent in agents:
        agent.port.done.clear()


@pytest.mark.fault(40)
@pytest.mark.parametrize("past", [fresh, expired, released, abandoned])
def test_of_two_claimants_exactly_one_wins_in_every_interleaving(past: Callable[[Server], None]) -> None:
    for order in interleavings(STEPS, STEPS):
        server = Server()
        past(server)
        agents = [FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")]
        looked(server, agents)
        leases = drive([agent.begin() for agent in agents], order)
        assert sum(lease is not None for lease in leases) == 1, order
        for agent, lease in zip(agents, leases, strict=True):
            assert lease or agent.port.count(PostComment, EditComment) == 0, f"the loser wrote something: {order}"
        assert all(newer.epoch >= older.epoch for newer, older in pairwise(server.lineage(KEY))), order
        assert len(server.comments()) == 1, order


@pytest.mark.parametrize("past", [fresh, expired])
def test_when_neither_sees_the_other_the_fence_lets_one_through(past: Callable[[Server], None]) -> None:
    """Reads lag behind without bound: the fence alone decides, and each fence has its own parent."""
    for order in interleavings(STEPS, STEPS):
        server = Server()
        past(server)
        agents = [FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")]
        looked(server, agents)
        for agent, other in zip(agents, reversed(agents), strict=True):
            unseen = Hidden(text=other.claimant.agent)
            agent.port.plan(ReadComments, *[unseen] * (past is fresh))
        attempts = [agent.begin() for agent in agents]
        lost = [attempt for attempt, lease in zip(attempts, drive(attempts, order), strict=True) if lease is None]
        assert len(lost) == 1, order
        parents = [parent for _, parent in server.commits.values()]
        assert len(parents) == len(set(parents)), order


@pytest.mark.fault(40)
@pytest.mark.parametrize("seed", range(40))
def test_of_three_in_the_same_second_one_wins(seed: int) -> None:
    chance = random.Random(seed)
    server = Server()
    agents = [FakeAgent(server, f"worker-{name}") for name in "abc"]
    order = [index for index in range(3) for _ in range(STEPS)]
    chance.shuffle(order)
    leases = drive([agent.begin() for agent in agents], tuple(order))
    assert sum(lease is not None for lease in leases) == 1
    assert sum(agent.port.count(*COMMENTS) for agent in agents) <= 2 * len(agents)
    assert {fence.epoch for fence in server.lineage(KEY)} == {1}


def test_a_restarted_holder_and_a_rival_never_both_win() -> None:
    """The holder is back when the rival's second look finds it dead."""
    outcomes = set()
    for order in interleavings(4, 4):
        server = Server()
        holder, rival = FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")
        holder.win()
        server.seconds += TERMS.certain
        looked(server, [rival])
        attempts = [holder.restart().begin(), rival.begin()]
        outcome = tuple(lease is not None for lease in drive(attempts, order))
        assert sum(outcome) == 1, order
        assert len(server.comments()) == 1
        outcomes.add(outcome)
    assert outcomes == {(True, False), (False, True)}


def test_a_deposed_holder_can_do_nothing_more() -> None:
    """The holder slept through its deadline, or its clock stood still: the fence refuses it all the same."""
    for slept_through in (True, False):
        server = Server()
        holder, rival = FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")
        held = holder.win()
        server.seconds += TERMS.timeout
        if not slept_through:
            holder.port.boot_offset -= TERMS.timeout
        lease = rival.take_over()
        assert lease is not None
        for effect in (advance(held, FenceChange(pr=9)), beat(held)):
            with pytest.raises(Lost):
                run(holder.port, effect)
        fence = server.fence(KEY)
        assert fence is not None
        assert (fence.oid, fence.pr) == (lease.fence.oid, 0)
        begin(rival.port, lease, rival.claimant).check()
