"""An agent beside a newer one: what it cannot read it neither takes over nor passes over, and no item fails by it."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import pytest
from fakes.agent import FakeAgent as LoopAgent
from fakes.agent import lease, own_slot
from fakes.clock import HandClock
from fakes.lock_port import KEY, FakeAgent, run
from fakes.lock_server import Fault, Server
from fakes.pending_world import AT, World
from fakes.reviewer_forge import auto, tick
from fakes.reviewer_strikes import Calls, opened, turn_of, watched
from lock_world import TERMS
from structlog.testing import capture_logs

from planner_agent.pending.register import PENDING_TESTS, PendingTest, latest, write
from planner_agent.register import Register
from reviewer_agent.merge.merge_turns import REF
from shared.errors import Lost, Outdated
from shared.git.append_only_log import newer_version
from shared.lock.fence import FenceChange, write_fence
from shared.lock.fence_moves import advance, end_resting_fence
from shared.lock.hold import Held, beat_until_lost, release
from shared.lock.port import AdvanceFence, EditComment, ForeignFence, PostComment
from shared.loop.item_task import ItemTask
from shared.scheduling.agent_contract import Ended, Result
from shared.workflow import Stage

pytestmark = pytest.mark.fault(48)

NEWER = "9" * 40


def taken_by_a_newer_engine(server: Server, held: Held) -> None:
    """Change the fence to a format that is not known here."""
    text = write_fence(held.fence).replace("Engine-Fence: 2", "Engine-Fence: 3")
    server.commits[NEWER] = text, (held.fence.oid,)
    server.refs[KEY.ref] = NEWER


DEEDS: dict[str, Callable[[Held], Coroutine[Any, Any, Any]]] = {
    "advance": lambda held: advance(held, FenceChange(stage=Stage.TESTING)),
    "heartbeat": beat_until_lost,
}


@pytest.mark.parametrize("deed", DEEDS)
def test_a_holder_that_a_newer_engine_has_succeeded_stops_silently(
    server: Server, alice: FakeAgent, held: Held, deed: str
) -> None:
    taken_by_a_newer_engine(server, held)
    with pytest.raises(Lost):
        run(alice.port, DEEDS[deed](held))
    assert server.refs[KEY.ref] == NEWER


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.REPLY_LOST])
def test_after_a_lost_reply_a_newer_fence_is_not_taken_for_our_own(
    server: Server, alice: FakeAgent, held: Held, fault: Fault
) -> None:
    taken_by_a_newer_engine(server, held)
    alice.port.plan(AdvanceFence, fault)
    with pytest.raises(Lost):
        run(alice.port, advance(held, FenceChange(phase="red")))
    assert server.refs[KEY.ref] == NEWER
    assert run(alice.port, release(held)) is False, "a lost lease is left as it is"


def test_nobody_claims_or_buries_what_a_newer_engine_left(server: Server, alice: FakeAgent, held: Held) -> None:
    taken_by_a_newer_engine(server, held)
    server.seconds += 10 * TERMS.timeout
    bob = FakeAgent(server, "worker-b")
    with pytest.raises(ForeignFence, match="upgrade this agent"):
        bob.observe()
    with pytest.raises(ForeignFence):
        run(alice.port, end_resting_fence(held, KEY, Stage.IMPLEMENTING))
    assert bob.port.count(PostComment, EditComment, AdvanceFence) == 0
    assert server.refs[KEY.ref] == NEWER


def test_a_claim_that_a_newer_engine_overtakes_writes_nothing(server: Server) -> None:
    bob = FakeAgent(server, "worker-b")
    attempt = bob.begin()
    attempt.until(AdvanceFence)
    server.commits[NEWER], server.refs[KEY.ref] = ("Engine-Fence: 3", ()), NEWER
    bob.port.plan(AdvanceFence, Fault.LOST)
    assert attempt.finish() is None
    assert server.refs[KEY.ref] == NEWER
    assert server.comments() == {}


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('{"v": 2}', 2),
        ('{"v": 7, "usd": {"micros": 5}}', 7),
        ('{"v": "3"}', 3),
        ('{"v": 1}', 0),
        ('{"v": 0}', 0),
        ('{"v": null}', 0),
        ('{"v": 1e999}', 0),
        ("[]", 0),
        ("2", 0),
        ("", 0),
        ("[" * 9999, 0),
        ("somebody's own words", 0),
    ],
)
def test_which_version_a_line_is_of(text: str, version: int) -> None:
    assert newer_version(text, 1) == version


async def test_no_issue_is_opened_beside_tests_that_only_a_newer_planner_knows() -> None:
    world = World()
    world._put('{"v": 2, "tests": ["tests/test_x.py::test_a"]}')
    with pytest.raises(Outdated, match=r"lines of version 2, .* reads version 1: .* Upgrade this agent\."):
        await world.planner().look({})
    assert (world.issues, len(world.lines)) == ({}, 1)


async def test_a_newer_line_that_says_the_same_is_one_like_ours() -> None:
    world = World()
    ours = write(PendingTest("tests/test_x.py::test_a", "planner-2", "r", AT))
    world._put(json.dumps(json.loads(ours) | {"v": 2, "zone": "eu"}))
    planner = world.planner()
    assert await planner.look({}) is None, "somebody is about to open it"
    assert latest(await Register(PENDING_TESTS, world, world).read()).keys() == {"tests/test_x.py::test_a"}
    world.now += timedelta(hours=1)
    assert await world.planner().look({}) == 1


@pytest.mark.parametrize("change", [("Engine-Merge: 1", "Engine-Merge: 2"), ("Pr: ", "Pulls: "), ("At: ", "At: x")])
async def test_nothing_is_merged_beside_a_turn_that_only_a_newer_reviewer_can_read(change: tuple[str, str]) -> None:
    world = opened()

    def newer() -> None:
        turn_of(world)
        oid, text = world.turns[REF]
        world.turns[REF] = oid, text.replace(*change)

    await tick(world, watched(world, Calls(newer, 1), **auto()))
    left = world.turns[REF]
    world.server.seconds += 10_000  # no turn of ours lasts so long
    await tick(world, **auto())
    assert not [done for done in world.done if done.startswith("merge")]
    assert world.turns[REF] == left
    assert "status:failed" not in world.pull.labels, "nothing is wrong with the pull request"


async def test_an_item_is_left_to_a_newer_agent_and_no_person_is_called() -> None:
    agent = LoopAgent([4], {4: [None, ForeignFence("refs/ack/merges", NEWER)]})
    pursuit = ItemTask(4, agent, HandClock(), 1.0, lambda: None)
    with capture_logs() as events:
        ended = await pursuit.run(lease(4), own_slot())
    assert (ended.result, pursuit.broken) == (Result.PARKED, True), "and this agent leaves it alone for a while"
    assert agent.log == ["step 4", "step 4", "release 4"]
    (told,) = [event for event in events if event["event"] == "agent_outdated"]
    assert (told["log_level"], told["error"]) == ("error", ended.sentence)
    assert ended == Ended(Result.PARKED, str(ForeignFence("refs/ack/merges", NEWER)))
