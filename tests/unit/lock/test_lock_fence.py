"""advance: state, code and lock move together or not at all, and only for the epoch that holds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes.lock_port import KEY, FakeAgent, run
from fakes.lock_server import EPOCH, Fault, Server
from lock_world import TERMS

from shared.errors import Lost, NotAllowed, Transient
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, FenceChange, Wait
from shared.lock.fence_moves import advance, end_item
from shared.lock.hold import Held
from shared.lock.port import AdvanceFence, ReadFence, RefUpdate
from shared.workflow import Role, Stage

RED, GREEN = "1" * 40, "2" * 40
BRANCH = "refs/heads/auto/issue-42"
NOTES = "refs/notes/workflow/issue-42"


def pushes(agent: FakeAgent) -> list[AdvanceFence]:
    return [one for one in agent.port.done if isinstance(one, AdvanceFence)]


def test_an_advance_records_its_changes_on_top_of_the_last(server: Server, alice: FakeAgent, held: Held) -> None:
    first = held.fence
    server.seconds += 60
    written = run(alice.port, advance(held, FenceChange(stage=Stage.TESTING, phase="green", wait=Wait("ci", EPOCH))))
    assert written == held.fence == server.fence(KEY)
    assert (written.stage, written.phase, written.wait) == (Stage.TESTING, "green", Wait("ci", EPOCH))
    assert (written.ack_id, written.nonce) == (first.ack_id, first.nonce)
    assert written.at > first.at
    assert server.commits[written.oid][1] == (first.oid,)
    assert pushes(alice)[-1].expected == first.oid


@pytest.mark.parametrize(
    "change",
    [FenceChange(stage=Stage.TESTING), FenceChange(phase="ci"), FenceChange(work_head=RED), FenceChange(attempt=2)],
)
def test_what_was_achieved_is_counted_anew(alice: FakeAgent, held: Held, change: FenceChange) -> None:
    paid = FenceChange(paid_runs=3, failures="red", wait=Wait("ci", EPOCH))
    run(alice.port, advance(held, paid))
    same = run(alice.port, advance(held, FenceChange(pr=9)))
    assert (same.paid_runs, same.failures, same.wait) == (3, "red", Wait("ci", EPOCH)), "that is no progress"
    written = run(alice.port, advance(held, change))
    assert (written.paid_runs, written.failures, written.wait) == (0, "", None)


def test_two_equal_advances_are_two_commits(alice: FakeAgent, held: Held) -> None:
    one = run(alice.port, advance(held, FenceChange(phase="red")))
    two = run(alice.port, advance(held, FenceChange(phase="red")))
    assert one.oid != two.oid


def test_work_travels_with_the_fence_until_the_branch_has_it(server: Server, alice: FakeAgent, held: Held) -> None:
    notes = RefUpdate(NOTES, None, "9" * 40)
    run(alice.port, advance(held, FenceChange(work_head=RED), updates=(notes,)))
    run(alice.port, advance(held, FenceChange(phase="green")))
    run(alice.port, advance(held, FenceChange(work_head=GREEN), updates=(RefUpdate(BRANCH, None, GREEN),)))
    assert [(push.carries, push.updates != ()) for push in pushes(alice)[3:]] == [(RED, True), ("", False), ("", True)]
    assert server.refs == {KEY.ref: held.fence.oid, NOTES: "9" * 40, BRANCH: GREEN}


def test_a_ref_that_a_person_moved_stops_the_whole_push(server: Server, alice: FakeAgent, held: Held) -> None:
    before = held.fence
    server.refs[BRANCH] = "f" * 40
    with pytest.raises(Transient):
        run(alice.port, advance(held, FenceChange(work_head=GREEN), updates=(RefUpdate(BRANCH, None, GREEN),)))
    assert server.refs == {KEY.ref: before.oid, BRANCH: "f" * 40}
    assert held.fence == before
    held.check()


def test_another_epoch_ends_this_one(server: Server, alice: FakeAgent, held: Held) -> None:
    server.seconds += TERMS.timeout
    alice.port.boot_offset -= TERMS.timeout
    lease = FakeAgent(server, "worker-b").take_over()
    assert lease is not None
    with pytest.raises(Lost, match="taken over"):
        run(alice.port, advance(held, FenceChange(work_head=GREEN), updates=(RefUpdate(BRANCH, None, GREEN),)))
    assert server.refs == {KEY.ref: lease.fence.oid}
    with pytest.raises(Lost):
        held.check()


def test_a_deleted_fence_ends_the_epoch(server: Server, alice: FakeAgent, held: Held) -> None:
    del server.refs[KEY.ref]
    with pytest.raises(Lost):
        run(alice.port, advance(held, FenceChange(pr=57)))
    assert server.refs == {}


@pytest.mark.fault(38)
def test_after_the_deadline_nothing_is_sent(alice: FakeAgent, held: Held) -> None:
    sent = len(alice.port.done)
    alice.port.boot_offset += TERMS.self_fence
    with pytest.raises(Lost):
        run(alice.port, advance(held, FenceChange(pr=57)))
    assert len(alice.port.done) == sent


def test_a_lost_reply_is_read_back(server: Server, alice: FakeAgent, held: Held) -> None:
    alice.port.plan(AdvanceFence, Fault.REPLY_LOST)
    written = run(alice.port, advance(held, FenceChange(approved_by=" ada  lovelace ", pr=57)))
    assert written == held.fence == server.fence(KEY)
    assert written.pr == 57


def test_a_lost_push_is_left_for_the_next_tick(server: Server, alice: FakeAgent, held: Held) -> None:
    before = held.fence
    alice.port.plan(AdvanceFence, Fault.LOST)
    with pytest.raises(Transient):
        run(alice.port, advance(held, FenceChange(pr=57)))
    assert held.fence == before == server.fence(KEY)
    assert run(alice.port, advance(held, FenceChange(pr=57))).pr == 57


def test_what_stood_there_before_is_not_taken_for_the_lost_push(alice: FakeAgent, held: Held) -> None:
    run(alice.port, advance(held, FenceChange(phase="red")))
    alice.port.plan(AdvanceFence, Fault.LOST)
    with pytest.raises(Transient):
        run(alice.port, advance(held, FenceChange(phase="red")))


@pytest.mark.parametrize("repeat", [False, True])
def test_a_late_push_of_our_own_is_adopted(server: Server, alice: FakeAgent, held: Held, repeat: bool) -> None:
    alice.port.plan(AdvanceFence, Fault.LATE)
    with pytest.raises(Transient):
        run(alice.port, advance(held, FenceChange(pr=57, work_head=RED)))
    if repeat:
        run(alice.port, advance(held, FenceChange(pr=58)))
    assert server.deliver() == 1
    if repeat:
        assert run(alice.port, advance(held, FenceChange(phase="green"))).pr == 58
        return
    with pytest.raises(Transient, match="arrived late"):
        run(alice.port, advance(held, FenceChange(phase="green")))
    assert (held.fence.pr, held.fence.work_head) == (57, RED)
    assert run(alice.port, advance(held, FenceChange(phase="green"))).phase == "green"
    assert [one.pr for one in server.lineage(KEY)][:2] == [57, 57]


@pytest.mark.parametrize("kind", [AdvanceFence, ReadFence])
def test_a_failure_says_nothing_about_the_lease(
    alice: FakeAgent, held: Held, kind: type[AdvanceFence | ReadFence]
) -> None:
    if kind is ReadFence:
        alice.port.plan(AdvanceFence, Fault.LOST)
    alice.port.plan(kind, Fault.FAILED)
    with pytest.raises(Transient):
        run(alice.port, advance(held, FenceChange(pr=57)))
    held.check()


def test_a_refusal_for_good_is_for_the_caller(alice: FakeAgent, held: Held) -> None:
    alice.port.plan(AdvanceFence, NotAllowed())
    with pytest.raises(NotAllowed):
        run(alice.port, advance(held, FenceChange(pr=57)))
    held.check()


def other(server: Server, oid: str = "") -> Fence:
    """Push the resting fence of another kind, and return it as read at `oid`."""
    key = ItemKey(Role.WORKER, 7)
    pushed = server.push(Fence(key, 5, "1" * 32, "worker-z", Stage.REVIEWING, EPOCH), None, "", ())
    assert pushed is not None
    found = server.fence(key)
    assert found is not None
    return replace(found, oid=oid or pushed)


def test_the_end_takes_another_fence_and_a_branch_along(server: Server, alice: FakeAgent, held: Held) -> None:
    server.refs[BRANCH] = GREEN
    resting, before = other(server), len(pushes(alice))
    assert run(alice.port, end_item(held, resting, (RefUpdate(BRANCH, GREEN, ""),)))
    assert len(pushes(alice)) == before + 1
    ended, buried = server.fence(KEY), server.fence(resting.key)
    assert ended == held.fence
    assert [one.stage for one in (ended, buried) if one] == [Stage.DONE, Stage.DONE]
    assert buried is not None
    assert (buried.ack_id, buried.nonce, buried.agent) == (resting.ack_id, resting.nonce, resting.agent)
    assert not server.refs[BRANCH]


@pytest.mark.parametrize(("oid", "branch"), [("e" * 40, GREEN), ("", RED)], ids=["the fence", "the branch"])
def test_an_end_of_which_one_part_has_moved_does_nothing(
    server: Server, alice: FakeAgent, held: Held, oid: str, branch: str
) -> None:
    server.refs[BRANCH] = branch
    resting, before = other(server, oid), held.fence
    refs = dict(server.refs)
    assert not run(alice.port, end_item(held, resting, (RefUpdate(BRANCH, GREEN, ""),)))
    assert server.refs == refs
    assert held.fence == before
    held.check()


def test_an_end_without_another_fence_is_an_end(server: Server, alice: FakeAgent, held: Held) -> None:
    assert run(alice.port, end_item(held, None))
    assert server.fence(KEY) == held.fence
    assert held.fence.stage is Stage.DONE
