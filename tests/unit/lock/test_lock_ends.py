"""Ended epochs whose comment does not say so: any agent that passes tells it, and never of one that is alive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fakes.lock_port import KEY, FakeAgent, run
from fakes.lock_server import STRANGER, Fault, Server
from lock_world import TERMS, on_the_thread

from shared.lock.codec import AckState, ItemKey
from shared.lock.comment import write_ack
from shared.lock.ended_epochs import tell_ends
from shared.lock.fence import Fence, FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held, release
from shared.lock.port import AdvanceFence, EditComment
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Role, Stage

SWEEP = 600.0


def sweep(agent: FakeAgent, fences: Sequence[Fence] | None = None) -> int:
    """Run a sweep of this agent now, and return the number of ends that it has told."""
    server = agent.port.server
    fence = server.fence(KEY)
    known = fences if fences is not None else [fence] if fence is not None else []
    return run(agent.port, tell_ends(agent.port, known, agent.claimant, server.at))


def test_who_released_and_could_not_tell_people_is_helped(
    server: Server, alice: FakeAgent, bob: FakeAgent, held: Held
) -> None:
    alice.port.plan(EditComment, Fault.FAILED)
    run(alice.port, release(held))
    assert on_the_thread(server, held) is AckState.ACTIVE
    server.seconds += SWEEP
    assert sweep(bob) == 1
    assert on_the_thread(server, held) is AckState.RELEASED
    server.seconds += SWEEP
    assert sweep(bob) == 0


def test_what_has_ended_is_told_to_be_done(server: Server, alice: FakeAgent, bob: FakeAgent, held: Held) -> None:
    run(alice.port, advance(held, FenceChange(stage=Stage.DONE)))
    server.seconds += SWEEP
    assert sweep(bob) == 1
    assert on_the_thread(server, held) is AckState.DONE


def test_who_has_just_released_tells_people_itself(
    server: Server, alice: FakeAgent, bob: FakeAgent, held: Held
) -> None:
    alice.port.plan(EditComment, Fault.FAILED)
    run(alice.port, release(held))
    server.seconds += 30
    assert sweep(bob) == 0
    assert bob.port.done == []


def test_a_late_edit_is_undone_by_a_later_sweep(server: Server, alice: FakeAgent, bob: FakeAgent, held: Held) -> None:
    active = server.comments()[held.ack.id].body
    run(alice.port, release(held))
    server.seconds += SWEEP
    assert sweep(bob) == 0
    server.edit(held.ack.id, active)
    server.seconds += SWEEP
    assert sweep(bob) == 1
    assert on_the_thread(server, held) is AckState.RELEASED


def test_a_sweep_looks_no_more_when_no_late_edit_can_come(
    server: Server, alice: FakeAgent, bob: FakeAgent, held: Held
) -> None:
    run(alice.port, release(held))
    server.seconds += TERMS.certain
    assert sweep(bob) == 0
    asked = len(bob.port.done)
    assert asked > 0
    server.seconds += SWEEP
    assert sweep(bob) == 0
    assert len(bob.port.done) == asked


def test_a_dead_holder_is_ended_by_the_second_look(server: Server, bob: FakeAgent, held: Held) -> None:
    server.seconds += TERMS.certain - 1
    assert sweep(bob) == 0
    assert bob.port.done == []
    server.seconds += 2
    assert sweep(bob) == 0
    fence = server.fence(KEY)
    assert fence is not None
    assert not fence.free
    server.seconds += SWEEP
    assert sweep(bob) == 1
    fence = server.fence(KEY)
    assert fence is not None
    assert fence.free
    assert on_the_thread(server, held) is AckState.RELEASED


def test_what_this_process_holds_is_left_alone(server: Server, alice: FakeAgent, held: Held) -> None:
    alice.claimant.holding.add(KEY)
    server.seconds += 2 * TERMS.certain
    for _ in range(2):
        assert sweep(alice) == 0
        server.seconds += SWEEP
    assert alice.port.count(AdvanceFence, EditComment) == 3  # its claim, its record: nothing since


def test_an_earlier_life_is_ended_once_it_is_certain(server: Server, alice: FakeAgent, held: Held) -> None:
    again = alice.restart()
    server.seconds += TERMS.certain - 1
    assert sweep(again) == 0
    server.seconds += 2
    again.port.sure = False
    assert sweep(again) == 0
    again.port.sure = True
    assert sweep(again) == 1
    fence = server.fence(KEY)
    assert fence is not None
    assert fence.free


def test_the_comment_of_the_next_epoch_is_left_alone(
    server: Server, alice: FakeAgent, bob: FakeAgent, held: Held
) -> None:
    run(alice.port, release(held))
    old = server.fence(KEY)
    assert old is not None
    server.seconds += SWEEP
    next_one = bob.win()
    carol = FakeAgent(server, "worker-c")
    assert sweep(carol, [old]) == 0
    assert on_the_thread(server, next_one) is AckState.ACTIVE
    assert carol.port.count(EditComment) == 0


def test_texts_of_others_are_left_alone(server: Server, alice: FakeAgent, bob: FakeAgent, held: Held) -> None:
    run(alice.port, release(held))
    other_key = Keyring(1, (Key.of(b"somebody else's"),))
    active = replace(held.ack, state=AckState.ACTIVE)
    left = [
        server.post(KEY.number, write_ack(active, other_key)),
        server.post(KEY.number, server.comments()[held.ack.id].body, STRANGER),
        server.post(
            KEY.number, write_ack(replace(active, key=ItemKey(Role.REVIEWER, KEY.number)), alice.claimant.keys)
        ),
        server.post(KEY.number, write_ack(replace(active, epoch=9), alice.claimant.keys)),
    ]
    server.seconds += SWEEP
    assert sweep(bob) == 0
    assert bob.port.count(EditComment) == 0
    assert all(server.comments()[one.id].body == one.body for one in left)


def test_a_failure_is_tried_again(server: Server, alice: FakeAgent, bob: FakeAgent, held: Held) -> None:
    alice.port.plan(EditComment, Fault.FAILED)
    run(alice.port, release(held))
    server.seconds += SWEEP
    bob.port.plan(EditComment, Fault.FAILED)
    assert sweep(bob) == 0
    assert sweep(bob) == 1
