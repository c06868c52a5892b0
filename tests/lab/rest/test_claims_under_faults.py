"""A claim against an embedded GitHub that misbehaves at its every step: one holder, one fence, nothing lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from claim_scene import COMMENTS, PUSH, Scene, scene_at

from lab.github.fault_injection.faults import Fault, FaultKind

ONE_COMMENT = r"/issues/comments/[0-9]+$"


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    """Yield an issue and two agents."""
    async with scene_at(tmp_path) as here:
        yield here


@pytest.mark.fault(9)
@pytest.mark.parametrize(
    "faults",
    [
        [Fault(FaultKind.LOST_REQUEST, "POST", COMMENTS)],
        [Fault(FaultKind.LOST_REPLY, "POST", COMMENTS)],
        [Fault(FaultKind.ERROR_AFTER, "POST", COMMENTS)],
        [Fault(FaultKind.TWICE, "POST", COMMENTS)],
        [Fault(FaultKind.RESET, "POST", COMMENTS)],
        [Fault(FaultKind.HTML, "POST", COMMENTS)],
        [Fault(FaultKind.NULL_FIELDS, "POST", COMMENTS, names=("id",))],
        [Fault(FaultKind.STALE, "GET", ONE_COMMENT, seconds=3600, times=2)],
        [Fault(FaultKind.LOST_REPLY, "POST", PUSH)],
        [Fault(FaultKind.LOST_REPLY, "POST", PUSH, times=2)],
        [Fault(FaultKind.ERROR_AFTER, "POST", PUSH)],
        [Fault(FaultKind.ERROR_BEFORE, "POST", PUSH)],
        [Fault(FaultKind.RESET, "POST", PUSH)],
        [Fault(FaultKind.LOST_REPLY, "POST", COMMENTS), Fault(FaultKind.ERROR_AFTER, "POST", PUSH)],
    ],
    ids=lambda faults: ", ".join(f"{fault.kind} of {fault.path}" for fault in faults),
)
async def test_whatever_goes_wrong_one_agent_holds_it(scene: Scene, faults: list[Fault]) -> None:
    for fault in faults:
        scene.bench.lab.faults.plan(replace(fault))
    won = await scene.ticks()
    assert len(set(won)) == 1, "only one of them ever held it"
    assert await scene.fence() == f"worker-{'ab'[won[0]]}"
