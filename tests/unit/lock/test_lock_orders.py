"""A person's order to stop, given in the comment of a lock: the work ends first, then the fence is released."""

from __future__ import annotations

import pytest
from fakes.lock_port import KEY, FakeAgent, Run, run
from fakes.lock_server import Fault, Hidden, Server
from lock_world import TERMS

from shared.errors import Lost
from shared.lock.comment import Words
from shared.lock.hold import NEW_SECONDS, Held, beat, beat_until_lost, release, tell
from shared.lock.port import AdvanceFence, EditComment, ReadComment


def is_free(server: Server) -> bool:
    fence = server.fence(KEY)
    assert fence is not None
    return fence.free


@pytest.mark.fault(18)
@pytest.mark.parametrize("late", [False, True])
def test_a_deleted_comment_ends_the_lease(server: Server, alice: FakeAgent, held: Held, late: bool) -> None:
    server.seconds += NEW_SECONDS
    beats = Run(alice.port, beat(held))
    if late:
        beats.until(EditComment)
    server.delete(held.ack.id)
    with pytest.raises(Lost, match="deleted"):
        beats.finish()
    with pytest.raises(Lost):
        held.check()
    assert not is_free(server), "the work has still to be ended"
    assert alice.nonces.kept == set(), "should the agent end here, its next life does not go on"
    assert run(alice.port, release(held)) is True
    assert is_free(server), "nobody has to wait"


@pytest.mark.fault(18)
def test_an_edited_ack_ends_the_lease_and_is_left_as_it_is(server: Server, alice: FakeAgent, held: Held) -> None:
    edited = server.edit(held.ack.id, server.comments()[held.ack.id].body + "\n\nPlease stop.")
    with pytest.raises(Lost, match="edited"):
        run(alice.port, beat(held))
    assert not is_free(server), "the work has still to be ended"
    assert run(alice.port, release(held)) is True
    assert is_free(server)
    assert server.comments()[held.ack.id] == edited


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.FAILED])
def test_what_a_person_stopped_and_cannot_be_released_is_not_gone_on_with(
    server: Server, alice: FakeAgent, held: Held, fault: Fault
) -> None:
    server.edit(held.ack.id, "Please stop.")
    with pytest.raises(Lost, match="edited"):
        run(alice.port, beat(held))
    alice.port.plan(AdvanceFence, fault)
    assert run(alice.port, release(held)) is False
    assert alice.claim() is None
    assert alice.restart().claim() is None
    assert server.comments()[held.ack.id].body == "Please stop."


def test_a_comment_that_is_not_shown_yet_is_not_deleted(server: Server, alice: FakeAgent, held: Held) -> None:
    alice.port.plan(ReadComment, Hidden(frozenset({held.ack.id})))
    server.seconds += TERMS.heartbeat
    run(alice.port, beat(held))
    held.check()


def test_a_deletion_that_comes_too_soon_to_be_believed_is_noticed_by_the_next_heartbeat(
    server: Server, alice: FakeAgent, held: Held
) -> None:
    """The write in between is no heartbeat: to it, a missing comment may be one that is too new to be shown."""
    beats = Run(alice.port, beat_until_lost(held))
    server.delete(held.ack.id)
    server.seconds += NEW_SECONDS / 2
    run(alice.port, tell(held, Words("The tests are written.")))
    with pytest.raises(Lost, match="deleted"):
        beats.finish()
    assert server.seconds < TERMS.heartbeat + 10
