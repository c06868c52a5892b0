"""The breaker: waits that grow, and not a comment while fences are refused."""

from __future__ import annotations

from contextlib import suppress

import pytest
from fakes.lock_port import FakeAgent
from fakes.lock_server import Fault, Plan, Server

from shared.errors import Blocked, EngineError, NotAllowed, Transient
from shared.lock.breaker import BY_FAILURE, BY_RULE, JITTER, FenceCircuitBreaker
from shared.lock.port import AdvanceFence, EditComment, PostComment, ProbeRefs, ReadFence


@pytest.mark.parametrize(
    ("error", "waits"),
    [(NotAllowed(), (300, 600, 1200, 2400, 3600, 3600)), (Transient(), (60, 120, 240, 480, 900, 900))],
)
def test_waits_grow_up_to_the_longest(error: EngineError, waits: tuple[int, ...]) -> None:
    breaker, boot = FenceCircuitBreaker("worker-1"), 100.0
    for wait in waits:
        breaker.trip(error, boot)
        assert wait <= breaker.remaining_seconds(boot) <= wait * (1 + JITTER)
        boot += breaker.remaining_seconds(boot)
        breaker.close()
    assert BY_RULE[1] > BY_FAILURE[1]


def test_only_a_fence_that_was_moved_makes_waits_short_again() -> None:
    breaker = FenceCircuitBreaker()
    for _ in range(3):
        breaker.trip(NotAllowed(), 0)
        breaker.close()
    breaker.moved()
    assert breaker.proven
    breaker.trip(NotAllowed(), 0)
    assert breaker.remaining_seconds(0) <= 300 * (1 + JITTER)
    assert not breaker.proven


def test_agents_that_were_refused_together_come_back_apart() -> None:
    left = set()
    for name in range(20):
        breaker = FenceCircuitBreaker(f"worker-{name}")
        breaker.trip(NotAllowed(), 0)
        left.add(breaker.remaining_seconds(0))
    assert len(left) == 20


def test_each_opening_and_closing_is_told() -> None:
    told: list[tuple[str, bool]] = []
    breaker = FenceCircuitBreaker(tell=lambda why, seconds: told.append((why, seconds > 0)))
    breaker.close()
    breaker.trip(NotAllowed("no"), 0)
    breaker.close()
    assert told == [("no", True), ("", False)]


@pytest.mark.parametrize("plan", [NotAllowed("a rule"), Fault.FAILED])
def test_a_refused_fence_posts_nothing_and_holds_back_the_next_claims(
    server: Server, alice: FakeAgent, plan: Plan
) -> None:
    alice.port.plan(AdvanceFence, plan)
    with pytest.raises((Blocked, Transient)):
        alice.claim()
    for _ in range(5):
        server.seconds += 10
        with pytest.raises(Transient, match="Nothing is claimed for"):
            alice.claim()
    assert alice.port.count(AdvanceFence) == 1
    assert alice.port.count(PostComment, EditComment, ProbeRefs) == 0
    assert server.comments() == {}


def test_after_the_wait_a_scratch_ref_is_tried_before_anything_is_claimed(server: Server, alice: FakeAgent) -> None:
    alice.port.plan(AdvanceFence, NotAllowed("a rule"))
    with pytest.raises(NotAllowed):
        alice.claim()
    server.seconds += 400
    alice.port.plan(ProbeRefs, NotAllowed("the same rule"))
    with pytest.raises(NotAllowed):
        alice.claim()
    assert alice.port.count(AdvanceFence) == 1
    server.seconds += 800
    alice.port.done.clear()
    assert alice.claim() is not None
    assert [type(one) for one in alice.port.done if not isinstance(one, ReadFence)][1] is ProbeRefs


def test_a_server_that_takes_new_refs_and_moves_none_gets_no_comment(server: Server, alice: FakeAgent) -> None:
    """The rule forbids updates alone: the claim's own ref is created, and moved once more before the first comment."""
    alice.port.plan(AdvanceFence, None, NotAllowed("updates are forbidden"), NotAllowed("updates are forbidden"))
    with pytest.raises(NotAllowed):
        alice.claim()
    assert server.comments() == {}
    assert alice.port.count(PostComment) == 0


def test_a_comment_that_cannot_be_recorded_is_no_lock_and_no_second_one_follows(server: Server) -> None:
    """Refusals begin right after the post: the comment says that the lock is free, and at most two are posted."""
    posted = 0
    for name in ("worker-a", "worker-b", "worker-c", "worker-d"):
        agent = FakeAgent(server, name)
        server.seconds += 5000
        agent.port.plan(AdvanceFence, None, None, NotAllowed("a rule"), NotAllowed("a rule"))
        agent.claimant.breaker.proven = False
        with suppress(NotAllowed):
            agent.take_over()
        posted += agent.port.count(PostComment)
        agent.port.plans.clear()
    assert posted == len(server.comments()) == 1, "later claims adopt the one that stands there"


def test_the_first_push_of_a_proven_process_counts_the_comment_too(server: Server, alice: FakeAgent) -> None:
    alice.claimant.breaker.moved()
    assert alice.claim() is not None
    assert alice.port.count(AdvanceFence) == 2
