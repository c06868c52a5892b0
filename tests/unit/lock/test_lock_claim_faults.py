"""claim when GitHub or git misbehave: nothing is posted twice, nothing stays locked, nobody wins wrongly."""

from __future__ import annotations

import pytest
from fakes.lock_port import KEY, FakeAgent, Run, run
from fakes.lock_server import Fault, Hidden, Server, Stale
from lock_world import AN_ATTEMPT, TERMS, states

from shared.errors import Blocked, Gone, NotAllowed, Transient, Unauthorized
from shared.lock.announce import TRIES
from shared.lock.claim import OLD_SECONDS, Intent, claim
from shared.lock.codec import AckState
from shared.lock.comment import read_ack
from shared.lock.hold import begin
from shared.lock.lease import Lease
from shared.lock.port import AdvanceFence, EditComment, PostComment, ReadComment, ReadComments
from shared.workflow import Stage


def after(steps: int, attempt: Run[Lease | None]) -> None:
    for _ in range(steps):
        attempt.step()


def test_a_comment_whose_reply_was_lost_is_found_by_its_nonce(server: Server, alice: FakeAgent) -> None:
    alice.port.plan(PostComment, Fault.REPLY_LOST)
    lease = alice.claim()
    assert lease is not None
    assert alice.port.count(PostComment) == 1
    assert list(server.comments()) == [lease.ack.id]
    assert alice.port.slept == [TERMS.settle]


def test_a_comment_that_is_not_found_is_not_posted_again(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    alice.port.plan(PostComment, Fault.LOST)
    with pytest.raises(Transient):
        alice.claim()
    assert alice.port.count(PostComment) == 1
    assert server.comments() == {}
    fence = server.fence(KEY)
    assert fence is not None
    assert (fence.free, fence.posted) == (True, 1)
    assert bob.claim() is not None, "nobody waits for it"


def test_a_comment_that_arrives_late_is_adopted(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    alice.port.plan(PostComment, Fault.LATE)
    with pytest.raises(Transient):
        alice.claim()
    assert server.deliver() == 1
    lease = bob.claim()
    assert lease is not None
    assert [lease.ack.id] == list(server.comments())
    assert bob.port.count(PostComment) == 0
    assert states(server) == [AckState.ACTIVE]


def test_a_comment_that_is_posted_twice_is_recorded_once(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    alice.port.plan(PostComment, Fault.TWICE)
    lease = alice.claim()
    assert lease is not None
    assert lease.fence.ack_id == lease.ack.id == max(server.comments())
    assert bob.claim() is None


@pytest.mark.fault(11)
def test_a_lagging_thread_posts_two_comments_at_most_and_goes_on_without(server: Server) -> None:
    """No POST is answered or shown by any list: the third claim works without a comment."""
    posts = 0
    for name in ("worker-a", "worker-b"):
        agent = FakeAgent(server, name)
        agent.port.plan(PostComment, Fault.LOST)
        with pytest.raises(Transient):
            agent.claim()
        posts += agent.port.count(PostComment)
    last = FakeAgent(server, "worker-c")
    held = last.win()
    assert held.ack.id == 0
    assert (posts, last.port.count(PostComment)) == (2, 0)
    held.check()


def test_the_recorded_comment_is_edited_although_no_reading_shows_it(
    server: Server, alice: FakeAgent, bob: FakeAgent
) -> None:
    held = alice.win()
    server.seconds += TERMS.certain
    bob.port.plan(ReadComment, Hidden(frozenset({held.ack.id})))
    bob.port.plan(ReadComments, Hidden(frozenset({held.ack.id})))
    lease = bob.take_over()
    assert lease is not None
    assert lease.ack.id == held.ack.id
    assert len(server.comments()) == 1


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.REPLY_LOST])
def test_an_edit_whose_reply_is_lost_is_tried_again_and_is_not_the_end(
    server: Server, alice: FakeAgent, bob: FakeAgent, fault: Fault
) -> None:
    alice.win()
    server.seconds += TERMS.certain
    bob.port.plan(EditComment, *[fault] * TRIES)
    lease = bob.take_over()
    assert lease is not None
    assert bob.port.count(EditComment) == TRIES
    assert bob.port.count(PostComment) == 0


def test_the_third_try_to_show_an_epoch_counts(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    alice.win()
    server.seconds += TERMS.certain
    bob.port.plan(ReadComment, Fault.FAILED, Fault.FAILED)
    bob.port.plan(EditComment, Fault.LOST, Fault.LOST)
    lease = bob.take_over()
    assert lease is not None
    (shown,) = (read_ack(one) for one in server.comments().values())
    assert shown is not None
    assert (shown.agent, shown.epoch) == ("worker-b", 2)


def test_a_comment_that_cannot_be_read_is_not_written_over(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    held = alice.win()
    server.seconds += TERMS.certain
    bob.port.plan(ReadComment, *[Fault.FAILED] * TRIES)
    lease = bob.take_over()
    assert lease is not None
    assert lease.ack.id == held.ack.id
    assert bob.port.count(EditComment) == 0, "the next heartbeat shows it"


@pytest.mark.parametrize("plan", [NotAllowed("locked"), Gone(), Unauthorized(), Fault.FAILED])
def test_a_post_that_is_refused_lets_go_by_the_fence_alone(
    server: Server, alice: FakeAgent, bob: FakeAgent, plan: Fault | Blocked
) -> None:
    alice.port.plan(PostComment, plan)
    with pytest.raises((Blocked, Transient)):
        alice.claim()
    assert server.comments() == {}
    assert alice.nonces.kept == set()
    assert bob.claim() is not None


def test_what_cannot_be_let_go_of_is_gone_on_with(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    alice.port.plan(PostComment, NotAllowed("locked"))
    alice.port.plan(AdvanceFence, None, None, Fault.LOST)
    with pytest.raises(NotAllowed):
        alice.claim()
    assert bob.claim() is None
    assert alice.claim() is not None


def test_a_comment_that_another_overtakes_is_not_recorded(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    """An agent that pauses between post and record until another has taken over holds nothing, and writes nothing."""
    attempt = alice.begin()
    attempt.until(PostComment)
    attempt.step()
    server.seconds += TERMS.certain
    taken = bob.take_over()
    assert taken is not None
    edits = alice.port.count(EditComment)
    assert attempt.finish() is None
    assert alice.port.count(EditComment) == edits
    assert len(server.comments()) == 1
    assert server.fence(KEY) == taken.fence


def test_a_fence_whose_reply_was_lost_is_ours_when_it_is_there(server: Server, alice: FakeAgent) -> None:
    alice.port.plan(AdvanceFence, Fault.REPLY_LOST)
    lease = alice.claim(approved_by="ada  lovelace")
    assert lease is not None
    assert server.fence(KEY) == lease.fence
    begin(alice.port, lease, alice.claimant).check()


def test_a_fence_that_is_not_there_leaves_nothing(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    alice.port.plan(AdvanceFence, Fault.LOST)
    assert alice.claim() is None
    assert server.comments() == {}
    assert bob.claim() is not None


def test_a_fence_that_arrives_late_is_gone_on_with_by_its_own_agent(server: Server, alice: FakeAgent) -> None:
    alice.port.plan(AdvanceFence, Fault.LATE)
    assert alice.claim() is None
    assert server.deliver() == 1
    assert FakeAgent(server, "worker-b").claim() is None
    server.seconds += 120
    lease = alice.claim()
    assert lease is not None
    assert [fence.agent for fence in server.lineage(KEY)][-1] == "worker-a"
    assert len(server.comments()) == 1


@pytest.mark.parametrize("error", [NotAllowed(), Gone()])
def test_a_fence_that_is_refused_for_good_leaves_no_comment(server: Server, alice: FakeAgent, error: Blocked) -> None:
    alice.port.plan(AdvanceFence, error)
    with pytest.raises(type(error)):
        alice.claim()
    assert server.comments() == {}


@pytest.mark.parametrize("steps", range(len(AN_ATTEMPT)))
def test_a_failure_decides_nothing(server: Server, alice: FakeAgent, steps: int) -> None:
    kind = AN_ATTEMPT[steps]
    before: list[None] = [None] * sum(one is kind for one in AN_ATTEMPT[:steps])
    alice.port.plan(kind, *before, Fault.FAILED)
    with pytest.raises(Transient):
        alice.claim()
    server.seconds += 120
    assert alice.claim() is not None
    assert len(server.comments()) == 1


def test_a_look_whose_single_read_fails_is_transient(server: Server, alice: FakeAgent) -> None:
    held = FakeAgent(server, "worker-z").win()
    server.seconds += TERMS.timeout
    assert held.ack.id
    alice.port.plan(ReadComment, Fault.FAILED)
    with pytest.raises(Transient):
        alice.observe()


@pytest.mark.parametrize("steps", [1, 2])
def test_a_crash_before_the_fence_leaves_nothing(server: Server, alice: FakeAgent, bob: FakeAgent, steps: int) -> None:
    attempt = alice.begin()
    after(steps, attempt)
    attempt.crash()
    assert bob.claim() is not None


@pytest.mark.parametrize(
    ("steps", "kind", "fault"),
    [
        pytest.param(3, AdvanceFence, None, id="fenced"),
        pytest.param(3, AdvanceFence, Fault.REPLY_LOST, id="fenced, reply lost"),
        pytest.param(3, AdvanceFence, Fault.LATE, id="the fence arrives after the crash"),
        pytest.param(5, PostComment, None, id="posted"),
        pytest.param(5, PostComment, Fault.LATE, id="the comment arrives after the crash"),
        pytest.param(6, AdvanceFence, None, id="recorded"),
    ],
)
def test_after_a_crash_anywhere_the_item_is_not_lost(
    alice: FakeAgent, bob: FakeAgent, steps: int, kind: type[PostComment | AdvanceFence], fault: Fault | None
) -> None:
    """The same agent goes on at once, another after the timeout at the latest; one comment exists in any case."""
    attempt = alice.begin()
    alice.port.plan(kind, fault)
    after(steps, attempt)
    attempt.crash()
    alice.port.plans.clear()
    alice.port.server.deliver()
    assert bob.claim() is None
    lease = alice.restart().claim()
    assert lease is not None
    alice.port.server.seconds += TERMS.timeout
    taken = bob.take_over()
    assert taken is not None
    assert taken.before == lease.ack.nonce
    assert len(alice.port.server.comments()) == 1


def test_a_stale_look_at_the_thread_adopts_what_it_could_not_see(server: Server, alice: FakeAgent) -> None:
    """The list is older than the comment of an epoch that crashed before its record: one more is posted."""
    first = FakeAgent(server, "worker-z").begin()
    first.until(PostComment)
    first.step()
    first.crash()
    server.seconds += TERMS.certain
    alice.port.plan(ReadComments, Stale(TERMS.certain + 200))
    lease = alice.take_over()
    assert lease is not None
    assert len(server.comments()) == 2
    assert lease.fence.posted == 0


def test_what_was_read_long_ago_is_read_again_before_a_claim(server: Server, alice: FakeAgent) -> None:
    """Meanwhile an epoch came, and a person deleted the ref: the server again has none, as at the first look."""
    view = alice.observe()
    assert FakeAgent(server, "worker-b").claim() is not None
    del server.refs[KEY.ref]
    server.seconds += OLD_SECONDS + 1
    with pytest.raises(Transient, match="121 s old"):
        run(alice.port, claim(alice.port, view, alice.claimant, Intent(Stage.IMPLEMENTING)))
    assert KEY.ref not in server.refs
