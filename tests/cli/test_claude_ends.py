"""However a run of the real Claude Code ends, everything that it started ends with it."""

from __future__ import annotations

import os
import signal

import anyio
import pytest

from cli.claude_calls import bash
from cli.coding import Desk, left_behind, related
from cli.killed_daemon import FAMILY, a_daemon, programs_of, until
from shared.llm.cli.directory import sweep
from shared.llm.port import Ending
from shared.sandbox.confinement import Isolation, Wrap


@pytest.mark.fault(27)
async def test_what_a_tool_leaves_in_the_background_ends_with_the_run(desk: Desk) -> None:
    desk.script(bash(f"{FAMILY} true"), {"say": "Done."})
    assert (await desk.edit()).ending is Ending.COMPLETED
    assert (desk.tree / "begun").exists()
    assert await left_behind(desk.root) == []


@pytest.mark.fault(23)
async def test_a_cancelled_call_leaves_no_process_and_no_directory(desk: Desk) -> None:
    desk.script(bash(f"{FAMILY} sleep 600"))
    async with anyio.create_task_group() as group:
        group.start_soon(desk.edit)
        await until((desk.tree / "begun").exists)
        assert len(related(desk.root)) >= 6
        group.cancel_scope.cancel()
    assert await left_behind(desk.root) == []
    assert list(desk.calls.iterdir()) == []


@pytest.mark.fault(24)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_run_that_somebody_else_ends_is_killed_whatever_it_prints(desk: Desk, number: signal.Signals) -> None:
    desk.script(bash("touch begun; sleep 600"), {"say": "Done."})
    outcomes = []

    async def call() -> None:
        outcomes.append(await desk.edit())

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        await until((desk.tree / "begun").exists)
        for pid in programs_of(desk):
            os.kill(pid, number)
    (outcome,) = outcomes
    assert outcome.ending is Ending.KILLED, outcome
    assert outcome.usage.input_tokens == 1000


@pytest.mark.fault(23)
@pytest.mark.parametrize("kind", [Isolation.TREE_BY_BUBBLEWRAP, Isolation.TREE_BY_UNSHARE])
async def test_a_killed_daemon_takes_the_whole_tree_with_it(desk: Desk, kind: Isolation) -> None:
    desk.wrap = Wrap(kind)
    desk.script(bash(f"{FAMILY} sleep 600"))
    async with a_daemon(desk, kind) as daemon:
        await until((desk.tree / "begun").exists)
        assert len(related(desk.tree)) >= 6
        daemon.kill()
        await daemon.wait()
        assert await left_behind(desk.tree) == []
    assert len(list(desk.calls.glob("call-*.lock"))) == 1
    assert sweep(desk.calls) == 1


async def test_sweeping_leaves_the_calls_of_living_daemons_alone(desk: Desk) -> None:
    desk.script(bash("touch begun; until [ -e swept ]; do sleep 0.05; done"), {"say": "Done."})
    async with anyio.create_task_group() as group:
        group.start_soon(desk.edit)
        await until((desk.tree / "begun").exists)
        assert sweep(desk.calls) == 0
        (desk.tree / "swept").touch()
    assert (desk.tree / "begun").exists()
