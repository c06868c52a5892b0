"""`/retry backend=NAME` with two backends in one configuration: after the scripted one a real program goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from engine import OWNER, REPOSITORY, Engine
from worker_scene import TESTS, WRONG, calls, fence, pulls, status

from cli import claude_calls
from cli.coding import TOKEN, program
from cli.compatible import TOOLS
from lab.model.script import Script
from lab.model_server import ModelServer
from shared.llm import compatible
from shared.scheduling.agent_contract import Result
from shared.workflow import Role

PLACE, GREETS = "directory/greeting.py", "greet = 'Hello, {}'.format\n"


@dataclass(frozen=True)
class Other:
    """The backend that goes on."""

    name: str
    version: str
    writes: Mapping[str, Any]
    key: str
    url: str
    settings: Mapping[str, Any] = field(default_factory=dict)


CLAUDE = Other("claude", "0.2.187", claude_calls.write(PLACE, GREETS), "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")
QWEN = Other(
    "qwen",
    "0.24.4",
    TOOLS["qwen"].write(PLACE, GREETS),
    compatible.KEY,
    compatible.URL,
    {"llm": {"models": {"qwen": "gpt-5"}}},
)
MINI = Other(
    "mini",
    "2.4.6",
    TOOLS["mini"].write(PLACE, GREETS),
    compatible.KEY,
    compatible.URL,
    {"llm": {"models": {"mini": "gpt-5"}}},
)


@pytest.mark.parametrize("backend", [CLAUDE, QWEN, MINI], ids=lambda one: one.name)
async def test_a_person_has_another_backend_go_on_from_the_same_tests(engine: Engine, backend: Other) -> None:
    engine.script(TESTS + WRONG)
    engine.repository_settings |= {"max_attempts": 1}
    turns = [{"say": "I greet.", **backend.writes}, {"say": "Done."}]
    async with ModelServer(Script.read([{"for": "This is attempt 1 of", "turns": turns}])) as server:
        engine.variables = {backend.key: TOKEN, backend.url: server.url}
        engine.more_settings = {
            **backend.settings,
            f"{backend.name}_cli": str(program(backend.name, backend.version).resolve()),
            "roles": {"debugger": {"backend": backend.name}},
            "phases": {"diagnose": "generalist"},
        }
        number = engine.ready("Greet people")
        async with engine.agent(Role.WORKER) as worker:
            await engine.until(lambda: bool(worker.ended), worker)
            assert [one.result for one in worker.ended] == [Result.FAILED]
        red = (await fence(engine, number)).work_head
        assert server.journal == [], "the other backend was asked for nothing"
        engine.lab.comment(REPOSITORY, number, f"/retry backend={backend.name}", author=OWNER)
        async with engine.agent(Role.WORKER, state="machine-2") as other:
            await engine.in_time(lambda: bool(other.ended), other, seconds=90)
            assert [one.result for one in other.ended] == [Result.HANDED_OVER]
        assert len(server.journal) >= 2
        assert server.unscripted == []
    assert (await fence(engine, number)).backend == backend.name
    assert f"and {backend.name}" in status(engine, number)
    assert calls(engine, "write_tests") == 1, "the tests are those that were written before"
    bare = engine.lab.at(REPOSITORY).bare
    assert red in {one.sha for one in await bare.log(None, pulls(engine)[0].head_sha, 4)}
