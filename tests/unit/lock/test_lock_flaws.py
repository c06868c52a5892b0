"""The flaws of a plain comment lock that come from time: each interleaving as a story, and that nothing comes of it.

The plain lock posts `ACK:<kind>:<agent>:<milliseconds>`, waits two seconds, and lets the earliest ACK of the last 30
seconds win. A, B and C are workers, t is the server's time in seconds. The flaws of what stands in the thread are in
`test_lock_flaws_thread.py`, those that the adapters own in `tests/lab/lock/test_lock_flaws_server.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from fakes.lock_port import KEY, FakeAgent, run
from fakes.lock_server import Fault, Hidden, Server
from lock_world import TERMS

from shared.errors import Lost, Transient
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import beat, begin, release
from shared.lock.port import AdvanceFence, PostComment, ReadComments, RefUpdate

BRANCH = "refs/heads/auto/issue-42"
A_WORK, B_WORK = "a" * 40, "b" * 40

Story = Callable[[Server], None]


def a_slow_clock_wins_nothing(server: Server) -> None:
    """Let B's clock be 60 s slow: B comes second, and would print the earlier time. The fence knows no time of ours."""
    alice, bob = FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")
    bob.port.skew = -60
    a, b = alice.begin(), bob.begin()
    for attempt in (a, b):
        attempt.until(AdvanceFence)
    a.step()
    server.seconds += 1
    assert b.finish() is None
    assert a.finish() is not None


def a_slow_post_comes_too_late(server: Server) -> None:
    """Let A's request take 9 s; B asks later, and is first at the server. A has written nothing into the thread."""
    alice, bob = FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")
    a = alice.begin()
    a.until(AdvanceFence)
    server.seconds += 1
    held = bob.win()
    server.seconds = 9.0
    assert a.finish() is None
    assert alice.port.count(PostComment) == 0
    run(bob.port, beat(held))
    assert {fence.agent for fence in server.lineage(KEY)} == {"worker-b"}


def replicas_that_show_each_its_own(server: Server) -> None:
    """Hide each agent's writes from the other: the fence lets one through, and one comment is posted."""
    agents = [FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")]
    for agent, other in zip(agents, reversed(agents), strict=True):
        agent.port.plan(ReadComments, Hidden(text=other.claimant.agent))
    attempts = [agent.begin() for agent in agents]
    for attempt in attempts:
        attempt.until(AdvanceFence)
    leases = [attempt.finish() for attempt in attempts]
    assert [agent.port.count(AdvanceFence) for agent in agents] == [3, 1]
    assert sum(lease is not None for lease in leases) == 1
    assert len(server.comments()) == 1


def a_pause_of_45_minutes(server: Server) -> None:
    """Stop A for 45 min after its win, even its boot clock; B takes over and works. A's push changes nothing."""
    for clock_stood_still in (False, True):
        alice, bob = FakeAgent(server, f"worker-a{clock_stood_still:d}"), FakeAgent(server, "worker-b")
        held = alice.win()
        server.seconds += TERMS.timeout + 1
        assert bob.claim() is None
        server.seconds += TERMS.look_again
        other = bob.win()
        server.seconds += 900
        if clock_stood_still:
            alice.port.boot_offset -= TERMS.timeout + TERMS.look_again + 901
        pushes = alice.port.count(AdvanceFence)
        with pytest.raises(Lost):
            run(alice.port, advance(held, FenceChange(work_head=A_WORK), updates=(RefUpdate(BRANCH, None, A_WORK),)))
        assert alice.port.count(AdvanceFence) - pushes == clock_stood_still, "with a clock it does not even try"
        run(bob.port, beat(other))
        run(bob.port, advance(other, FenceChange(work_head=B_WORK), updates=(RefUpdate(BRANCH, None, B_WORK),)))
        assert server.refs.pop(BRANCH) == B_WORK
        assert run(bob.port, release(other))


def claims_that_are_half_a_minute_apart(server: Server) -> None:
    """Let A claim at t=0 with failing reads until t=35; B, whose first look is stale, tries at t=31. A goes on."""
    alice, bob = FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")
    a = alice.begin()
    a.until(PostComment)
    alice.port.plan(PostComment, Fault.REPLY_LOST)
    alice.port.plan(ReadComments, Fault.FAILED)
    server.seconds = 31.0
    assert bob.claim() is None
    server.seconds = 35.0
    with pytest.raises(Transient):
        a.finish()
    assert bob.claim() is not None, "what A could not record, A has let go of"
    assert (alice.port.count(PostComment), len(server.comments())) == (1, 1)


def losers_that_try_again(server: Server) -> None:
    """Crash A at t=10. B lost at t=1 and comes back until t=1799; C wins when A's time is over, not later."""
    alice, bob, carol = (FakeAgent(server, f"worker-{name}") for name in "abc")
    lease = alice.claim()
    assert lease is not None
    for seconds in (1.0, 100.0, 1000.0, TERMS.timeout - 1):
        server.seconds = seconds
        assert bob.claim() is None
    assert bob.port.count(PostComment, AdvanceFence) == 0, "whoever sees a live holder writes nothing"
    server.seconds = TERMS.timeout + 1
    taken = carol.take_over()
    assert taken is not None
    assert taken.ack.id == lease.ack.id


def a_post_whose_reply_is_lost(server: Server) -> None:
    """Carry out A's POST but lose its reply; B comes at t=2. A finds its comment by its nonce."""
    alice, bob = FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")
    alice.port.plan(PostComment, Fault.REPLY_LOST)
    a = alice.begin()
    a.until(PostComment)
    server.seconds += 2
    assert bob.claim() is None
    assert a.finish() is not None
    assert alice.port.count(PostComment) == len(server.comments()) == 1


def one_name_twice(server: Server) -> None:
    """Run two containers with one agent id: neither takes the other's epoch for its own, one wins, one may hold."""
    one, other = FakeAgent(server, "worker-a"), FakeAgent(server, "worker-a")
    other.nonces.count = 10  # a state directory of its own: other nonces
    a, b = one.begin(), other.begin()
    for attempt in (a, b):
        attempt.until(AdvanceFence)
    lease, lost = a.finish(), b.finish()
    assert lost is None
    assert lease is not None
    held = begin(one.port, lease, one.claimant)
    assert other.claim() is None
    run(one.port, beat(held))


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(a_slow_clock_wins_nothing, id="F1 clock skew", marks=pytest.mark.fault(39)),
        pytest.param(a_slow_post_comes_too_late, id="F2 slow POST"),
        pytest.param(replicas_that_show_each_its_own, id="F3 read-after-write lag"),
        pytest.param(a_pause_of_45_minutes, id="F4 agent paused", marks=pytest.mark.fault(38)),
        pytest.param(claims_that_are_half_a_minute_apart, id="F5 claims more than 30 s apart"),
        pytest.param(losers_that_try_again, id="F7 losers' stale ACKs"),
        pytest.param(a_post_whose_reply_is_lost, id="F8 POST repeated after a lost reply"),
        pytest.param(one_name_twice, id="F15 one identity twice"),
    ],
)
def test_time_plays_no_trick(server: Server, story: Story) -> None:
    story(server)
    fences = server.lineage(KEY)
    assert all(newer.epoch > older.epoch for newer, older in pairwise(fences) if newer.nonce != older.nonce)


def test_every_known_flaw_has_its_story() -> None:
    """Eighteen flaws are known; each is the id of a test in one of the three files."""
    tests = Path(__file__).resolve().parents[2]
    files = [*tests.glob("unit/lock/test_lock_flaws*.py"), *tests.glob("lab/lock/test_lock_flaws*.py")]
    assert len(files) == 3
    named = {int(found) for file in files for found in re.findall(r'id="F(\d+) ', file.read_text(encoding="utf-8"))}
    assert named == set(range(1, 19))
