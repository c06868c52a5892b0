"""Held, its heartbeat and its end: the proof ends before anybody else may begin."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from fakes.lock_port import KEY, KEYS, FakeAgent, FakePort, Run, run
from fakes.lock_server import EPOCH, Fault, Server, Stale
from lock_world import TERMS

from shared.errors import Blocked, Gone, Lost, NotAllowed, Transient, Unauthorized, UnknownOutcome
from shared.lock.codec import AckState
from shared.lock.comment import Words, read_ack, write_ack
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import (
    LATE_SECONDS,
    NEW_SECONDS,
    RETRY_SHARE,
    TURN_SECONDS,
    Held,
    beat,
    beat_until_lost,
    release,
    tell,
)
from shared.lock.port import EditComment, Operation, ReadComment, ReadFence, Reply
from shared.workflow import Stage


def test_only_begin_makes_a_proof(held: Held) -> None:
    with pytest.raises(TypeError, match=r"only shared\.lock\.hold\.begin"):
        Held(held.port, held.claimant, held.ack, held.fence, 1e9, held.server, seal=object())
    with pytest.raises(ValueError, match="seal"):
        replace(held, lost="")  # type: ignore[call-arg]


def test_a_lease_holds_until_its_own_deadline(server: Server, alice: FakeAgent) -> None:
    before = alice.port.boot()
    held = alice.win()
    assert held.deadline == before + TERMS.self_fence
    server.seconds += held.deadline - alice.port.boot() - 0.01
    held.check()
    server.seconds += 0.01
    with pytest.raises(Lost, match="no heartbeat"):
        held.check()


@pytest.mark.fault(38)
def test_a_suspended_machine_notices_before_any_effect(alice: FakeAgent, held: Held) -> None:
    """The boot clock jumps by 45 minutes although no timer has fired."""
    alice.port.boot_offset += 45 * 60
    with pytest.raises(Lost):
        held.check()
    alice.port.boot_offset -= 45 * 60
    with pytest.raises(Lost):
        held.check()


@pytest.mark.fault(39)
def test_a_jump_of_the_wall_clock_changes_nothing(server: Server, alice: FakeAgent, held: Held) -> None:
    for skew in (3600, -3600, -EPOCH.timestamp()):
        alice.port.skew = skew
        held.check()
        run(alice.port, beat(held))
    assert abs(held.server_now() - server.at) < timedelta(seconds=2)


def test_a_heartbeat_renews_ack_and_deadline(server: Server, alice: FakeAgent, held: Held) -> None:
    alice.port.done.clear()
    server.seconds += TERMS.heartbeat
    sent = alice.port.boot()
    beats = Run(alice.port, beat(held))
    while not beats.finished:
        server.seconds += 1
        beats.step()
    assert [type(one) for one in alice.port.done] == [ReadComment, EditComment, ReadFence]
    assert held.deadline == sent + TERMS.self_fence
    shown = read_ack(server.comments()[held.ack.id])
    assert shown is not None
    assert (shown.revision, shown.updated_at) == (1, server.at.replace(microsecond=0) - timedelta(seconds=1))
    assert shown.nonce == held.ack.nonce


def test_no_moment_of_a_held_lease_is_free_for_others(server: Server, alice: FakeAgent, held: Held) -> None:
    """Heartbeats fail now and then: as long as `check` passes, another agent sees a live holder."""
    beats = Run(alice.port, beat_until_lost(held))
    alice.port.plan(EditComment, None, Fault.FAILED, None, *[Fault.FAILED] * 200)
    watcher = FakeAgent(server, "worker-b")
    while not beats.finished:
        beats.step()
        if alice.port.boot() < held.deadline:
            assert watcher.observe().is_live
    assert isinstance(beats.error, Lost)
    alice.port.plans.clear()
    server.seconds += TERMS.timeout - TERMS.self_fence
    assert watcher.take_over() is not None


def test_heartbeats_come_at_their_interval(alice: FakeAgent, held: Held) -> None:
    alice.port.slept.clear()
    beats = Run(alice.port, beat_until_lost(held))
    for _ in range(8):
        beats.step()
    assert alice.port.slept == [pytest.approx(TERMS.heartbeat, abs=1)] * 2


@pytest.mark.parametrize("error", [Transient(), Unauthorized()])
def test_a_failed_heartbeat_is_tried_sooner_until_the_deadline(
    alice: FakeAgent, held: Held, error: Transient | Unauthorized
) -> None:
    alice.port.slept.clear()
    alice.port.plan(ReadComment, *[error] * 40)
    with pytest.raises(Lost, match="no heartbeat"):
        run(alice.port, beat_until_lost(held))
    assert alice.port.slept[:3] == [TERMS.heartbeat, TERMS.heartbeat / RETRY_SHARE, TERMS.heartbeat / RETRY_SHARE]
    assert sum(alice.port.slept) <= TERMS.self_fence
    assert alice.port.boot() == held.deadline


def test_a_heartbeat_that_is_refused_for_good_loses_the_lease(alice: FakeAgent, held: Held) -> None:
    alice.port.plan(EditComment, Gone("it is gone"))
    with pytest.raises(Lost, match="it is gone"):
        run(alice.port, beat_until_lost(held))
    with pytest.raises(Lost):
        held.check()


def test_a_comment_that_may_not_be_edited_ends_nothing(server: Server, alice: FakeAgent, held: Held) -> None:
    """The comment is another account's: the stamps in the fence are the sign of life, and nobody takes over."""
    alice.port.plan(EditComment, *[NotAllowed("not yours")] * 40)
    watcher = FakeAgent(server, "worker-b")
    for _ in range(12):
        server.seconds += TERMS.heartbeat
        run(alice.port, beat(held))
        assert watcher.claim() is None
    alice.port.plans.clear()
    held.check()


def test_a_long_lease_is_stamped_in_the_fence(server: Server, alice: FakeAgent, held: Held) -> None:
    """The stamp shows a reader who cannot read the comment that the lease lives; it costs no request of the API."""
    stamps = []
    for _ in range(9):
        server.seconds += TERMS.heartbeat
        run(alice.port, beat(held))
        stamps.append(held.fence.stamped)
    assert len(set(stamps)) == 4
    assert held.fence.at == EPOCH, "nothing else has changed since"
    assert held.fence == server.fence(KEY)


def test_what_an_older_epoch_writes_late_is_written_over(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    first = alice.win()
    late = write_ack(replace(first.ack, revision=7), KEYS)
    assert run(alice.port, release(first))
    held = bob.win()
    server.seconds += 60
    server.edit(held.ack.id, late)
    run(bob.port, beat(held))
    assert read_ack(server.comments()[held.ack.id]) == replace(held.ack, updated_at=server.at.replace(microsecond=0))


def test_an_edit_of_ours_that_is_carried_out_late_takes_nothing_back(
    server: Server, alice: FakeAgent, held: Held
) -> None:
    for sentence in ("first", "second", "third"):
        server.seconds += 60
        run(alice.port, tell(held, Words(sentence)))
        if sentence == "first":
            late = server.comments()[held.ack.id].body
    server.seconds += 60
    server.edit(held.ack.id, late)
    run(alice.port, beat(held))
    assert "third" in server.comments()[held.ack.id].body
    assert held.words.text == "third"


class SleepyPort(FakePort):
    """A port whose machine stands still for `asleep` seconds, once, with the answer about a fence in its hand."""

    asleep = 0.0

    def answer(self, operation: Operation[Any]) -> Reply[Any]:
        reply = super().answer(operation)
        if isinstance(operation, ReadFence):
            self.server.seconds += self.asleep
            self.asleep = 0.0
        return reply


@pytest.mark.parametrize("asleep", [29.0, 31.0, 929.0])
def test_a_pause_with_an_answer_in_hand_makes_no_stamp_old(server: Server, asleep: float) -> None:
    """Stamped with a time from before the pause, the fence would be taken over while its holder may still write."""
    alice = FakeAgent(server, "worker-a")
    alice.port = port = SleepyPort(server)
    held = alice.win()
    server.seconds += 300
    port.asleep = asleep
    run(port, beat(held))
    written = run(port, advance(held, FenceChange(paid_runs=1)))
    assert (server.at - written.stamped).total_seconds() <= LATE_SECONDS


def test_what_a_newer_epoch_wrote_ends_this_one(server: Server, alice: FakeAgent, held: Held) -> None:
    server.seconds += 60
    newer = replace(held.ack, epoch=held.ack.epoch + 1, nonce="9" * 32, agent="worker-b")
    server.edit(held.ack.id, write_ack(newer, KEYS))
    with pytest.raises(Lost, match="taken over"):
        run(alice.port, beat(held))


def test_what_somebody_else_told_in_our_epoch_stays(server: Server, alice: FakeAgent, held: Held) -> None:
    """An operator's command is recorded in the comment of a live holder: its heartbeat carries that on."""
    server.seconds += 60
    words = Words("It works.", "recorded: 7")
    server.edit(held.ack.id, write_ack(replace(held.ack, revision=5), KEYS, words))
    run(alice.port, beat(held))
    assert "recorded: 7" in server.comments()[held.ack.id].body
    assert held.ack.revision == 6


def test_what_is_told_is_a_heartbeat_too(server: Server, alice: FakeAgent, held: Held) -> None:
    beats = Run(alice.port, beat_until_lost(held))
    server.seconds += 200
    sent = alice.port.boot()
    run(alice.port, beat(held, Words("The tests are written.")))
    assert held.deadline == sent + TERMS.self_fence
    assert "The tests are written." in server.comments()[held.ack.id].body
    asked = len(alice.port.done)
    beats.step()
    assert beats.waits_for == pytest.approx(200, abs=1), "counted from what was told"
    assert len(alice.port.done) == asked


def test_edits_of_one_comment_wait_for_each_other(server: Server, alice: FakeAgent, held: Held) -> None:
    one, two = Run(alice.port, beat(held, Words("one"))), Run(alice.port, beat(held, Words("two")))
    one.until(EditComment)
    assert two.waits_for == TURN_SECONDS
    two.step()
    assert two.waits_for == TURN_SECONDS
    one.finish()
    two.finish()
    bodies = [op.body for op in alice.port.done if isinstance(op, EditComment)]
    assert [("one" in body, "two" in body) for body in bodies] == [(True, False), (False, True)]
    assert held.edits == held.moves == []


def test_a_text_that_is_too_long_leaves_the_lock_alone(server: Server, alice: FakeAgent, held: Held) -> None:
    alice.port.plan(EditComment, Blocked("GitHub refused it (422): body is too long"))
    run(alice.port, beat(held, Words("x" * 300)))
    body = server.comments()[held.ack.id].body
    assert "ACK:worker:worker-a:" in body
    assert "xxx" not in body
    run(alice.port, beat(held))


def test_line_ends_that_github_changes_are_no_edit(server: Server, alice: FakeAgent, held: Held) -> None:
    server.edit(held.ack.id, server.comments()[held.ack.id].body.replace("\n", "\r\n") + "\r\n")
    run(alice.port, beat(held))
    held.check()


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.REPLY_LOST, Fault.LATE])
def test_an_unknown_heartbeat_does_not_look_like_an_edit(
    server: Server, alice: FakeAgent, held: Held, fault: Fault
) -> None:
    alice.port.plan(EditComment, fault)
    with pytest.raises(UnknownOutcome):
        run(alice.port, beat(held))
    server.deliver()
    run(alice.port, beat(held))
    held.check()
    texts = [one.body for one in alice.port.done if isinstance(one, EditComment)]
    assert len(texts) == len(set(texts)) == 2


def test_a_stale_read_of_our_own_older_text_is_no_edit(server: Server, alice: FakeAgent, held: Held) -> None:
    for _ in range(3):
        server.seconds += TERMS.heartbeat / RETRY_SHARE
        alice.port.plan(ReadFence, Fault.FAILED)
        with pytest.raises(Transient):
            run(alice.port, beat(held))
    alice.port.plan(ReadComment, Stale(TERMS.heartbeat / RETRY_SHARE * 2))
    run(alice.port, beat(held))
    held.check()


def test_a_superseded_holder_stops(server: Server, alice: FakeAgent, held: Held) -> None:
    server.seconds += TERMS.timeout
    alice.port.boot_offset -= TERMS.timeout
    assert FakeAgent(server, "worker-b").take_over() is not None
    with pytest.raises(Lost, match="taken over"):
        run(alice.port, beat(held))


def test_an_earlier_life_is_superseded_by_its_successor(server: Server, alice: FakeAgent, held: Held) -> None:
    """A stale read may show the earlier life its own old text, but the nonce in the fence is no longer its own."""
    server.seconds += 60
    assert alice.restart().claim() is not None
    server.seconds += 1
    alice.port.plan(ReadComment, Stale(30))
    with pytest.raises(Lost, match="taken over"):
        run(alice.port, beat(held))


def test_a_deleted_fence_ends_the_lease(server: Server, alice: FakeAgent, held: Held) -> None:
    del server.refs[KEY.ref]
    with pytest.raises(Lost, match="taken over"):
        run(alice.port, beat(held))


def test_a_heartbeat_that_takes_too_long_does_not_renew(server: Server, alice: FakeAgent, held: Held) -> None:
    deadline = held.deadline
    beats = Run(alice.port, beat(held))
    beats.until(ReadFence)
    server.seconds += TERMS.self_fence
    with pytest.raises(Lost, match="no heartbeat"):
        beats.finish()
    assert held.deadline == deadline


def test_server_time_goes_on_between_answers_in_whole_seconds(server: Server, alice: FakeAgent, held: Held) -> None:
    server.seconds += 90.6
    assert held.server_now() == server.at.replace(microsecond=0) - timedelta(seconds=0)
    assert held.server_now().microsecond == 0


def test_what_follows_an_edit_of_ours_at_once_is_not_read_before(server: Server, alice: FakeAgent, held: Held) -> None:
    """The write is one request instead of three and renews no deadline; after ten seconds the comment is read again."""
    deadline, asked = held.deadline, len(alice.port.done)
    server.seconds += 9
    run(alice.port, tell(held, Words("The tests are written.")))
    assert [type(one) for one in alice.port.done[asked:]] == [EditComment]
    assert held.deadline == deadline
    server.seconds += 10
    server.edit(held.ack.id, "I do this myself.")
    with pytest.raises(Lost, match="edited"):
        run(alice.port, tell(held, Words("The code is written.")))
    assert server.comments()[held.ack.id].body == "I do this myself."


def test_after_an_edit_whose_reply_was_lost_the_comment_is_read(alice: FakeAgent, held: Held) -> None:
    alice.port.plan(EditComment, Fault.LOST)
    with pytest.raises(UnknownOutcome):
        run(alice.port, tell(held, Words("one")))
    asked = len(alice.port.done)
    run(alice.port, tell(held, Words("two")))
    assert [type(one) for one in alice.port.done[asked:]] == [ReadComment, EditComment, ReadFence]


def test_a_comment_deleted_just_now_is_noticed_by_an_edit_too(server: Server, alice: FakeAgent, held: Held) -> None:
    server.seconds += NEW_SECONDS
    run(alice.port, beat(held))
    server.delete(held.ack.id)
    with pytest.raises(Lost, match="deleted"):
        run(alice.port, tell(held, Words("one")))


@pytest.mark.parametrize("is_told_first", [False, True])
@pytest.mark.parametrize(
    ("stage", "state"),
    [
        (Stage.TESTING, AckState.ACTIVE),
        (Stage.REVIEWING, AckState.RELEASED),
        (Stage.FAILED, AckState.RELEASED),
        (Stage.DONE, AckState.DONE),
    ],
)
def test_what_is_told_of_the_hand_over_tells_the_end_too(
    server: Server, alice: FakeAgent, held: Held, stage: Stage, state: AckState, *, is_told_first: bool
) -> None:
    """The release then needs no edit of its own; until the release the fence still holds the item."""
    if is_told_first:  # so that nothing is lost should we die in between
        run(alice.port, tell(held, Words("It has come so far."), stage))
    run(alice.port, advance(held, FenceChange(stage=stage)))
    if not is_told_first:
        run(alice.port, tell(held, Words("It has come so far.")))
    shown = read_ack(server.comments()[held.ack.id])
    assert shown is not None
    assert shown.state is state
    edits = alice.port.count(EditComment)
    assert run(alice.port, release(held))
    assert alice.port.count(EditComment) == edits + (state is AckState.ACTIVE)
    fence = server.fence(KEY)
    assert fence is not None
    assert fence.free


def test_who_told_the_end_and_works_on_is_at_work_again_with_the_next_words(
    server: Server, alice: FakeAgent, held: Held
) -> None:
    for words, leads_to, state in (("It is done.", Stage.DONE, AckState.DONE), ("Not yet.", None, AckState.ACTIVE)):
        run(alice.port, tell(held, Words(words), leads_to))
        shown = read_ack(server.comments()[held.ack.id])
        assert shown is not None
        assert shown.state is state
