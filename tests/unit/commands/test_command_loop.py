"""The desk: an order is carried out or answered, whoever dies, races, or fails to reach GitHub on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
from command_thread import AT, BOT, reader
from command_world import WORKING, World
from fakes.lock_port import KEYS, FakeNonces, ServerPort
from fakes.lock_server import Server
from status_thread import US, FakeThread, board

from shared.commands.command_loop import CommandLoop, CommandProfile
from shared.commands.command_reader import CommandReader
from shared.commands.command_target import CommandTarget
from shared.commands.recovery import Case, Recovery
from shared.errors import Transient
from shared.lock.claimant import Claimant
from shared.lock.codec import Ack
from shared.lock.comment import write_ack
from shared.lock.hold import Held, begin
from shared.lock.lease import Lease
from shared.lock.write_permit import WritePermit
from shared.loop.commanded_agent import HELD_SECONDS, CommandedAgent
from shared.models import Issue
from shared.scheduling.agent_contract import UNTIL_NEWS, Candidate, CandidateKind, Skip
from shared.workflow import Role, Stage, Track
from shared.workflow.labels import Labels


@pytest.fixture
def world() -> World:
    return World()


def desk(world: World) -> CommandLoop:
    all_else: Any = world
    recovery = Recovery(all_else, all_else, all_else, all_else, Labels())
    return CommandLoop(CommandProfile(Role.WORKER, all_else), reader(world.thread), all_else, recovery, world, all_else)


def claimed(world: World, id: int, prev: int) -> Held:
    """Begin the next epoch as another worker that has read up to `id`; the previous one had read up to `prev`."""
    ack = Ack(world.fence.key, "worker-b", 1_700_000_000_000, prev, f"{id:032x}", 1800, id=id)
    world.thread.say(id, write_ack(ack, KEYS), BOT, AT + timedelta(seconds=30))
    moved = {"ack_id": id, "nonce": ack.nonce, "agent": "worker-b", "seen": id, "seen_before": prev}
    world.fence = replace(world.fence, **moved, at=AT + timedelta(seconds=31))  # type: ignore[arg-type]
    claimant = Claimant("worker-b", frozenset({BOT.id}), KEYS, FakeNonces("n"))
    return begin(ServerPort(Server()), Lease(ack, world.fence, AT, 0.0), claimant)


async def test_a_stop_that_a_dead_holder_did_not_hear_is_carried_out_once_nobody_holds_the_item(world: World) -> None:
    one = desk(world)
    world.thread.say(6, "/stop")
    world.free = False
    assert await one.attend(7, world.listed, world.is_free) == ""
    assert (world.reactions, world.told, world.thread.readings) == ([], [], 0)
    world.free = True
    assert one.has_news(7, world.listed)
    assert await one.attend(7, world.listed, world.is_free) == "/stop by ada in comment 6: stopped; the branch is kept"
    assert (world.fence.stage, world.labels) == (Stage.WITHDRAWN, frozenset())
    assert not one.has_news(7, world.listed)


@pytest.mark.parametrize("word", ["/stop", "/pause"])
async def test_an_order_from_between_two_holders_interrupts_the_second(world: World, word: str) -> None:
    one = desk(world)
    world.thread.say(6, word)
    held = claimed(world, 9, prev=5)
    assert await one.interruption(held, world.listed) == f"{word} by ada in comment 6"
    assert [entry["id"] for entry in world.told] == [6]
    assert await one.interruption(held, world.listed) is None
    assert len(world.reactions) == 1


async def test_an_order_from_between_two_holders_counts_when_the_second_has_let_go(world: World) -> None:
    one = desk(world)
    world.thread.say(6, "/stop")
    claimed(world, 9, prev=5)
    assert "stopped" in await one.attend(7, world.listed, world.is_free)
    assert world.fence.stage is Stage.WITHDRAWN


@pytest.mark.parametrize(
    ("id", "word", "recorded"),
    [(4, "/stop", []), (6, "/stop", [6]), (6, "/retry", []), (6, "thanks", [])],
    ids=["before the last holder", "answered", "of another stage", "no command"],
)
async def test_what_is_over_interrupts_nobody(world: World, id: int, word: str, recorded: list[int | str]) -> None:
    world.thread.say(id, word)
    world.thread.recorded = recorded
    held = claimed(world, 9, prev=5)
    assert await desk(world).interruption(held, world.listed) is None
    assert (world.reactions, world.told) == ([], [])


async def test_an_order_that_github_did_not_let_through_interrupts_at_the_next_look(world: World) -> None:
    one, held = desk(world), claimed(world, 9, prev=5)
    world.thread.say(10, "/stop", at=AT + timedelta(seconds=60))
    world.failures = 1
    with pytest.raises(Transient):
        await one.interruption(held, world.listed)
    assert (world.reactions, world.told) == ([], [])
    assert await one.interruption(held, world.listed) == "/stop by ada in comment 10"
    assert world.reactions == ["remove status:implementing"]


async def test_a_stop_at_rest_that_failed_half_way_is_finished_and_not_refused(world: World) -> None:
    one = desk(world)
    world.thread.say(6, "/stop")
    world.failures = 1
    with pytest.raises(Transient):
        await one.attend(7, world.listed, world.is_free)
    assert (world.fence, world.told) == (WORKING, [])
    assert "stopped" in await one.attend(7, world.listed, world.is_free)
    told = "tell Stopped by ada. To have it go on, set `status:ready` here."
    assert world.reactions == [told, told, "remove status:implementing", "fence withdrawn"]
    assert [entry["outcome"] for entry in world.told] == ["stopped; the branch is kept"]


@pytest.mark.parametrize("kind", [Role.WORKER, Role.REVIEWER])
async def test_an_order_that_the_worker_has_obeyed_is_news_to_no_kind_of_agent(world: World, kind: Role) -> None:
    written = FakeThread()
    obeyed = {"id": 6, "by": "ada", "command": "/stop", "outcome": "stopped; the branch is kept"}
    await board(written).note(7, US, commands=[obeyed])
    world.thread.say(6, "/stop")
    world.thread.say(7, "/pause")
    world.thread.say(8, written.comments[1].body, BOT)
    ear = CommandReader(world.thread, world.thread, board(FakeThread(), kind), lambda: 0.0)
    heard = await ear.hear(world.thread.listed, None)
    assert [order.comment_id for order in heard.orders] == [7]


@dataclass
class Ear:
    """A desk that carries nothing out; `unheard` says whether that is because somebody holds the item."""

    unheard: bool
    commands: Any = None
    notifier: Any = None
    diagnosis: Any = None
    choices: Any = None
    starts: Any = None
    known: Mapping[int, Issue] = field(default_factory=dict)

    def has_news(self, number: int, known: Mapping[int, Issue]) -> bool:
        return self.unheard

    async def attend(self, *asked: Any) -> str:
        return ""


@pytest.mark.parametrize(("unheard", "seconds"), [(True, HELD_SECONDS), (False, UNTIL_NEWS)])
async def test_an_item_at_rest_is_looked_at_again_until_its_order_is_heard(unheard: bool, seconds: float) -> None:
    ear: Any = Ear(unheard)
    ear.commands = ear
    skip = await CommandedAgent(ear, ear, ear, ear, ear).prepare(Candidate(7, "1", kind=CandidateKind.COMMENT))
    assert isinstance(skip, Skip)
    assert skip.seconds == seconds


@pytest.mark.parametrize(("role", "ours"), [(Role.REVIEWER, True), (Role.REVIEWER, False)])
async def test_what_is_said_of_an_approved_pull_request_is_named_with_the_way_on(role: Role, ours: bool) -> None:
    approved = replace(WORKING, stage=Stage.APPROVED, at=AT + timedelta(seconds=6.5))
    world = Approved(labels=frozenset({"status:approved"}), fence=approved, ours=ours)
    world.thread.say(6, "Looks good so far.", at=AT + timedelta(seconds=6))
    world.thread.say(7, "Could it greet the fly as well?", at=AT + timedelta(seconds=7))
    one: Any = world
    recovery = Recovery(one, one, one, one, Labels())
    desk = CommandLoop(CommandProfile(role, one), reader(world.thread), one, recovery, world, one)
    await desk.attend(7, world.listed, world.is_free)
    why = "it came after the approving review: set `status:changes-requested` to have it worked on"
    assert world.left == ([{"id": 7, "why": why}] if ours else [])


@dataclass
class Approved(World):
    """A pull request at rest, of the engine's making or of a person's."""

    ours: bool = True
    left: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def listed(self) -> Mapping[int, Issue]:
        return {7: replace(self.thread.listed, labels=self.labels, is_pull_request=True)}

    async def target(self, number: int) -> CommandTarget:
        case = Case(self.listed[7], self.fence, self.listed[7] if self.ours else None)
        return CommandTarget(case, Track.PULL_REQUEST, self.fence.stage, Role.REVIEWER)

    async def note(self, number: int, permit: WritePermit, *, commands: Any = (), ignored: Any = ()) -> None:
        self.left += ignored
