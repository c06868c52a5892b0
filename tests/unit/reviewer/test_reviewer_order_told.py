"""The author of a merge order: recorded in the fence, and from there in the events; nothing is pushed only for that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from fakes.lock_port import ServerClock, ServerPort
from fakes.lock_server import Server
from fakes.reviewer_forge import auto, reviewer, tick
from fakes.reviewer_world import ADA, BASE, HEAD, NEXT, PULL, World, answer
from telemetry_bench import Kept

from reviewer_agent.snapshot import Bounds, Merge
from runtime.telemetry.observed_people import ObservedSink
from runtime.telemetry.observed_port import ObservedPort
from shared.escalation.delivery import Escalation
from shared.lock.port import AdvanceFence, Operation, Reply
from shared.loop.polling_loop import Loop
from shared.models import CheckOutcome, ReviewState
from shared.telemetry.event_recorder import EventRecorder, Telemetry
from shared.telemetry.events import EventKind
from shared.telemetry.fold import Tallies
from shared.workflow import Role, Stage

BREAKING = answer(breaking_change={"breaks": True, "why": "search() is gone"})


class Pushes(ServerPort):
    """The lock's port, and what was pushed through it: the stage of a fence, and whose word it names."""

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self.made: list[tuple[Stage, str]] = []

    async def request(self, operation: Operation[Any]) -> Reply[Any]:
        if isinstance(operation, AdvanceFence):
            self.made.append((operation.fence.stage, operation.fence.approved_by))
        return await super().request(operation)


class Calls:
    """A sink for people's messages, which drops them."""

    def put(self, escalation: Escalation) -> None:
        return


@dataclass
class Watch:
    """A reviewer that is watched: its trail, its figures and its pushes."""

    world: World
    kept: Kept = field(default_factory=Kept)
    tallies: Tallies = field(default_factory=Tallies)

    def __post_init__(self) -> None:
        clock = ServerClock(self.world.server)
        telemetry = Telemetry("reviewer-1", Role.REVIEWER, clock, (self.kept,), self.tallies, lambda text: text)
        self.event_recorder = EventRecorder(telemetry, "o/r")
        self.pushes = Pushes(self.world.server)
        self.port = ObservedPort(self.pushes, self.event_recorder)

    async def tick(self, **policy: Any) -> list[tuple[Stage, str]]:
        """Run one tick, and return its pushes."""
        before = len(self.pushes.made)
        await tick(self.world, reviewer(self.world, port=self.port, delete_branch=False, **policy))
        return self.pushes.made[before:]

    def ask(self) -> None:
        """Ask people to decide about the merge."""
        escalation = Escalation("o/r", PULL, HEAD, "approval", "It waits.", "https://h/57", category="approval")
        ObservedSink(Calls(), self.event_recorder, Role.REVIEWER).put(escalation)

    @property
    def approvals(self) -> list[tuple[str, str, str]]:
        """The approvals among the recorded events."""
        told = (one.data for one in self.kept.events if one.kind is EventKind.APPROVAL)
        return [(one["what"], one["state"], one.get("by", "")) for one in told]


def comments(world: World) -> str:
    return f"ada in comment {world.say(ADA, '/merge', seconds=600).id}"


def approves(world: World) -> str:
    return f"ada in review {world.review(ADA, ReviewState.APPROVED, seconds=600).id}"


@pytest.mark.parametrize(
    ("first", "policy", "order"),
    [
        (answer(), {"merge": Merge.APPROVE}, comments),
        (BREAKING, auto(), comments),
        (BREAKING, auto(), approves),
    ],
    ids=["every merge is ordered", "what breaking change", "an approving review"],
)
async def test_a_merge_that_a_person_ordered_is_told_with_who_and_where(
    first: dict[str, Any], policy: dict[str, Any], order: Callable[[World], str]
) -> None:
    watch = Watch(World(answers=[first]))
    await watch.tick(**policy)
    watch.ask()
    by = order(watch.world)
    pushed = await watch.tick(**policy)
    assert watch.world.pull.merged
    assert pushed == [(Stage.APPROVED, by), (Stage.DONE, by)], "the claim and the end, as without an order"
    assert watch.approvals == [("merge", "requested", ""), ("merge", "granted", by)]
    (waited,) = watch.tallies.durations["approval_response_time_seconds"].values()
    assert sum(waited.classes) == 1
    assert 600 <= waited.total < 660, "to the claim that the order has led to, not to an end of the checks"


async def test_a_merge_that_nobody_ordered_is_told_as_nobodys() -> None:
    watch = Watch(World(answers=[answer()]))
    pushed = await watch.tick(**auto())
    assert watch.world.pull.merged
    assert {by for _, by in pushed} == {""}
    assert watch.approvals == []


async def test_an_order_that_comes_while_the_lease_is_kept_is_told_with_the_merge() -> None:
    watch, bounds = Watch(World(answers=[answer()])), Bounds(cooling_seconds=600)
    world = watch.world
    agent = reviewer(world, port=watch.port, delete_branch=False, **auto(bounds=bounds))
    loop = Loop(agent, ServerClock(world.server))
    async with loop.open():
        await loop.tick()
        await loop.quiet()
        before = len(watch.pushes.made)
        by = f"ada in comment {world.say(ADA, '/merge').id}"
        await loop.tick()
        await loop.quiet()
    assert world.pull.merged
    assert watch.pushes.made[before:] == [(Stage.DONE, by)]
    assert watch.approvals == [("merge", "granted", by)]


async def test_an_order_for_another_commit_is_not_named_as_that_of_this_one() -> None:
    watch, policy = Watch(World(answers=[BREAKING, answer()])), auto()
    world = watch.world
    await watch.tick(**policy)
    by = comments(world)
    world.checks[BASE] = CheckOutcome.FAILED
    await watch.tick(**policy)
    assert (world.fence and world.fence.approved_by) == by, "ordered, and held up by its base"
    world.checks = {NEXT: CheckOutcome.PASSED}
    world.push(NEXT)
    world.change(labels=frozenset({"status:reviewing"}), by=ADA)
    await watch.tick(**policy)
    assert world.pull.merged
    assert (world.fence and world.fence.approved_by) == ""
    assert watch.approvals == [("merge", "granted", by)]


async def test_nor_does_it_outlive_its_commit_where_the_lease_is_kept() -> None:
    watch = Watch(World(answers=[BREAKING, answer()]))
    world = watch.world
    await watch.tick(**auto())
    by = f"ada in comment {world.say(ADA, '/merge').id}"
    world.checks[HEAD] = CheckOutcome.RUNNING
    loop = Loop(reviewer(world, port=watch.port, delete_branch=False, **auto()), ServerClock(world.server))
    async with loop.open():
        await loop.tick()
        await loop.quiet()
        assert [rest.reason for rest in loop.resting] == ["ci"]
        world.checks[NEXT] = CheckOutcome.PASSED
        world.push(NEXT, seconds=60)
        world.change(labels=frozenset({"status:approved", "status:reviewing"}), by=ADA)
        for _ in range(3):
            await loop.tick()
            await loop.quiet()
    assert world.pull.merged
    assert watch.pushes.made[-1] == (Stage.DONE, "")
    assert watch.approvals == [("merge", "granted", by)]
