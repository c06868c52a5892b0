"""However a run of a program that speaks chat completions ends, everything that it started ends with it."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

import anyio
import pytest

from cli.coding import left_behind, related
from cli.compatible import ProxiedDesk
from cli.killed_daemon import FAMILY, until
from shared.llm.port import Ending


@pytest.mark.fault(27)
async def test_what_a_tool_leaves_in_the_background_ends_with_the_run(proxied: ProxiedDesk) -> None:
    proxied.script(proxied.tools.shell(f"({FAMILY} true) >/dev/null 2>&1"), {"say": "Done."})
    assert (await proxied.edit()).ending is Ending.COMPLETED
    assert [path.name for path in proxied.tree.iterdir()] == ["begun"]
    assert await left_behind(proxied.root) == []


@pytest.mark.fault(23)
async def test_a_cancelled_call_leaves_no_process_no_directory_and_nothing_in_the_tree(proxied: ProxiedDesk) -> None:
    proxied.script(proxied.tools.shell(f"{FAMILY} sleep 600"))
    async with anyio.create_task_group() as group:
        group.start_soon(proxied.edit)
        await until((proxied.tree / "begun").exists)
        assert len(related(proxied.root)) >= 6
        group.cancel_scope.cancel()
    assert await left_behind(proxied.root) == []
    assert list(proxied.calls.iterdir()) == []
    assert [path.name for path in proxied.tree.iterdir()] == ["begun"]


@pytest.mark.fault(24)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_run_that_somebody_else_ends_is_never_taken_for_a_completed_one(
    proxied: ProxiedDesk, number: signal.Signals
) -> None:
    proxied.script(proxied.tools.shell("touch begun; sleep 600"), {"say": "Done."})
    outcomes = []

    async def call() -> None:
        outcomes.append(await proxied.edit())

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        await until((proxied.tree / "begun").exists)
        program = str(proxied.executable.resolve().parent)
        found = [text.split()[0] for text in related(proxied.root) if program in text.split(" HOME=")[0]]
        assert found
        for pid in found:
            with suppress(ProcessLookupError):  # it has ended with the one before
                os.kill(int(pid), number)
    (outcome,) = outcomes
    assert outcome.ending is Ending.KILLED, outcome
    assert outcome.usage.output_tokens == 50
