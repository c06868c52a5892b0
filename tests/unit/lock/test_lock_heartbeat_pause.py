"""Flaws that the simulation found in the heartbeat: a text read before a long pause, and an edit without a key."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fakes.lock_port import KEY, KEYS, FakeAgent, run
from fakes.lock_server import Server

from shared.errors import Lost
from shared.lock.hold import beat, release
from shared.text.comment_signatures import Keyring

UNSIGNED = Keyring(KEYS.repository_id)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.check_all_met()


def test_an_ack_that_was_read_before_a_long_pause_is_not_written(server: Server) -> None:
    """The process stood still between reading its ACK and counting it up; meanwhile a person edited it."""
    alice = FakeAgent(server, "worker-a")
    held = alice.win()
    heartbeat = beat(held)
    as_it_was = alice.port.answer(heartbeat.send(None).wish)
    server.edit(held.ack.id, "Thank you, I do this one myself.")
    server.seconds += held.deadline - held.port.boot()
    with pytest.raises(Lost):
        heartbeat.send(as_it_was)
    assert server.comments()[held.ack.id].body == "Thank you, I do this one myself."


def test_an_edited_ack_is_not_gone_on_with_although_no_key_tells(server: Server) -> None:
    """Without a key its sum tells that a comment was edited; the agent that it stopped does not write over the edit."""
    alice = FakeAgent(server, "worker-a", keys=UNSIGNED)
    held = alice.win()
    edited = server.comments()[held.ack.id].body + "\nPlease stop."
    server.edit(held.ack.id, edited)
    with pytest.raises(Lost, match="edited"):
        run(alice.port, beat(held))
    assert server.comments()[held.ack.id].body == edited
    assert alice.nonces.kept == set()
    assert run(alice.port, release(held))
    fence = server.fence(KEY)
    assert fence is not None
    assert fence.free
