"""Somebody is called for what was given up, whatever happened to the agent that gave up, and once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest
from approval_scene import PLAN, Port, World, alarm
from fakes.unasked import UnaskedInbox

from reviewer_agent.merge.blockers import ON_ORDER
from shared.commands.command_loop import CommandLoop
from shared.errors import Blocked, Gone, Unauthorized
from shared.escalation.approvals import BY_ORDER
from shared.escalation.diagnosis import Diagnosis
from shared.lock.claimant import Claimant
from shared.lock.codec import Ack, ItemKey
from shared.lock.fence import Fence
from shared.lock.hold import Held
from shared.lock.lease import Lease
from shared.loop.commanded_agent import CommandedAgent, CommandServices
from shared.models import Issue
from shared.scheduling.agent_contract import Candidate, Claim, Ended, Result, Skip, Step
from shared.workflow import Role, Stage

HALTED = Ended(Result.FAILED, "halted at failed")
APPROVED = replace(PLAN, key=ItemKey(Role.REVIEWER, 7), stage=Stage.APPROVED, work_head="a" * 40)


@dataclass
class Given:
    """A lease that only has a fence."""

    fence: Fence


@dataclass
class Agent(UnaskedInbox):
    """An agent that gives its item up under one ACK after another, or dies while it does."""

    refusal: Blocked | None = None
    role: Role = Role.PLANNER
    repository: str = "ada/directory"

    @property
    def known(self) -> Mapping[int, Issue]:
        return {}

    async def discover(self) -> Sequence[Candidate]:
        return ()

    async def prepare(self, candidate: Candidate) -> Claim | Skip:
        return Skip("")

    @asynccontextmanager
    async def hold(self, lease: Lease) -> AsyncIterator[Held]:
        yield cast("Held", Given(lease.fence))

    async def step(self, held: Held) -> Step:
        return HALTED

    async def revoked(self, number: int) -> str | None:
        return None

    async def stop(self, held: Held, reason: str) -> None:
        return None

    async def wait(self, held: Held, sentence: str) -> None:
        return None

    async def fail(self, held: Held, error: Blocked) -> None:
        if self.refusal is not None:
            raise self.refusal


class Silent:
    """A diagnosis that has nothing to say."""

    async def of(self, held: Held, error: Blocked) -> str:
        return ""


def attended(world: World, agent: Agent) -> CommandedAgent:
    people = CommandServices(cast("CommandLoop", None), alarm(world), cast("Diagnosis", Silent()))
    return CommandedAgent(agent, people, agent, Port(world), cast("Claimant", None))


def lease(epoch: str, before: str) -> Lease:
    """Return a lease on the failed item; an epoch's name is one letter."""
    ack = Ack(PLAN.key, "planner-a", 0, 0, epoch * 32, 900, id=5)
    return Lease(ack, replace(PLAN, stage=Stage.FAILED, nonce=epoch * 32), PLAN.at, 0.0, before=before * 32)


async def given_up(world: World, refusal: Blocked | None, epoch: str = "b") -> None:
    """Have an agent give the item up; raise the error of telling people."""
    here = attended(world, Agent(refusal))
    async with here.hold(lease(epoch, "a")) as held:
        await here.fail(held, Blocked("It failed."))


async def taken_over(world: World, one: Lease) -> None:
    here = attended(world, Agent())
    async with here.hold(one) as held:
        assert await here.step(held) == HALTED


async def test_a_thread_that_takes_no_words_keeps_nobody_from_being_called() -> None:
    world = World()
    with pytest.raises(Blocked, match="locked"):
        await given_up(world, Blocked("locked"))
    assert [(one.kind, one.epoch, one.sentence) for one in world.sent.values()] == [("failed", "b" * 12, "It failed.")]


@pytest.mark.parametrize("refusal", [Gone("gone"), Unauthorized("expired")])
async def test_nobody_is_called_to_what_is_gone_or_is_told_later(refusal: Blocked) -> None:
    world = World()
    with pytest.raises(type(refusal)):
        await given_up(world, refusal)
    assert world.sent == {}


@pytest.mark.parametrize("again", [lease("c", "b"), lease("d", "b")], ids=["another agent", "its own after a restart"])
async def test_who_finds_it_given_up_calls_unless_that_was_done(again: Lease) -> None:
    crashed, told = World(), World()
    await taken_over(crashed, again)
    await given_up(told, None)
    assert set(crashed.sent) == set(told.sent), "the same occasion has the same id"
    (one,) = crashed.sent.values()
    assert "It was given up" in one.sentence
    await taken_over(told, again)
    assert [one.sentence for one in told.sent.values()] == ["It failed."]
    await given_up(told, None, "e")
    assert len(told.sent) == 2, "another failure is another occasion"


def test_every_reason_that_an_order_clears_is_escalated() -> None:
    by_order = {reason.name.lower() for reason in ON_ORDER}
    assert by_order | {"required"} == BY_ORDER, "approvals that the branch requires are no order, but people give them"


@pytest.mark.parametrize(("why", "told"), [("", 0), ("head_moved", 0), *((why, 1) for why in sorted(BY_ORDER))])
async def test_a_merge_is_asked_for_only_while_an_order_is_missing(why: str, told: int) -> None:
    world, held = World(waiting=why), cast("Any", Given(APPROVED))
    await alarm(world, Role.REVIEWER).parked(held, Ended(Result.PARKED, "excluded, let go, or waiting"))
    assert [one.kind for one in world.sent.values()] == ["approval"] * told
