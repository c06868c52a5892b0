"""claim when GitHub or git misbehave: nothing is posted twice, nothing stays locked, nobody wins wrongly."""

from __future__ import annotations

import pytest
from fake_port import KEY, FakeAgent, Run
from fake_server import Fault, Hidden, Server, Stale
from lock_world import AN_ATTEMPT, TERMS, states

from shared.errors import Blocked, Gone, NotAllowed, Transient
from shared.lock.claim import Lease
from shared.lock.codec import AckState
from shared.lock.hold import begin
from shared.lock.port import AdvanceFence, EditComment, PostComment, ReadComment, ReadComments


def after(steps: int, attempt: Run[Lease | None]) -> None:
    for _ in range(steps):
        attempt.step()


def test_an_ack_whose_reply_was_lost_is_found_by_its_nonce(server: Server, alice: FakeAgent) -> None:
    alice.port.plan(PostComment, Fault.REPLY_LOST)
    lease = alice.claim()
    assert lease is not None
    assert alice.port.count(PostComment) == 1
    assert list(server.comments()) == [lease.ack.id]


def test_an_ack_that_is_not_found_is_not_posted_again(server: Server, alice: FakeAgent) -> None:
    alice.port.plan(PostComment, Fault.LOST)
    assert alice.claim() is None
    assert alice.port.count(PostComment) == 1
    assert server.comments() == {}
    assert alice.claim() is not None


def test_the_ack_of_another_is_not_taken_for_ours(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    attempt = alice.begin()
    attempt.until(PostComment)
    rival = bob.begin()
    rival.until(AdvanceFence)
    alice.port.plan(PostComment, Fault.LOST)
    assert attempt.finish() is None
    assert rival.finish() is not None


def test_an_ack_that_arrives_late_is_adopted(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    alice.port.plan(PostComment, Fault.LATE)
    assert alice.claim() is None
    assert server.deliver() == 1
    assert bob.claim() is None
    lease = alice.claim()
    assert lease is not None
    assert lease.ack.id == min(server.comments())
    assert alice.port.count(PostComment) == 1


def test_an_ack_that_is_carried_out_twice_wins_under_the_id_that_counts(server: Server, alice: FakeAgent) -> None:
    alice.port.plan(PostComment, Fault.TWICE)
    lease = alice.claim()
    assert lease is not None
    assert lease.ack.id == min(server.comments())
    assert len(server.comments()) == 2


@pytest.mark.fault(11)
def test_an_own_ack_that_stays_invisible_is_released(server: Server, alice: FakeAgent) -> None:
    alice.port.plan(ReadComments, None, Stale(TERMS.settle + 1))
    assert alice.claim() is None
    assert states(server) == [AckState.RELEASED]
    assert alice.port.count(AdvanceFence) == 0
    assert alice.nonces.kept == set()


def test_the_second_look_need_not_show_again_what_the_first_did(server: Server, alice: FakeAgent) -> None:
    dead = FakeAgent(server, "worker-z").begin()
    dead.until(AdvanceFence)
    dead.crash()
    (seen,) = server.comments()
    server.seconds += TERMS.timeout
    alice.port.plan(ReadComments, None, Hidden(frozenset({seen})))
    lease = alice.claim()
    assert lease is not None
    assert lease.ack.prev == seen
    assert alice.port.count(ReadComment) == 0


def test_a_rival_that_no_look_shows_is_met_at_the_fence(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    attempt = bob.begin()
    attempt.until(PostComment)
    held = alice.win()
    bob.port.plan(ReadComments, Hidden(frozenset({held.ack.id})))
    assert attempt.finish() is None
    assert bob.port.count(AdvanceFence) == 1
    assert states(server) == [AckState.ACTIVE, AckState.RELEASED]
    assert bob.nonces.kept == set()
    assert FakeAgent(server, "worker-c").claim() is None


def test_a_fence_whose_reply_was_lost_is_ours_when_it_is_there(server: Server, alice: FakeAgent) -> None:
    alice.port.plan(AdvanceFence, Fault.REPLY_LOST)
    lease = alice.claim(approved_by="ada  lovelace")
    assert lease is not None
    assert server.fence(KEY) == lease.fence
    begin(alice.port, lease, alice.claimant).check()


def test_a_fence_that_is_not_there_releases_the_ack(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    alice.port.plan(AdvanceFence, Fault.LOST)
    assert alice.claim() is None
    assert states(server) == [AckState.RELEASED]
    assert bob.claim() is not None


def test_a_fence_that_arrives_late_locks_nobody_out(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    alice.port.plan(AdvanceFence, Fault.LATE)
    assert alice.claim() is None
    assert server.deliver() == 1
    lease = bob.claim()
    assert lease is not None
    assert [fence.agent for fence in server.lineage(KEY)] == ["worker-b", "worker-a"]


@pytest.mark.parametrize("error", [NotAllowed(), Gone()])
def test_a_fence_that_is_refused_for_good_releases_the_ack(server: Server, alice: FakeAgent, error: Blocked) -> None:
    alice.port.plan(AdvanceFence, error)
    with pytest.raises(type(error)):
        alice.claim()
    assert states(server) == [AckState.RELEASED]


@pytest.mark.parametrize("plan", [Fault.FAILED, Fault.LOST, NotAllowed()])
def test_an_ack_that_cannot_be_released_is_continued(server: Server, alice: FakeAgent, plan: Fault | Blocked) -> None:
    alice.port.plan(AdvanceFence, Fault.LOST)
    alice.port.plan(EditComment, plan)
    assert alice.claim() is None
    assert states(server) == [AckState.ACTIVE]
    assert FakeAgent(server, "worker-b").claim() is None
    lease = alice.claim()
    assert lease is not None
    assert lease.ack.id == min(server.comments())


@pytest.mark.parametrize("steps", range(len(AN_ATTEMPT)))
def test_a_failure_before_anything_is_decided_is_transient(server: Server, alice: FakeAgent, steps: int) -> None:
    kind = AN_ATTEMPT[steps]
    before: list[None] = [None] * sum(one is kind for one in AN_ATTEMPT[:steps])
    alice.port.plan(kind, *before, Fault.FAILED)
    with pytest.raises(Transient):
        alice.claim()
    assert alice.claim() is not None


def test_a_look_whose_single_read_fails_is_transient(server: Server, alice: FakeAgent) -> None:
    held = alice.win()
    server.delete(held.ack.id)
    alice.port.plan(ReadComment, Fault.FAILED)
    with pytest.raises(Transient):
        alice.observe()


@pytest.mark.parametrize("steps", [1, 2])
def test_a_crash_before_the_ack_leaves_nothing(server: Server, alice: FakeAgent, bob: FakeAgent, steps: int) -> None:
    attempt = alice.begin()
    after(steps, attempt)
    attempt.crash()
    assert bob.claim() is not None


@pytest.mark.parametrize(
    ("steps", "kind", "fault"),
    [
        pytest.param(3, PostComment, None, id="acknowledged"),
        pytest.param(3, PostComment, Fault.REPLY_LOST, id="acknowledged, reply lost"),
        pytest.param(3, PostComment, Fault.LATE, id="the ACK arrives after the crash"),
        pytest.param(4, PostComment, None, id="settled"),
        pytest.param(5, PostComment, None, id="won the comments"),
        pytest.param(6, AdvanceFence, None, id="fenced"),
        pytest.param(6, AdvanceFence, Fault.LOST, id="the fence never arrives"),
        pytest.param(6, AdvanceFence, Fault.LATE, id="the fence arrives after the crash"),
    ],
)
def test_after_a_crash_anywhere_the_item_is_not_lost(
    alice: FakeAgent, bob: FakeAgent, steps: int, kind: type[PostComment | AdvanceFence], fault: Fault | None
) -> None:
    """The same agent goes on at once; another one after the timeout at the latest."""
    attempt = alice.begin()
    alice.port.plan(kind, fault)
    after(steps, attempt)
    attempt.crash()
    alice.port.plans.clear()
    alice.port.server.deliver()
    assert bob.claim() is None
    lease = alice.restart().claim()
    assert lease is not None
    alice.port.server.seconds += TERMS.timeout
    taken = bob.claim()
    assert taken is not None
    assert taken.ack.prev == lease.ack.id
