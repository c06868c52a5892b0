"""claim by a restarted agent: it goes on with its own ACK at once, and its earlier life is lost."""

from __future__ import annotations

from dataclasses import replace

from fakes.lock_port import KEY, KEYS, FakeAgent, Run, run
from fakes.lock_server import Fault, Server
from lock_world import TERMS, states

from shared.lock.codec import AckState
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import beat
from shared.lock.port import AdvanceFence, EditComment, PostComment
from shared.text.comment_signatures import Key, Keyring


def test_a_restarted_agent_goes_on_after_a_second_look_at_its_comment(alice: FakeAgent) -> None:
    held = alice.win()
    again = alice.restart()
    lease = again.claim()
    assert lease is not None
    assert lease.ack.id == held.ack.id
    assert again.port.count(PostComment) == 0
    assert again.port.slept == [TERMS.settle]
    assert again.nonces.kept == {lease.ack.nonce}


def test_going_on_renews_the_epoch(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    """Without the renewal the epoch would expire long before the new life's own deadline."""
    alice.win()
    server.seconds += TERMS.timeout - 60
    held = alice.restart().win()
    server.seconds += held.deadline - held.port.boot() - 1
    held.check()
    assert bob.claim() is None


def test_only_the_agent_that_wrote_an_ack_goes_on_with_it(alice: FakeAgent, bob: FakeAgent) -> None:
    alice.win()
    bob.nonces.kept |= alice.nonces.kept
    assert bob.claim() is None


def test_a_fresh_state_directory_waits_like_anybody(server: Server, alice: FakeAgent) -> None:
    alice.win()
    assert FakeAgent(server, "worker-a").claim() is None


def test_going_on_with_a_new_key_is_no_edit(server: Server, alice: FakeAgent) -> None:
    alice.win()
    again = alice.restart()
    again.claimant = replace(again.claimant, keys=Keyring(99, (Key.of(b"2" * 32), *KEYS.keys)))
    held = again.win()
    server.seconds += TERMS.heartbeat
    run(again.port, beat(held))
    held.check()


def test_a_comment_deleted_while_going_on_is_posted_again(server: Server, alice: FakeAgent) -> None:
    held = alice.win()
    again = alice.restart()
    attempt = again.begin()
    attempt.until(EditComment)
    server.delete(held.ack.id)
    lease = attempt.finish()
    assert lease is not None
    assert [lease.ack.id] == list(server.comments())


def test_a_late_fence_of_an_earlier_life_is_met_by_trying_again(server: Server, alice: FakeAgent) -> None:
    held = alice.win()
    alice.port.plan(AdvanceFence, Fault.LATE)
    push = Run(alice.port, advance(held, FenceChange(pr=57)))
    push.step()
    push.crash()
    again = alice.restart()
    attempt = again.begin()
    attempt.until(AdvanceFence)
    assert server.deliver() == 1
    assert attempt.finish() is None
    assert states(server) == [AckState.ACTIVE]
    lease = again.claim()
    assert lease is not None
    assert (lease.ack.id, lease.fence.pr) == (held.ack.id, 57)


def test_two_lives_of_one_agent_do_not_share_an_epoch(server: Server, alice: FakeAgent) -> None:
    """A copied state directory: the later life's nonce is in the fence, the earlier one finds itself lost."""
    alice.win()
    first, second = alice.restart(), alice.restart()
    second.nonces.count += 10
    one, two = first.begin(), second.begin()
    one.until(AdvanceFence)
    two.until(AdvanceFence)
    won, lost = one.finish(), two.finish()
    assert won is not None
    assert lost is None
    fence = server.fence(KEY)
    assert fence is not None
    assert fence.nonce == won.ack.nonce
