"""Things that are created once: the fence names each before it is sent; a successor that does not see one waits."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from fakes.lock_port import FakeAgent, run
from fakes.lock_server import Server

from shared.errors import Blocked, EngineError, Transient, UnknownOutcome
from shared.github import at_most_once
from shared.github.at_most_once import NAMED, Name
from shared.github.errors import NotShown
from shared.lock.claimant import LockTimes
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, read_fence, write_fence
from shared.lock.hold import Held
from shared.workflow import Role, Stage

AT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
FENCE = Fence(ItemKey(Role.WORKER, 42), 1, "n", "worker-a", Stage.IMPLEMENTING, AT)


async def made(held: Held, what: str, error: EngineError | None = None) -> None:
    """Send something; raise `error` as its result, if given."""
    async with at_most_once.making(held, what):
        if error is not None:
            raise error


def test_what_a_fence_names_survives_its_commit_message() -> None:
    named = {"status-7": Name(AT, "0123abcd"), "review-abc": Name(AT + timedelta(seconds=9), "ffff0000")}
    fence = replace(FENCE, more=at_most_once.written(replace(FENCE, more=(("Reruns", "2"),)), named))
    again = read_fence(fence.key, "", write_fence(fence))
    assert again is not None
    assert at_most_once.read(again) == named
    assert dict(again.more)["Reruns"] == "2", "what others have recorded stays"


@pytest.mark.parametrize(
    "text", ["", "status-7", "status-7 then 0123abcd", "status-7 2026-01-05T09:00:00 0123abcd", ", ,", "a b c d"]
)
def test_entries_of_a_newer_engine_name_nothing(text: str) -> None:
    assert at_most_once.read(replace(FENCE, more=((NAMED, text),))) == {}


@pytest.mark.parametrize(("timeout", "self_fence", "seconds"), [(1800, 1500, 120), (1800, 1790, 10), (24, 18, 6)])
def test_patience_ends_before_another_holder_may_begin(timeout: float, self_fence: float, seconds: float) -> None:
    assert at_most_once.patience(LockTimes(timeout, self_fence)) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("error", "waits"), [(None, True), (UnknownOutcome(), True), (Transient("502"), False), (Blocked("422"), False)]
)
def test_it_is_made_again_at_once_only_when_it_was_refused(error: EngineError | None, waits: bool) -> None:
    agent = FakeAgent(Server(), "worker-a")
    held = agent.win()
    if error is None:
        run(agent.port, made(held, "status-7"))
    else:
        with pytest.raises(type(error)):
            run(agent.port, made(held, "status-7", error))
    if waits:
        with pytest.raises(NotShown):
            at_most_once.raise_if_in_flight(held, "status-7")
    else:
        at_most_once.raise_if_in_flight(held, "status-7")
    at_most_once.raise_if_in_flight(held, "review-abc")


@pytest.mark.fault(11)
def test_a_successor_looks_until_the_replicas_have_caught_up_and_then_makes_it() -> None:
    server = Server()
    agent = FakeAgent(server, "worker-a")
    run(agent.port, made(agent.win(), "status-7"))
    held = agent.win()  # the same agent, restarted: it goes on with its own ACK
    server.seconds += 119 - agent.claimant.times.settle
    with pytest.raises(NotShown) as refused:
        run(agent.port, made(held, "status-7"))
    assert refused.value.seconds <= 1
    server.seconds += 1
    run(agent.port, made(held, "status-7"))
    assert [one for one, name in at_most_once.read(held.fence).items() if name.nonce == held.ack.nonce[:8]] == [
        "status-7"
    ]


def test_what_was_named_and_never_sent_is_no_reason_to_wait_for_who_named_it() -> None:
    agent = FakeAgent(Server(), "worker-a")
    held = agent.win()
    run(agent.port, made(held, "status-7"))
    held.sent.clear()  # the fence has moved, but its reply was lost before anything was sent
    run(agent.port, made(held, "status-7"))
    assert "status-7" in held.sent


def test_names_that_have_had_their_time_are_dropped() -> None:
    server = Server()
    agent = FakeAgent(server, "worker-a")
    held = agent.win()
    run(agent.port, made(held, "review-abc"))
    server.seconds += 60
    run(agent.port, made(held, "status-7"))
    assert set(at_most_once.read(held.fence)) == {"review-abc", "status-7"}
    server.seconds += 61
    run(agent.port, made(held, "review-def"))
    assert set(at_most_once.read(held.fence)) == {"status-7", "review-def"}
