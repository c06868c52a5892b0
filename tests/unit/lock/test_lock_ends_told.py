"""Comments that outlived their lock: whoever comes by tells that it is over, once, and only where it is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from fakes.lock_port import KEY, KEYS, FakeAgent, run
from fakes.lock_server import Fault, Plan, Server
from lock_world import TERMS, on_the_thread

from shared.errors import NotAllowed
from shared.lock.codec import AckState
from shared.lock.comment import read_ack, write_ack
from shared.lock.ended_epochs import OLD, YOUNG, tell_ends
from shared.lock.fence import Fence, FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held, release
from shared.lock.port import EditComment, ReadComment
from shared.workflow import Stage


def left_active(server: Server, agent: FakeAgent, stage: Stage | None = None) -> Held:
    """Leave the lease of an agent that was killed between the release of its fence and the edit that tells people."""
    held = agent.win()
    if stage is not None:
        run(agent.port, advance(held, FenceChange(stage=stage)))
    agent.port.plan(EditComment, Fault.LOST)
    assert run(agent.port, release(held))
    assert on_the_thread(server, held) is AckState.ACTIVE
    return held


def tell(agent: FakeAgent, *, after: timedelta = YOUNG) -> int:
    fence = agent.port.server.fence(KEY)
    assert fence is not None
    return run(agent.port, tell_ends(agent.port, [fence], agent.claimant, fence.stamped + after))


@pytest.mark.parametrize(
    ("stage", "state"), [(None, AckState.RELEASED), (Stage.DONE, AckState.DONE), (Stage.REVIEWING, AckState.RELEASED)]
)
def test_an_end_that_nobody_told_is_told_by_the_next_who_comes_by(
    server: Server, alice: FakeAgent, bob: FakeAgent, stage: Stage | None, state: AckState
) -> None:
    held = left_active(server, alice, stage)
    assert tell(bob) == 1
    assert on_the_thread(server, held) is state
    assert tell(bob) == 0


def test_who_told_it_itself_asks_once_when_no_late_edit_can_come_any_more(server: Server, alice: FakeAgent) -> None:
    """In a fleet of one nobody else would notice an edit that was carried out after its end."""
    held = alice.win()
    active = server.comments()[held.ack.id].body
    assert run(alice.port, release(held))
    server.edit(held.ack.id, active)
    asked = len(alice.port.done)
    certain = timedelta(seconds=TERMS.certain)
    assert tell(alice, after=certain - timedelta(seconds=1)) == 0
    assert len(alice.port.done) == asked
    assert tell(alice, after=certain) == 1
    assert on_the_thread(server, held) is AckState.RELEASED
    asked = len(alice.port.done)
    assert tell(alice, after=certain) == 0
    assert len(alice.port.done) == asked


@pytest.mark.parametrize("removed", [False, True])
def test_ends_that_nobody_looks_at_any_more_are_forgotten(server: Server, alice: FakeAgent, removed: bool) -> None:
    held = alice.win()
    assert run(alice.port, release(held))
    tell(alice, after=timedelta(seconds=TERMS.certain))
    known = (alice.claimant.ended_comments, alice.claimant.final_comments)
    assert [list(one) for one in known] == [[KEY.ref], [KEY.ref]]
    asked = len(alice.port.done)
    if removed:
        run(alice.port, tell_ends(alice.port, [], alice.claimant, held.fence.stamped))
    else:
        tell(alice, after=OLD)
    assert known == ({}, {})
    assert len(alice.port.done) == asked


def test_what_looked_dead_once_is_forgotten_when_its_fence_is_another_one_or_gone(
    server: Server, alice: FakeAgent, bob: FakeAgent
) -> None:
    fence = alice.win().fence
    suspects = {fence.key.ref: (fence.oid, 1.0), "refs/ack/worker/7": ("1" * 40, 1.0)}
    bob.claimant.suspects.update(suspects)
    run(bob.port, tell_ends(bob.port, [fence], bob.claimant, fence.stamped))
    assert list(bob.claimant.suspects) == [fence.key.ref]
    run(bob.port, tell_ends(bob.port, [replace(fence, oid="2" * 40)], bob.claimant, fence.stamped))
    assert bob.claimant.suspects == {}


@pytest.mark.parametrize("after", [YOUNG - timedelta(seconds=1), OLD])
def test_what_has_just_ended_or_long_ago_is_left(
    server: Server, alice: FakeAgent, bob: FakeAgent, after: timedelta
) -> None:
    left_active(server, alice)
    assert tell(bob, after=after) == 0
    assert bob.port.count(ReadComment, EditComment) == 0


def test_a_live_epoch_and_another_epochs_text_are_left(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    held = alice.win()
    assert tell(bob) == 0
    assert bob.port.count(ReadComment) == 0, "it is not released"
    assert run(alice.port, release(held))
    server.edit(held.ack.id, write_ack(replace(held.ack, nonce="9" * 32, epoch=7), KEYS))
    assert tell(bob) == 0
    assert bob.port.count(EditComment) == 0


def test_a_higher_epoch_than_that_of_a_ref_that_was_put_back_is_ended_when_nothing_is_heard_of_it(
    server: Server, alice: FakeAgent
) -> None:
    """The agent that has told the end of the restored ref's epoch also ends the higher one."""
    assert run(alice.port, release(alice.win()))
    old = server.refs[KEY.ref]
    held = alice.win()
    server.refs[KEY.ref] = old
    server.seconds += TERMS.timeout - 1
    assert tell(alice, after=timedelta(seconds=TERMS.certain)) == 0
    assert on_the_thread(server, held) is AckState.ACTIVE, "its holder may not know yet"
    server.seconds += 1
    alice.port.sure = False
    assert tell(alice, after=timedelta(seconds=TERMS.certain)) == 0, "nor is it known what time it is"
    alice.port.sure = True
    assert tell(alice, after=timedelta(seconds=TERMS.certain)) == 1
    assert on_the_thread(server, held) is AckState.RELEASED
    ack = read_ack(server.comments()[held.ack.id])
    assert ack is not None
    assert ack.epoch == held.ack.epoch == 2, "whoever claims next counts on from there"


@pytest.mark.parametrize("plan", [Fault.FAILED, NotAllowed("no")])
def test_what_cannot_be_told_now_is_tried_again(server: Server, alice: FakeAgent, bob: FakeAgent, plan: Plan) -> None:
    held = left_active(server, alice)
    bob.port.plan(EditComment, plan)
    assert tell(bob) == 0
    assert tell(bob) == 1
    assert on_the_thread(server, held) is AckState.RELEASED


def test_a_fence_without_a_comment_has_nothing_to_tell(bob: FakeAgent) -> None:
    fence = Fence(KEY, 0, "a" * 32, "worker-a", Stage.DONE, bob.port.server.at, released="a" * 32)
    assert run(bob.port, tell_ends(bob.port, [fence], bob.claimant, fence.at + YOUNG)) == 0
    assert bob.port.count(EditComment) == 0
