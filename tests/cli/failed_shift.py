"""A worker's shift at which the coder's runs fail."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from engine import OWNER, REPOSITORY, Engine
from worker_scene import fence, labels, status

from cli.coding import TOKEN, left_behind, program
from lab.github.clock import LabClock
from lab.model.script import Script
from lab.model_server import ModelServer
from shared.loop.polling_loop import Loop
from shared.scheduling.agent_contract import Result
from shared.workflow import Role

CLAUDE_330, CLAUDE_202 = ("claude", "0.2.187"), ("claude", "0.2.111")

CODEX_163, CODEX_169 = ("codex", "0.163.0"), ("codex", "0.169.0")

VARIABLES = {"claude": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"), "codex": ("OPENAI_API_KEY", "OPENAI_BASE_URL")}

PERSON = "flag:manual-intervention"


def refused(status: int, **more: Any) -> dict[str, Any]:
    """Return a turn that is refused with a status."""
    return {"trouble": {"kind": "status", "status": status, **more}}


@dataclass
class Shift:
    """One agent with a real CLI at one scripted model, and a clock that the test moves."""

    engine: Engine
    server: ModelServer
    loop: Loop
    number: int

    async def waits(self, seconds: float, within: float = 1) -> tuple[str, str]:
        """Assert that the item waits for so many seconds; return the reason and the failures that the fence records."""
        seen = await fence(self.engine, self.number)
        assert seen.wait is not None, self.loop.ended
        assert (seen.wait.until - seen.at).total_seconds() == pytest.approx(seconds, abs=within)
        assert seen.attempt == 0, "a failed run spends no attempt"
        return seen.wait.reason, seen.failures

    async def after(self, seconds: float) -> None:
        """Let this time pass, then run the tick of the next attempt."""
        assert isinstance(self.engine.clock, LabClock)
        self.engine.clock.advance(seconds + 2)
        self.engine.lab.clock.advance(seconds + 2)
        await self.engine.tick(self.loop)

    async def given_up(self, flag: str, category: str) -> None:
        """Assert that a person has the item: only this flag, the reason, and no attempt spent."""
        assert [end.result for end in self.loop.ended] == [Result.FAILED]
        assert labels(self.engine, self.number) == {"status:failed", flag}
        assert f"| Category | {category} |" in status(self.engine, self.number)
        assert (await fence(self.engine, self.number)).attempt == 0


@asynccontextmanager
async def shift(
    engine: Engine, backend: tuple[str, str], *turns: Mapping[str, Any], **settings: Any
) -> AsyncIterator[Shift]:
    """Yield an agent at its first rest; assert at the end that none of its processes is left and all was scripted."""
    name, version = backend
    role = settings.pop("role", Role.WORKER)
    executable = program(name, version).resolve()
    engine.clock = LabClock()
    async with ModelServer(Script.of(*turns)) as server:
        key, url = VARIABLES[name]
        engine.variables = {key: TOKEN, url: server.url}
        engine.more_settings = {f"{name}_cli": str(executable), **settings.pop("more", {})}
        engine.repository_settings |= {"llm_backend": name, **settings}
        asks = "story" if role is Role.PLANNER else "status:ready"
        number = engine.lab.issue(REPOSITORY, "Greet people", "By name.", author=OWNER, labels=(asks,)).number
        async with engine.agent(role) as loop:
            await engine.tick(loop)
            yield Shift(engine, server, loop, number)
        assert server.unscripted == []
        assert await left_behind(engine.directory / "machine-1") == []
