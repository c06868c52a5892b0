"""Turns to be brought up to date with the base: one pull request has it, and passes it on if it is not mergeable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from fakes.lock_server import EPOCH
from fakes.reviewer_github import FakeRefs
from fakes.reviewer_strikes import opened
from fakes.reviewer_world import World
from fakes.unasked import UnaskedPulls

from reviewer_agent.merge.update_turns import HELD_FOR, OVERTAKEN_AFTER, UpdateTurn, UpdateTurns
from shared.errors import Gone
from shared.lock.hold import Held
from shared.lock.port import ForeignFence
from shared.models import PullRequest
from shared.workflow.labels import Labels

OTHER = 58
APPROVED = frozenset({"status:approved"})


@dataclass
class OnePull(UnaskedPulls):
    """GitHub's answer about the pull request whose turn it is; None: it is gone."""

    found: PullRequest | None

    async def pull_request(self, number: int) -> PullRequest:
        assert number == OTHER
        if self.found is None:
            raise Gone
        return self.found


def turns(world: World, **facts: Any) -> UpdateTurns:
    """Return turns of which #58 has had the present one since `EPOCH`; `facts` describe #58."""
    known = replace(world.pull, number=OTHER, labels=APPROVED, base_branch="main")
    pull = None if facts.pop("gone", False) else replace(known, **facts)
    return UpdateTurns(FakeRefs(world), lambda: world.now, OnePull(pull), Labels(), frozenset({"blocked"}))


async def ref_of(world: World, held: Held) -> str:
    """Return the one ref in which a turn is recorded."""
    assert await turns(world).take(held, "main", complete=False)
    (ref,) = world.turns
    return ref


async def given(world: World, held: Held) -> str:
    ref = await ref_of(world, held)
    world.turns[ref] = "1" * 40, UpdateTurn(OTHER, "main", world.now).write("n")
    return ref


@pytest.mark.parametrize(
    ("facts", "is_free"),
    [
        ({}, False),
        ({"labels": frozenset({"status:changes-requested"})}, False),
        ({"labels": frozenset({"status:implementing"})}, False),
        ({"open": False, "merged": True}, True),
        ({"open": False}, True),
        ({"gone": True}, True),
        ({"draft": True}, True),
        ({"base_branch": "release"}, True),
        ({"labels": frozenset()}, True),
        ({"labels": frozenset({"status:failed"})}, True),
        ({"labels": APPROVED | {"flag:had-conflict"}}, True),
        ({"labels": APPROVED | {"blocked"}}, True),
    ],
)
async def test_others_wait_as_long_as_the_one_before_may_be_merged(
    held: Held, facts: Mapping[str, Any], is_free: bool
) -> None:
    world = opened()
    ref = await given(world, held)
    before = await turns(world, **facts).before(57, "main", complete=True)
    assert (before == 0) is is_free
    assert await turns(world, **facts).take(held, "main", complete=True) is is_free
    found = UpdateTurn.read(world.turns[ref][1])
    assert found is not None
    assert (found.pull_request == held.fence.key.number) is is_free


@pytest.mark.parametrize(
    ("later", "complete", "is_free"),
    [
        (OVERTAKEN_AFTER - timedelta(seconds=1), True, False),
        (OVERTAKEN_AFTER, True, True),
        (OVERTAKEN_AFTER, False, False),
        (HELD_FOR - timedelta(seconds=1), False, False),
        (HELD_FOR, False, True),
    ],
)
async def test_the_turn_passes_on_in_time(held: Held, later: timedelta, complete: bool, is_free: bool) -> None:
    world = opened()
    ref = await given(world, held)
    world.turns[ref] = "1" * 40, UpdateTurn(OTHER, "main", world.now - later).write("n")
    assert (await turns(world).before(57, "main", complete=complete) == 0) is is_free


async def test_who_has_it_keeps_it_and_each_branch_has_a_turn_of_its_own(held: Held) -> None:
    world = opened()
    ref = await ref_of(world, held)
    before = world.turns[ref]
    assert await turns(world).take(held, "main", complete=False)
    assert world.turns[ref] == before
    assert await turns(world).take(held, "release", complete=False)
    assert len(world.turns) == 2


async def test_a_turn_of_a_newer_engine_is_left_alone(held: Held) -> None:
    world = opened()
    ref = await ref_of(world, held)
    newer = UpdateTurn(OTHER, "main", EPOCH).write("n").replace("Engine-Update: 1", "Engine-Update: 2")
    world.turns[ref] = "1" * 40, newer
    with pytest.raises(ForeignFence):
        await turns(world).take(held, "main", complete=True)
    assert world.turns[ref] == ("1" * 40, newer)


@pytest.mark.parametrize("text", ["", "Engine-Update: 1\nPr: x\nBranch: main\nAt: today", "Engine-Update: 1\nPr: 1"])
def test_what_is_no_turn_is_none(text: str) -> None:
    assert UpdateTurn.read(text) is None
    assert UpdateTurn.read(UpdateTurn(OTHER, "main", EPOCH).write("n")) == UpdateTurn(OTHER, "main", EPOCH)
