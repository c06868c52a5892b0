"""The simulated functions are the production functions, which know no clock of their own, and no order of hashing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from shared import lock
from shared.github import status
from shared.lock import claim, claimant, codec, ended_epochs, fence, fence_moves, gateway, hold, view
from shared.reconcile import tombstones
from worker_agent import expected_labels

from . import rules
from .protocol import PRODUCTION
from .schedule import ORDINARY

ROOM = Path(lock.__file__).parent
IMPURE = {"asyncio", "anyio", "time", "random"}
MODULES = sorted({path.stem for path in ROOM.glob("*.py")} - {"__init__", "scope"})
"""Simulated modules: `scope` only ties `hold.beat_until_lost` to a task group of anyio."""
PRINT_DIGEST = """
from tests.simulation.schedule import Schedule
from tests.simulation.worlds import WORLDS
for world in WORLDS:
    for seed in range(2):
        outcome = Schedule(WORLDS[world], seed, told=True).run()
        print(outcome.digest, outcome.violations, "\\n".join(outcome.story))
"""


def test_agents_run_the_production_functions() -> None:
    assert ORDINARY.lock is PRODUCTION
    assert PRODUCTION.observe is view.observe
    assert PRODUCTION.claim is claim.claim
    assert PRODUCTION.begin is hold.begin
    assert PRODUCTION.check is hold.check
    assert PRODUCTION.beat_until_lost is hold.beat_until_lost
    assert PRODUCTION.release is hold.release
    assert PRODUCTION.advance is fence_moves.advance
    assert PRODUCTION.FenceChange is fence.FenceChange
    assert PRODUCTION.end_resting_fence is fence_moves.end_resting_fence
    assert PRODUCTION.end_unheld_fence is tombstones.end_unheld_fence
    assert PRODUCTION.end_item is fence_moves.end_item
    assert PRODUCTION.tell_ends is ended_epochs.tell_ends
    assert PRODUCTION.Board is status.StatusBoard
    assert PRODUCTION.read_fence is fence.read_fence
    assert PRODUCTION.Gateway is gateway.Gateway
    assert PRODUCTION.Claimant is claimant.Claimant
    assert PRODUCTION.LockTimes is claimant.LockTimes
    assert PRODUCTION.Intent is claim.Intent
    assert PRODUCTION.ItemKey is codec.ItemKey
    assert rules.expected_labels is expected_labels.expected_labels


@pytest.mark.parametrize("module", MODULES)
def test_the_lock_takes_time_and_chance_from_its_port(module: str) -> None:
    tree = ast.parse((ROOM / f"{module}.py").read_text("utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not {name.partition(".")[0] for name in imported} & IMPURE
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not called & {"utcnow", "today"}
    assert not any(isinstance(node, ast.Attribute) and ast.unparse(node) == "datetime.now" for node in ast.walk(tree))


def test_the_order_of_hashing_changes_nothing() -> None:
    root = str(Path(__file__).parents[2])
    told = {
        subprocess.run(
            [sys.executable, "-c", PRINT_DIGEST],
            cwd=root,
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": root},
            capture_output=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(told) == 1
    assert len(told.pop()) > 10_000
