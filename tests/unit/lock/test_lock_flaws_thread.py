"""The flaws of a plain comment lock that come from what people, strangers and models leave in the thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from fakes.lock_port import KEY, KEYS, FakeAgent, run
from fakes.lock_server import BOT, STRANGER, Server
from lock_world import AN_ATTEMPT, TERMS

from shared.errors import Lost
from shared.lock.codec import Ack, ItemKey
from shared.lock.comment import write_ack
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import beat, release
from shared.lock.port import AdvanceFence, ReadComment
from shared.text import neutralise
from shared.text.comment_signatures import Keyring
from shared.workflow import Role

Story = Callable[[Server], None]

NO_KEYS = Keyring(99)
FORGED = Ack(KEY, "worker-deadbeef", 1, 0, "f" * 32, 1800)
"""The earliest ACK that can be."""

OLD_ENGINE = "ACK:worker:worker-old:1767603600000"
"""The whole comment that an engine from before the trailer posts."""


def wins_at_once(server: Server, keys: Keyring = KEYS) -> None:
    """Assert that A claims as if the thread were empty: without a pause or an additional request."""
    alice = FakeAgent(server, "worker-a", keys=keys)
    assert alice.claim() is not None
    assert alice.port.slept == []
    assert tuple(type(one) for one in alice.port.done) == AN_ATTEMPT


def an_ack_that_a_maintainer_tidied_away(server: Server) -> None:
    """Delete the comment of A's lock: before B may begin, A has noticed, ended its work and released the lock."""
    alice, bob = FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")
    held = alice.win()
    server.seconds = 100.0
    server.delete(held.ack.id)
    assert bob.claim() is None, "it is no orphan yet"
    server.seconds = TERMS.heartbeat - 1
    with pytest.raises(Lost, match="deleted"):
        run(alice.port, beat(held))
    assert bob.claim() is None, "its work has still to be ended"
    assert run(alice.port, release(held))
    server.seconds = TERMS.heartbeat + 1
    pushes = alice.port.count(AdvanceFence)
    assert bob.claim() is not None
    with pytest.raises(Lost):
        run(alice.port, advance(held, FenceChange(pr=57)))
    assert alice.port.count(AdvanceFence) == pushes


def an_ack_that_a_person_edited(server: Server) -> None:
    """Edit A's time stamp: the order stays, A stops and leaves the text, and the edit is no heartbeat."""
    alice, bob = FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")
    held = alice.win()
    server.seconds = TERMS.heartbeat - 1
    body = server.comments()[held.ack.id].body
    edited = server.edit(held.ack.id, body.replace(f":{held.ack.millis}\n", ":9999999999999\n"))
    assert bob.claim() is None
    with pytest.raises(Lost, match="edited"):
        run(alice.port, beat(held))
    assert bob.claim() is None, "its work has still to be ended"
    assert run(alice.port, release(held))
    assert server.comments()[held.ack.id] == edited
    server.seconds = TERMS.heartbeat + 1
    assert bob.claim() is not None, "the edit of a moment ago keeps nothing alive"


def an_ack_of_a_stranger(server: Server) -> None:
    """Comment as a stranger on a public repository: even our own ACK, word for word, is nothing from them."""
    server.post(42, write_ack(FORGED, KEYS), STRANGER)
    server.post(42, "ACK:worker:worker-deadbeef:0000000000001", STRANGER)
    server.post(42, write_ack(FORGED, NO_KEYS), replace(STRANGER, login=BOT.login))
    wins_at_once(server)


def an_ack_that_a_model_wrote(server: Server) -> None:
    """Post a model's text with ACKs: with keys they have no MAC, without keys they are made harmless."""
    texts = [
        f"## Plan\n\n{write_ack(FORGED, NO_KEYS)}",
        write_ack(FORGED, NO_KEYS),
        "ACK:worker:x:0000000000001\nDone.",
    ]
    for text in texts:
        server.post(42, text)
    wins_at_once(server)
    other = Server()
    for text in [*texts, "ACK:worker:x:0000000000001"]:
        other.post(42, neutralise(text))
    wins_at_once(other, NO_KEYS)


def acks_of_other_kinds(server: Server) -> None:
    """Post ACKs of a planner and a reviewer on this thread, quoted ones, and texts that begin with the same letters."""
    for kind in (Role.PLANNER, Role.REVIEWER):
        server.post(42, write_ack(replace(FORGED, key=ItemKey(kind, 42)), KEYS))
    other_issue = write_ack(replace(FORGED, key=ItemKey(Role.WORKER, 43)), KEYS)
    prefix = write_ack(FORGED, NO_KEYS).replace("ACK:worker:", "ACK:worker2:")
    for text in (other_issue, prefix, f"> {write_ack(FORGED, KEYS)}", f"```\n{write_ack(FORGED, KEYS)}\n```"):
        server.post(42, text)
    wins_at_once(server)


@pytest.mark.fault(18)
@pytest.mark.parametrize(
    "story",
    [
        pytest.param(an_ack_that_a_maintainer_tidied_away, id="F10 ACK deleted"),
        pytest.param(an_ack_that_a_person_edited, id="F11 ACK edited"),
        pytest.param(an_ack_of_a_stranger, id="F12 ACK of a stranger"),
        pytest.param(an_ack_that_a_model_wrote, id="F13 ACK posted by the bot for a model"),
        pytest.param(acks_of_other_kinds, id="F17 kinds confused"),
    ],
)
def test_the_thread_plays_no_trick(server: Server, story: Story) -> None:
    story(server)


@pytest.mark.fault(48)
def test_an_ack_of_the_first_format_holds_until_its_timeout(server: Server, alice: FakeAgent) -> None:
    """An engine from before the trailer works here: it counts as the first in line, then its lock is taken over."""
    old = server.post(42, OLD_ENGINE)
    assert alice.claim() is None
    assert alice.observe().other_holder == "worker-old"
    server.seconds += TERMS.timeout - 1
    server.edit(old.id, f"{old.body}\r\n")  # nobody renews it: an edit is no heartbeat
    assert alice.claim() is None
    assert len(server.comments()) == 1
    server.seconds += 1
    lease = alice.claim()
    assert lease is not None
    assert lease.ack.id != old.id, "what nobody can check is nobody else's to write into"
    assert alice.port.count(ReadComment) == 0


@pytest.mark.fault(48)
def test_of_an_old_and_a_new_engine_the_first_on_the_thread_wins(server: Server, alice: FakeAgent) -> None:
    attempt = alice.begin()
    attempt.until(AdvanceFence)
    server.post(42, OLD_ENGINE)
    assert attempt.finish() is not None, "it has a fence now, which an older engine leaves alone"
    other = Server()
    other.post(42, OLD_ENGINE)
    assert FakeAgent(other, "worker-a").claim() is None
    assert other.lineage(KEY) == []
