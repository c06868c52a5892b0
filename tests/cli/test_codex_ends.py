"""However a run of the real Codex ends, everything that it started ends with it, and its tree is as it left it."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest

from cli.codex_calls import shell
from cli.coding import Desk, left_behind, related
from cli.killed_daemon import FAMILY, a_daemon, programs_of, until
from shared.errors import Misconfigured
from shared.llm.cli.directory import sweep
from shared.llm.codex import Codex
from shared.llm.port import Ending
from shared.llm.prices import Prices
from shared.sandbox.bubblewrap_sandbox import FileSystemView
from shared.sandbox.confinement import Confinement, Isolation, Wrap


@pytest.mark.fault(27)
async def test_what_a_tool_leaves_in_the_background_ends_with_the_run(codex: Desk) -> None:
    codex.script(shell(f"{FAMILY} true"), {"say": "Done."})
    assert (await codex.edit()).ending is Ending.COMPLETED
    assert [path.name for path in codex.tree.iterdir()] == ["begun"]
    assert await left_behind(codex.root) == []


@pytest.mark.fault(23)
async def test_a_cancelled_call_leaves_no_process_no_directory_and_nothing_in_the_tree(codex: Desk) -> None:
    codex.script(shell(f"{FAMILY} sleep 600"))
    async with anyio.create_task_group() as group:
        group.start_soon(codex.edit)
        await until((codex.tree / "begun").exists)
        assert len(related(codex.root)) >= 6
        group.cancel_scope.cancel()
    assert await left_behind(codex.root) == []
    assert list(codex.calls.iterdir()) == []
    assert [path.name for path in codex.tree.iterdir()] == ["begun"]


@pytest.mark.fault(24)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_run_that_somebody_else_ends_is_killed_whatever_it_prints(codex: Desk, number: signal.Signals) -> None:
    codex.script(shell("touch begun; sleep 600"), {"say": "Done."})
    outcomes = []

    async def call() -> None:
        outcomes.append(await codex.edit())

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        await until((codex.tree / "begun").exists)
        for pid in programs_of(codex):
            os.kill(pid, number)
    (outcome,) = outcomes
    assert outcome.ending is Ending.KILLED, outcome
    assert outcome.usage.output_tokens == 50
    assert [path.name for path in codex.tree.iterdir()] == ["begun"]


@pytest.mark.fault(23)
@pytest.mark.parametrize("kind", [Isolation.TREE_BY_BUBBLEWRAP, Isolation.TREE_BY_UNSHARE])
async def test_a_killed_daemon_takes_the_whole_tree_with_it(codex: Desk, kind: Isolation) -> None:
    codex.wrap = Wrap(kind)
    codex.script(shell(f"{FAMILY} sleep 600"))
    async with a_daemon(codex, kind) as daemon:
        await until((codex.tree / "begun").exists)
        assert len(related(codex.tree)) >= 6
        daemon.kill()
        await daemon.wait()
        assert await left_behind(codex.tree) == []
    assert len(list(codex.calls.glob("call-*.lock"))) == 1
    assert sweep(codex.calls) == 1
    left = [path for path in codex.tree.iterdir() if path.name != "begun"]
    assert all(path.is_dir() and not any(path.iterdir()) for path in left)  # git sees no empty directory
    codex.script({"say": "Done."})
    assert (await codex.edit()).ending is Ending.COMPLETED
    assert [path.name for path in codex.tree.iterdir()] == ["begun"]


async def test_a_machine_on_which_its_sandbox_does_not_start_is_refused_before_any_run(codex: Desk) -> None:
    """Without this, every tool would fail and the run would end as if all were well."""
    launcher = replace(codex.launcher(), confinement=Confinement(_Barred(Isolation.TREE_BY_GROUP)))
    with pytest.raises(Misconfigured, match=r"cannot start its sandbox here.*namespace"):
        await Codex(codex.executable.resolve(), launcher, Prices({})).ready()


class _Barred(Wrap):
    """A wrapper inside which no further namespace can be made, as in a strict container."""

    def argv(self, command: Sequence[str], view: FileSystemView) -> tuple[str, ...]:
        """Return `command`, wrapped so that it cannot make user namespaces."""
        return ("bwrap", "--unshare-user", "--disable-userns", "--dev-bind", "/", "/", "--", *command)
