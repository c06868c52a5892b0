"""The real CLIs through the model proxy: they work as without it, never see the key, and are stopped at the budget."""

from __future__ import annotations

from typing import Any

import pytest

from cli.coding import Desk
from cli.metering import KEY, metered
from shared.llm.port import CoderCall, Ending, RunLimits
from shared.sandbox.confinement import Isolation, Wrap

REACH = """python3 -c 'import socket, urllib.parse
place = urllib.parse.urlsplit("%s")
try:
    socket.create_connection((place.hostname, place.port), 5)
    said = "yes"
except OSError:
    said = "no"
open("reached", "w").write(said)'"""
"""Tries a connection past the proxy."""

SEALED = pytest.mark.parametrize(
    "wrap", [Wrap(Isolation.TREE_BY_BUBBLEWRAP), Wrap(Isolation.SANDBOX)], ids=["network", "no network"]
)


def tools(desk: Desk, command: str) -> dict[str, Any]:
    """Return a turn in which the CLI runs a command."""
    if desk.backend == "claude":
        return {"tools": [{"name": "Bash", "input": {"command": command, "description": "try"}}]}
    return {"tools": [{"name": "exec_command", "input": {"cmd": command}}]}


async def worked(desk: Desk) -> None:
    """Run two requests within the budget, and a command that looks for the key and for another way to the vendor."""
    look = f"env > seen; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline >> seen; {REACH % desk.server.url}; true"
    desk.script(tools(desk, look), {"say": "Done."})
    backend, proxy = metered(desk)
    outcome = await backend.run(desk.request(CoderCall.IMPLEMENT, "Do it.", run="r1", limits=_limits(50.0)))
    assert (outcome.ending, outcome.text) == (Ending.COMPLETED, "Done.")
    assert {seen.token for seen in desk.server.journal} == {KEY}
    assert (outcome.usage.cost_usd, outcome.usage.cost_source) == (6.0, "proxy")
    assert (desk.tree / "reached").read_text() == ("no" if desk.wrap.kind is Isolation.SANDBOX else "yes")
    found = (desk.tree / "seen").read_bytes()
    assert KEY.encode() not in found
    assert (b"run-" in found) == (desk.backend == "claude")  # Codex keeps even the token of the call from its tools
    measured = proxy.measurement("r1")
    assert (measured.requests, measured.refused) == (2, False)


async def stopped(desk: Desk) -> None:
    """Run a model that would never stop; assert that the run ends with the first request over the budget."""
    desk.script(tools(desk, "echo once >> turns"))
    backend, proxy = metered(desk)
    outcome = await backend.run(desk.request(CoderCall.IMPLEMENT, "Do it.", run="r1", limits=_limits(5.0)))
    assert outcome.ending is Ending.MAX_BUDGET
    assert len(desk.server.journal) == 2
    measured = proxy.measurement("r1")
    assert measured.refused
    assert measured.usage.cost_usd == 6.0


def _limits(budget: float) -> RunLimits:
    return RunLimits(max_turns=30, budget_usd=budget, deadline_seconds=60, silence_seconds=40)


@SEALED
async def test_claude_works_through_the_proxy_without_the_key(desk: Desk) -> None:
    await worked(desk)


@SEALED
async def test_claude_is_stopped_within_one_request_of_its_budget(desk: Desk) -> None:
    await stopped(desk)


@SEALED
async def test_codex_works_through_the_proxy_without_the_key(codex: Desk) -> None:
    await worked(codex)


@SEALED
async def test_codex_is_stopped_within_one_request_of_its_budget(codex: Desk) -> None:
    await stopped(codex)
