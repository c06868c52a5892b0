"""observe and claim, one agent at a time: who may, in how many requests, and what is left behind."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from fake_port import KEY, KEYS, FakeAgent, FakePort, run
from fake_server import BOT, EPOCH, STRANGER, Server
from lock_world import TERMS, states

from shared.lock.codec import AckState, ItemKey, write_ack
from shared.lock.fence import advance
from shared.lock.hold import release
from shared.lock.port import AdvanceFence, Operation, PostComment, ReadComment, ReadComments, ReadFence, Reply
from shared.lock.record import Fence
from shared.marks import Key, Keyring
from shared.workflow import Role, Stage


def test_a_fresh_issue_is_won_in_five_requests(alice: FakeAgent) -> None:
    lease = alice.claim(base="b" * 40)
    assert lease is not None
    assert [type(one) for one in alice.port.done] == [ReadFence, ReadComments, PostComment, ReadComments, AdvanceFence]
    assert alice.port.server.lineage(KEY) == [lease.fence]
    expected = Fence(KEY, lease.ack.id, lease.ack.nonce, "worker-a", Stage.IMPLEMENTING, EPOCH, base="b" * 40)
    assert replace(lease.fence, oid="") == expected
    assert states(alice.port.server) == [AckState.ACTIVE]


def test_the_ack_settles_between_the_post_and_the_second_look(server: Server, alice: FakeAgent) -> None:
    attempt = alice.begin()
    attempt.until(PostComment)
    attempt.step()
    posted = server.seconds
    assert attempt.waits_for == TERMS.settle
    attempt.until(ReadComments)
    assert server.seconds == posted + TERMS.settle
    assert attempt.finish() is not None


def test_a_live_holder_costs_two_requests(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    alice.win()
    server.seconds += TERMS.timeout - 6
    assert bob.claim() is None
    assert [type(one) for one in bob.port.done] == [ReadFence, ReadComments]


@pytest.mark.parametrize("state", [AckState.RELEASED, AckState.DONE])
def test_a_released_holder_is_taken_over_at_once(alice: FakeAgent, bob: FakeAgent, state: AckState) -> None:
    held = alice.win()
    assert run(alice.port, release(held, state))
    lease = bob.claim()
    assert lease is not None
    assert lease.ack.prev == held.ack.id


def test_an_expired_holder_is_taken_over_with_what_it_knew(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    held = alice.win(attempt=2, approved_by="ada", body_sha256="c" * 64)
    run(alice.port, advance(held, pr=57, work_head="d" * 40, phase="green"))
    server.seconds += TERMS.timeout
    lease = bob.claim()
    assert lease is not None
    fence = lease.fence
    assert (fence.ack_id, fence.agent, fence.nonce) == (lease.ack.id, "worker-b", lease.ack.nonce)
    assert (fence.pr, fence.work_head, fence.approved_by, fence.body_sha256) == (57, "d" * 40, "ada", "c" * 64)
    assert (fence.attempt, fence.phase, fence.wait) == (2, "", None)
    assert [one.ack_id for one in server.lineage(KEY)] == [lease.ack.id, held.ack.id, held.ack.id]
    assert bob.port.count(ReadComment) <= 1


@pytest.mark.parametrize(
    ("wish", "kept"),
    [
        ({}, "ada"),
        ({"body_sha256": "c" * 64}, "ada"),
        ({"round": 0}, "ada"),
        ({"body_sha256": "d" * 64}, ""),
        ({"round": 1}, ""),
        ({"attempt": 0}, ""),
        ({"round": 1, "approved_by": "grace"}, "grace"),
    ],
)
def test_an_approval_is_for_one_text_and_what_was_begun_with_it(
    server: Server, alice: FakeAgent, bob: FakeAgent, wish: dict[str, Any], kept: str
) -> None:
    held = alice.win(approved_by="ada", body_sha256="c" * 64)
    assert run(alice.port, release(held, AckState.RELEASED))
    lease = bob.claim(**wish)
    assert lease is not None
    assert lease.fence.approved_by == kept


def test_what_a_command_says_is_kept_for_what_it_leads_to(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    held = alice.win(body_sha256="c" * 64)
    run(alice.port, advance(held, stage=Stage.READY, approved_by="/retry by ada"))
    assert run(alice.port, release(held, AckState.RELEASED))
    lease = bob.claim(round=1, body_sha256="d" * 64)
    assert lease is not None
    assert lease.fence.approved_by == "/retry by ada"


def test_a_holder_whose_ack_left_the_window_is_asked_for(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    held = alice.win()
    fence = server.fence(KEY)
    assert fence is not None
    later = replace(fence, at=fence.at + timedelta(hours=2), oid="")
    assert server.push(later, fence.oid, "", ())
    view = bob.observe()
    assert view.acks == ()
    assert view.holder is not None
    assert view.holder.id == held.ack.id


def test_an_unfenced_claim_does_not_free_a_live_holder(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    """Bob's late ACK names the holder and is let go: the holder that the fence knows still holds."""
    held = alice.win()
    server.post(42, write_ack(replace(held.ack, agent="worker-b", prev=held.ack.id, state=AckState.RELEASED), KEYS))
    view = bob.observe()
    assert view.holder_id != held.ack.id
    assert view.live(TERMS)
    assert bob.claim() is None
    assert run(alice.port, release(held))
    assert bob.claim() is not None


@pytest.mark.fault(18)
@pytest.mark.parametrize("tamper", ["delete", "edit"])
def test_a_removed_ack_holds_one_heartbeat_after_its_fence(server: Server, bob: FakeAgent, tamper: str) -> None:
    held = FakeAgent(server, "worker-a").win()
    if tamper == "delete":
        server.delete(held.ack.id)
    else:
        server.edit(held.ack.id, "Please stop, I do this myself.")
    assert bob.claim() is None
    server.seconds += TERMS.heartbeat
    lease = bob.claim()
    assert lease is not None
    assert lease.ack.prev == held.ack.id


@pytest.mark.fault(18)
def test_what_others_write_changes_nothing(server: Server, alice: FakeAgent) -> None:
    held = FakeAgent(server, "worker-z").win()
    body = write_ack(replace(held.ack, agent="mallory", prev=held.ack.id, nonce="f" * 32), KEYS)
    forged = write_ack(replace(held.ack, agent="model", prev=held.ack.id), Keyring(99))
    for text, author in ((body, STRANGER), (f"> {body}", BOT), (f"```\n{body}\n```", BOT), (forged, BOT)):
        server.post(42, text, author)
    server.post(42, write_ack(replace(held.ack, key=ItemKey(Role.PLANNER, 42), prev=held.ack.id), KEYS))
    view = alice.observe()
    assert view.holder_id == held.ack.id
    assert [ack.id for ack in view.acks] == [held.ack.id]


@pytest.mark.fault(18)
def test_a_long_thread_is_read_once(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    for count in range(500):
        server.post(42, f"remark {count}", STRANGER)
    server.seconds += 3600
    held = alice.win()
    server.seconds += TERMS.timeout
    assert bob.claim() is not None
    later = [one for port in (alice.port, bob.port) for one in port.done if isinstance(one, ReadComments)][1:]
    sizes = [len(run(bob.port, bob.port.request(one)).value) for one in later]
    assert held.ack.id == max(server.comments()) - 1
    assert sizes == [2, 2, 1]
    assert bob.port.count(ReadComments) - len(later) == 2


def test_an_ack_of_an_unknown_key_holds_until_its_timeout(server: Server, alice: FakeAgent) -> None:
    other = FakeAgent(server, "worker-a", keys=Keyring(99, (Key.of(b"x" * 32),)))
    opaque = other.win()
    server.seconds += TERMS.timeout - 6
    alice.nonces.kept |= other.nonces.kept
    assert alice.claim() is None
    server.seconds += 6
    lease = alice.claim()
    assert lease is not None
    assert lease.ack.prev == opaque.ack.id


@pytest.mark.parametrize(("tamper", "holder"), [("delete", "worker-b"), ("edit", None)])
def test_a_predecessor_counts_as_gone_only_when_it_is(
    server: Server, alice: FakeAgent, tamper: str, holder: str | None
) -> None:
    """Bob's ACK names one that a person then removes: deletion is proven by a 404, an edit proves nothing."""
    gone, attempt = FakeAgent(server, "worker-c").begin(), FakeAgent(server, "worker-b").begin()
    gone.until(AdvanceFence)
    gone.crash()
    (first,) = server.comments()
    server.seconds += TERMS.timeout
    attempt.until(AdvanceFence)
    if tamper == "delete":
        server.delete(first)
    else:
        server.edit(first, "I do this myself.")
    view = alice.observe()
    assert (view.holder.agent if view.holder else None) == holder
    assert attempt.finish() is not None
    assert alice.claim() is None


@pytest.mark.fault(39)
@pytest.mark.parametrize("skew", [3600, -3600, -EPOCH.timestamp(), -2 * EPOCH.timestamp(), 3e11])
def test_a_wrong_clock_changes_only_what_is_printed(server: Server, alice: FakeAgent, skew: float) -> None:
    bob = FakeAgent(server, "worker-b")
    alice.port.skew = skew
    held = alice.win()
    assert bob.claim() is None
    server.seconds += TERMS.timeout - TERMS.settle - 1
    assert bob.claim() is None
    server.seconds += TERMS.settle + 1
    assert bob.claim() is not None
    assert held.fence.at == EPOCH


def test_ids_of_acks_only_grow_from_epoch_to_epoch(server: Server) -> None:
    for name in ("worker-a", "worker-b", "worker-c"):
        agent = FakeAgent(server, name)
        assert run(agent.port, release(agent.win()))
    assert all(newer.ack_id > older.ack_id for newer, older in pairwise(server.lineage(KEY)))


class PacedPort(FakePort):
    """A port at which a comment waits 25 minutes for its turn."""

    WAIT_SECONDS = 1500.0

    def answer(self, operation: Operation[Any]) -> Reply[Any]:
        if not isinstance(operation, PostComment):
            return super().answer(operation)
        self.server.seconds += self.WAIT_SECONDS
        return replace(super().answer(operation), sent=self.boot())


def test_a_lease_lasts_from_when_its_ack_went_out_and_not_from_before_it_waited(server: Server) -> None:
    alice = FakeAgent(server, "worker-a")
    alice.port = PacedPort(server)
    before, at = alice.port.boot(), server.at
    held = alice.win()
    sent = before + PacedPort.WAIT_SECONDS
    assert held.deadline == sent + TERMS.self_fence
    assert held.server == (at + timedelta(seconds=PacedPort.WAIT_SECONDS), sent)
    held.check()
