"""Claims and time: what looks dead, clocks that are wrong, pauses of the machine."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from fakes.lock_port import FakeAgent
from fakes.lock_server import EPOCH, Server
from lock_world import TERMS

from shared.errors import Transient
from shared.lock.hold import begin
from shared.lock.port import AdvanceFence, EditComment, PostComment
from shared.lock.standing import LockStanding

WRITES = (AdvanceFence, PostComment, EditComment)


def test_death_needs_two_looks_a_minute_apart(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    alice.win()
    server.seconds += TERMS.timeout
    first = bob.observe()
    assert first.other_holder.startswith("worker-a, which shows no sign of life")
    assert first.again == TERMS.look_again == 61
    server.seconds += 60
    assert bob.claim() is None
    assert bob.port.count(*WRITES) == 0
    server.seconds += 1
    assert bob.claim() is not None


def test_a_comment_of_yesterday_evening_is_read_where_the_ref_is_gone(
    server: Server, alice: FakeAgent, bob: FakeAgent
) -> None:
    """The lock is held since ten to midnight; a person deletes the ref, and an agent looks at ten past."""
    server.seconds += (timedelta(days=1, minutes=-10) - timedelta(hours=EPOCH.hour)).total_seconds()
    held = alice.win()
    server.seconds += 20 * 60
    assert server.at.date() > held.fence.at.date()
    del server.refs[held.fence.key.ref]
    assert bob.observe().standing is LockStanding.HELD
    assert bob.claim() is None


def test_the_deadline_counts_from_before_the_push(server: Server, alice: FakeAgent) -> None:
    attempt = alice.begin()
    attempt.until(AdvanceFence)
    sent = alice.port.boot()
    server.seconds += 40
    lease = attempt.finish()
    assert lease is not None
    assert lease.boot == sent
    assert begin(alice.port, lease, alice.claimant).deadline == sent + TERMS.self_fence


def test_a_sign_of_life_between_the_looks_begins_them_anew(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    held = alice.win()
    server.seconds += TERMS.timeout
    assert bob.claim() is None
    fence = replace(held.fence, at=held.fence.at + timedelta(seconds=1), oid="")
    assert server.push(fence, held.fence.oid, "", ())
    server.seconds += TERMS.look_again
    assert bob.claim() is None, "the fence is another one"
    server.seconds += TERMS.look_again
    assert bob.claim() is not None


@pytest.mark.parametrize("again", [False, True])
def test_nothing_is_claimed_by_a_clock_that_is_not_sure(server: Server, alice: FakeAgent, again: bool) -> None:
    """Stamps by such a clock would be wrong: with one of an hour ago a live holder looks dead for certain."""
    if again:
        alice.win()
        alice = alice.restart()
    alice.port.sure = False
    with pytest.raises(Transient, match="time is in doubt"):
        alice.claim()
    assert alice.port.count(*WRITES) == 0
    alice.port.sure = True
    assert alice.claim() is not None


def test_nothing_is_taken_over_by_a_clock_that_is_not_sure(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    held = alice.win()
    server.seconds += TERMS.timeout
    bob.port.sure = False
    for _ in range(4):
        assert bob.claim() is None
        server.seconds += TERMS.look_again
    assert bob.port.count(*WRITES) == 0
    bob.port.sure = True
    assert bob.claim() is not None
    assert alice.nonces.mine(held.ack.nonce)


@pytest.mark.fault(39)
@pytest.mark.parametrize("skew", [3600, -3600, -EPOCH.timestamp(), -2 * EPOCH.timestamp(), 3e11])
def test_a_wrong_clock_changes_nothing(server: Server, alice: FakeAgent, skew: float) -> None:
    bob = FakeAgent(server, "worker-b")
    alice.port.skew = skew
    held = alice.win()
    server.seconds += TERMS.timeout - 1
    assert bob.claim() is None
    server.seconds += 1
    assert bob.take_over() is not None
    assert held.fence.at == EPOCH
    assert held.ack.millis == EPOCH.timestamp() * 1000


def test_a_view_says_when_to_look_again(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    alice.win()
    server.seconds += TERMS.timeout - 40
    view = bob.observe()
    assert view.standing is LockStanding.HELD
    assert view.again == pytest.approx(40, abs=1)
    server.seconds -= 900
    assert bob.observe().again == TERMS.heartbeat


def test_the_proof_of_a_lease_lasts_from_before_its_fence_was_moved(server: Server, alice: FakeAgent) -> None:
    before, at = alice.port.boot(), server.at
    attempt = alice.begin()
    attempt.until(PostComment)
    server.seconds += TERMS.self_fence - 1
    lease = attempt.finish()
    assert lease is not None
    held = begin(alice.port, lease, alice.claimant)
    assert held.deadline == before + TERMS.self_fence
    assert held.server == (at, before)
    held.check()


def test_a_pause_of_the_claim_itself_ends_it(server: Server, alice: FakeAgent) -> None:
    """The claim wakes up past its own deadline, before it has posted anything: another agent may be at work."""
    attempt = alice.begin()
    attempt.until(AdvanceFence)
    attempt.step()
    server.seconds += TERMS.self_fence
    assert attempt.finish() is None
    assert server.comments() == {}
