"""A person's command is recorded where approvals are, and the trail does not take it for one."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from fakes.lock_server import EPOCH
from fakes.recovery_world import REVIEWER, Scene, comment

from runtime.telemetry.observed_port import moves
from shared.lock.fence import Fence
from shared.telemetry.events import EventKind
from shared.workflow import Role, Stage

GIVEN = EPOCH + timedelta(minutes=5)


@pytest.mark.parametrize("role", [Role.WORKER, Role.REVIEWER])
@pytest.mark.parametrize("verb", ["retry", "reset-attempts"])
@pytest.mark.parametrize("known", [True, False], ids=["by who saw it halt", "by who sees it first"])
async def test_a_retry_is_no_approval_in_the_trail(role: Role, verb: str, known: bool) -> None:
    world = Scene()
    number = 42 if role is Role.WORKER else 57
    failed: Fence = replace(world.worker, stage=Stage.FAILED, pr=0) if role is Role.WORKER else REVIEWER
    world.fences[role, number] = failed
    await world.order(comment(f"/{verb}", GIVEN, number), role)
    moved = world.fences[role, number]
    assert moved.approved_by == f"/{verb} by ada in comment 100"
    told = [kind for kind, _ in moves(failed if known else None, moved)]
    assert EventKind.PHASE in told
    assert EventKind.APPROVAL not in told
