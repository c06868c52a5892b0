"""A model server that is not ours, aimock: the demonstration's script in its own words, and the server as a process."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import anyio
import pytest

from cli.coding import TOOLS, search_path
from lab.demo.model_script import script
from lab.demo.stories import STORIES, scenario
from lab.model.anthropic import ANSWER_TOOL
from lab.model.script import Scene, Tool, Turn
from shared import process
from shared.llm.scenario import Scenario

PROGRAM = TOOLS / "aimock" / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
"""The program that `make test-cli` installs (https://aimock.copilotkit.dev)."""

KEY = "sk-f0re1gn-the-only-key-0123456789"
"""The one key that it takes."""

_LISTENS = re.compile(r"http://127\.0\.0\.1:\d+")

_TOKENS = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}


def fixtures(backend: str) -> dict[str, Any]:
    """Return the demonstration's one story for `backend` in aimock's form: the first fixture that fits answers.

    A session's later turns are known by the tool call that the last one made; its first by the prompt,
    the longest part first, because the parts of some prompts stand in others too.
    """
    scenes = script(Scenario.parse(scenario(STORIES[:1])), backend).scenes
    told = [fixture for number, scene in enumerate(scenes) for fixture in _session(scene, number, backend)]
    told.sort(key=lambda one: ("toolCallId" not in one["match"], -len(one["match"].get("userMessage", ""))))
    return {"fixtures": told}


def _session(scene: Scene, number: int, backend: str) -> Iterator[dict[str, Any]]:
    match: dict[str, Any] = {"userMessage": scene.part, "hasToolResult": False}
    for at, turn in enumerate(scene.turns):
        name = f"call_{number}_{at}"
        yield {"match": match, "response": _response(turn, name, backend)}
        match = {"toolCallId": name}
    if backend == "claude":  # also after an answer by a tool it may ask once more
        yield {"match": match, "response": {"content": "Done.", "usage": _TOKENS}}


def _response(turn: Turn, name: str, backend: str) -> dict[str, Any]:
    tools = [_tool(tool) for tool in turn.tools]
    said = turn.say
    if turn.answer is not None and backend == "claude":
        tools = [(ANSWER_TOOL, turn.answer)]
    elif turn.answer is not None:
        said = json.dumps(turn.answer)
    calls = [{"id": name, "name": tool, "arguments": given} for tool, given in tools]
    return {**({"content": said} if said else {}), **({"toolCalls": calls} if calls else {}), "usage": _TOKENS}


def _tool(tool: Tool) -> tuple[str, dict[str, Any]]:
    """Return a call without the directory, which nobody knows beforehand; aimock has no free-form tools."""
    if isinstance(tool.input, str):
        return "exec_command", {"cmd": f"apply_patch <<'PATCH'\n{tool.input}PATCH\n", "yield_time_ms": 30_000}
    return tool.name, {
        key: value.replace("{cwd}/", "") if isinstance(value, str) else value for key, value in tool.input.items()
    }


@dataclass(frozen=True, slots=True)
class Foreign:
    """The running server."""

    url: str

    async def journal(self) -> list[dict[str, Any]]:
        """Return every request that the server has seen, with the status of its answer."""
        async with aiohttp.ClientSession(headers={"authorization": f"Bearer {KEY}"}) as http:
            answer = await http.get(f"{self.url}/__aimock/journal", raise_for_status=True)
            return list(await answer.json())


@asynccontextmanager
async def running(root: Path, backend: str) -> AsyncIterator[Foreign]:
    """Run the server while the block lasts; skip the test only if there is no npm to install it."""
    node = shutil.which("node")
    if node is None or not PROGRAM.is_file():
        pytest.skip("no node, or no aimock in .tools: run `make test-cli` where there is npm")
    told, log = root / "fixtures.json", root / "aimock.log"
    told.write_text(json.dumps(fixtures(backend)), "utf-8")
    argv = (node, str(PROGRAM), "--port", "0", "--fixtures", str(told), "--strict", "--validate-on-load")
    environment = {**search_path(), "PATH": f"{Path(node).parent}{os.pathsep}{os.defpath}", "AIMOCK_API_KEYS": KEY}
    async with process.started(argv, cwd=root, env=environment, log=log) as server:
        while (found := _LISTENS.search(log.read_text("utf-8"))) is None:
            assert server.returncode is None, log.read_text("utf-8")
            await anyio.sleep(0.05)
        yield Foreign(found[0])
