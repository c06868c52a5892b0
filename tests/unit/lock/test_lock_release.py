"""release: the fence frees the item, and the comment tells people; what cannot be told runs out or is continued."""

from __future__ import annotations

import pytest
from fakes.lock_port import KEY, FakeAgent, Run, run
from fakes.lock_server import Fault, Plan, Server
from lock_world import TERMS, on_the_thread

from shared.errors import Gone, Lost, NotAllowed, Unauthorized, UnknownOutcome
from shared.lock.codec import AckState
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import RELEASED, Held, beat, release
from shared.lock.port import AdvanceFence, EditComment
from shared.lock.write_permit import Notice, OperatorPermit
from shared.workflow import Stage


def is_free(server: Server) -> bool:
    fence = server.fence(KEY)
    return fence is not None and fence.free


@pytest.mark.parametrize("state", [AckState.RELEASED, AckState.DONE])
def test_release_tells_everybody_once(server: Server, alice: FakeAgent, held: Held, state: AckState) -> None:
    assert run(alice.port, release(held, state)) is True
    assert is_free(server)
    assert on_the_thread(server, held) is state
    assert alice.nonces.kept == set()
    sent = len(alice.port.done)
    assert run(alice.port, release(held)) is True
    assert len(alice.port.done) == sent
    with pytest.raises(Lost, match=RELEASED):
        held.check()


def test_the_end_of_an_item_frees_it_in_the_same_push(server: Server, alice: FakeAgent, held: Held) -> None:
    pushes = alice.port.count(AdvanceFence)
    run(alice.port, advance(held, FenceChange(stage=Stage.DONE)))
    assert is_free(server)
    held.check()
    assert run(alice.port, release(held)) is True
    assert alice.port.count(AdvanceFence) == pushes + 1
    assert on_the_thread(server, held) is AckState.DONE


@pytest.mark.parametrize("plan", [Fault.FAILED, Unauthorized(), Gone(), NotAllowed()])
def test_a_release_that_cannot_be_pushed_is_reported_and_gone_on_with(
    server: Server, alice: FakeAgent, held: Held, plan: Plan
) -> None:
    alice.port.plan(AdvanceFence, plan)
    assert run(alice.port, release(held)) is False
    assert run(alice.port, release(held)) is False
    assert alice.nonces.mine(held.ack.nonce)
    assert on_the_thread(server, held) is AckState.ACTIVE, "nobody is told what is not so"
    with pytest.raises(Lost):
        held.check()
    assert alice.restart().claim() is not None


@pytest.mark.parametrize("plan", [Fault.FAILED, Fault.LOST, Gone(), NotAllowed()])
def test_an_edit_that_fails_delays_nobody(
    server: Server, alice: FakeAgent, bob: FakeAgent, held: Held, plan: Plan
) -> None:
    alice.port.plan(EditComment, plan)
    assert run(alice.port, release(held)) is True
    assert bob.claim() is not None


def test_a_lost_release_that_happened_is_one(server: Server, alice: FakeAgent, bob: FakeAgent, held: Held) -> None:
    alice.port.plan(AdvanceFence, Fault.REPLY_LOST)
    assert run(alice.port, release(held)) is True
    assert bob.claim() is not None


def test_a_release_whose_push_is_late_frees_no_successor(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    held = alice.win()
    alice.port.plan(AdvanceFence, Fault.LATE)
    assert run(alice.port, release(held)) is False
    server.seconds += TERMS.timeout
    taken = bob.take_over()
    assert taken is not None
    server.deliver()
    assert server.fence(KEY) == taken.fence
    assert FakeAgent(server, "worker-c").claim() is None


def test_releasing_a_deleted_comment_is_no_failure(server: Server, alice: FakeAgent, held: Held) -> None:
    server.delete(held.ack.id)
    assert run(alice.port, release(held)) is True
    assert held.lost == RELEASED
    assert len(server.comments()) == 0


def test_other_warrants_need_no_lease() -> None:
    OperatorPermit("init").check()
    Notice(42, "status").check()


def test_a_heartbeat_that_arrives_after_the_release_frees_nothing_and_holds_nothing(
    server: Server, alice: FakeAgent, bob: FakeAgent, held: Held
) -> None:
    alice.port.plan(EditComment, Fault.LATE)
    with pytest.raises(UnknownOutcome):
        run(alice.port, beat(held))
    assert run(alice.port, release(held)) is True
    assert server.deliver() == 1
    assert on_the_thread(server, held) is AckState.ACTIVE
    lease = bob.claim()
    assert lease is not None, "the fence says that it is free"


def test_a_release_takes_a_late_push_of_its_own_along(server: Server, alice: FakeAgent, held: Held) -> None:
    """The work was cancelled in the middle of its push, which arrives: the release moves the fence from there."""
    push = Run(alice.port, advance(held, FenceChange(pr=57)))
    alice.port.answer(push.waits_for)  # type: ignore[arg-type]
    push.crash()
    assert run(alice.port, release(held)) is True
    fence = server.fence(KEY)
    assert fence is not None
    assert (fence.free, fence.pr) == (True, 57)
