"""Flaws that the simulation found in the heartbeat: long pauses, an edit without a key, and edits that were lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fakes.lock_port import KEY, KEYS, FakeAgent, FakePort, Run, run
from fakes.lock_server import Fault, Server

from shared.errors import Blocked, Lost, UnknownOutcome
from shared.lock.announce import YOUNG_SECONDS
from shared.lock.comment import Words, write_words
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import beat, release, tell
from shared.lock.port import AdvanceFence, EditComment, Operation, ReadComment, ReadComments, Reply
from shared.text.comment_signatures import Keyring
from shared.workflow import Stage

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
    """Without a key the checksum shows that a comment was edited; the stopped agent does not overwrite the edit."""
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


def test_a_shorter_text_is_not_written_after_a_long_pause(server: Server) -> None:
    """GitHub found a text too long; before the lock's lines alone were sent, the machine stood still."""
    alice = FakeAgent(server, "worker-a")
    held = alice.win()
    alice.port.plan(EditComment, Blocked("GitHub refused it (422): body is too long"))
    told = Run(alice.port, tell(held, Words("x" * 300)))
    told.until(EditComment)
    server.edit(held.ack.id, "Thank you, I do this one myself.")
    server.seconds += held.deadline - held.port.boot()
    told.step()
    assert isinstance(told.error, Lost)
    assert server.comments()[held.ack.id].body == "Thank you, I do this one myself."


def test_an_end_that_is_too_long_is_told_all_the_same(server: Server) -> None:
    """The text only says that its own epoch is over, and so may come late."""
    alice = FakeAgent(server, "worker-a")
    held = alice.win()
    alice.port.plan(EditComment, Blocked("GitHub refused it (422): body is too long"))
    assert run(alice.port, release(held))
    assert "state=released" in server.comments()[held.ack.id].body


@pytest.mark.parametrize("before", ["a text of an older engine", "Thank you, I do this one myself."])
def test_a_text_that_a_claim_wrote_over_in_vain_is_no_edit(server: Server, before: str) -> None:
    """The edit was lost: what stood there before stands there still, and nobody has edited it since."""
    alice, bob = FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")
    first = alice.win()
    assert run(alice.port, release(first))
    server.edit(first.ack.id, before)
    server.seconds += 60
    bob.port.plan(EditComment, Fault.LOST, Fault.LOST, Fault.LOST)
    held = bob.win()
    assert server.comments()[held.ack.id].body == before
    run(bob.port, beat(held))
    held.check()
    assert "worker-b is working on this" in server.comments()[held.ack.id].body
    server.edit(held.ack.id, "Please stop.")
    with pytest.raises(Lost, match="edited"):
        run(bob.port, beat(held))


def test_a_stamp_takes_no_end_back_that_arrived_late(server: Server) -> None:
    """The push of an end was late: the fence is free by then, and a heartbeat's stamp leaves it so."""
    alice = FakeAgent(server, "worker-a")
    held = alice.win()
    alice.port.plan(AdvanceFence, Fault.LATE)
    with pytest.raises(UnknownOutcome):
        run(alice.port, advance(held, FenceChange(stage=Stage.DONE)))
    server.seconds += held.claimant.times.stamp
    assert server.deliver() == 1
    run(alice.port, beat(held))
    fence = server.fence(KEY)
    assert fence is not None
    assert (fence.stage, fence.free) == (Stage.DONE, True)


def test_what_was_told_before_the_first_claim_and_arrives_late_is_no_edit(server: Server) -> None:
    """An agent had recorded a command in the comment before anybody claimed; GitHub carried that out minutes later."""
    alice = FakeAgent(server, "worker-a")
    held = alice.win()
    server.seconds += 60
    server.edit(held.ack.id, write_words(KEY, 1, Words(details="recorded: 7"), KEYS))
    run(alice.port, beat(held))
    held.check()
    assert "worker-a is working on this" in server.comments()[held.ack.id].body
    server.edit(held.ack.id, server.comments()[held.ack.id].body.replace("working", "resting"))
    with pytest.raises(Lost, match="edited"):
        run(alice.port, beat(held))


class BehindPort(FakePort):
    """A port that asks a replica which has not heard of any comment yet, until somebody waits."""

    behind = False

    def answer(self, operation: Operation[Any]) -> Reply[Any]:
        if self.behind and isinstance(operation, ReadComment | EditComment | ReadComments):
            self.done.append(operation)
            return Reply(() if isinstance(operation, ReadComments) else None, self.server.at)
        return super().answer(operation)

    async def sleep(self, seconds: float) -> None:
        self.behind = False
        await super().sleep(seconds)


@pytest.mark.parametrize("deleted", [False, True])
def test_whoever_is_started_right_after_a_kill_posts_no_second_comment(server: Server, deleted: bool) -> None:
    """Neither the comment nor the thread with it is shown; only what is missing a moment later was deleted."""
    bob, alice = FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")
    alice.port = port = BehindPort(server)
    first = bob.win()
    assert run(bob.port, release(first))
    if deleted:
        server.delete(first.ack.id)
    port.behind = True
    held = alice.win()
    assert (held.ack.id == first.ack.id) is not deleted
    assert len(server.comments()) == 1


def test_what_an_old_fence_names_and_nobody_shows_is_not_waited_for(server: Server) -> None:
    bob, alice = FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")
    first = bob.win()
    assert run(bob.port, release(first))
    server.delete(first.ack.id)
    server.seconds += YOUNG_SECONDS
    alice.win()
    assert alice.port.slept == []
