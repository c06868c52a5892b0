"""A person's order to stop, given in the comment of a lock: the work ends first, then the fence is released."""

from __future__ import annotations

import pytest
from fake_port import KEY, FakeAgent, Run, run
from fake_server import Fault, Server

from shared.errors import Lost
from shared.lock.hold import NEW_SECONDS, Held, beat, release
from shared.lock.port import AdvanceFence, EditComment


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
