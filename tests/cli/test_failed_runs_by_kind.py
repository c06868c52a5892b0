"""Each kind of failure of the real CLIs, as facts about them list it, and the one thing that the engine then does."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from engine import REPOSITORY, Engine
from worker_scene import labels

from cli.claude_calls import bash
from cli.codex_calls import shell
from cli.coding import program, related
from cli.failed_shift import CLAUDE_202, CLAUDE_330, CODEX_163, CODEX_169, PERSON, refused, shift
from shared.workflow import Role

Row = tuple[tuple[str, str], Mapping[str, Any]]

NO_CREDIT = "Your credit balance is too low to access the Anthropic API."
NO_QUOTA = "You exceeded your current quota, please check your plan and billing details."

LASTING: Mapping[str, Row] = {
    "claude, 401": (CLAUDE_202, refused(401, message="invalid x-api-key")),
    "claude, 403": (CLAUDE_330, refused(403, message="no access")),
    "claude, no credit": (CLAUDE_202, refused(400, message=NO_CREDIT)),
    "claude, unknown model": (CLAUDE_330, refused(404, message="model: nope")),
    "claude, bad request": (CLAUDE_202, refused(400, message="messages: too many")),
    "claude, declined": (CLAUDE_330, {"say": "I cannot help with that.", "refuses": True}),
    "codex, 403": (CODEX_169, refused(403, message="no access")),
    "codex, no quota": (CODEX_163, refused(429, type="insufficient_quota", message=NO_QUOTA)),
    "codex, unknown model": (CODEX_169, refused(404, type="model_not_found", message="The model `x` does not exist")),
    "codex, bad request": (CODEX_163, refused(400, type="invalid_request_error", message="too many")),
    "codex, cut off": (CODEX_169, {"say": "Half a", "cut_off": True}),
}

PASSING: Mapping[str, Row] = {
    "claude, 500": (CLAUDE_202, refused(500)),
    "claude, cut stream": (CLAUDE_330, {"trouble": {"kind": "cut"}}),
    "claude, malformed": (CLAUDE_330, {"trouble": {"kind": "malformed"}}),
    "codex, 500": (CODEX_163, refused(500)),
    "codex, cut stream": (CODEX_169, {"trouble": {"kind": "cut"}}),
}


@pytest.mark.fault(24)
@pytest.mark.parametrize("name", LASTING)
async def test_what_no_repetition_would_change_is_a_person_s_at_once(engine: Engine, name: str) -> None:
    backend, turn = LASTING[name]
    async with shift(engine, backend, turn) as here:
        await here.given_up(PERSON, "persistent")


@pytest.mark.fault(24)
@pytest.mark.parametrize("name", PASSING)
async def test_what_may_pass_is_tried_again_at_once(engine: Engine, name: str) -> None:
    backend, turn = PASSING[name]
    async with shift(engine, backend, turn) as here:
        assert await here.waits(0) == ("backoff", "transient=1")
        assert here.loop.ended == []


async def test_a_codex_that_says_nothing_is_tried_once_more(engine: Engine) -> None:
    async with shift(engine, CODEX_163, {"say": "I cannot help with that.", "refuses": True}) as here:
        assert await here.waits(0) == ("backoff", "unknown=1")


@pytest.mark.parametrize("backend", [CLAUDE_330, CODEX_169], ids="-".join)
async def test_options_that_it_does_not_know_are_a_person_s_at_once(engine: Engine, backend: tuple[str, str]) -> None:
    """A script beside the real program, where a sandbox shows both, starts it and adds an option to a call."""
    own = program(*backend).resolve()
    script = own.with_name(f"with-an-option-{os.getpid()}")
    script.write_text(
        f"""#!/bin/sh
case " $* " in
  *" --version "*|*" --help "*|*" features "*|*" sandbox "*) exec {shlex.quote(str(own))} "$@" ;;
  *) exec {shlex.quote(str(own))} "$@" --no-such-option ;;
esac
"""
    )
    script.chmod(0o755)
    try:
        async with shift(engine, backend, {"say": "Done."}, more={f"{backend[0]}_cli": str(script)}) as here:
            await here.given_up(PERSON, "persistent")
            assert here.server.journal == []
    finally:
        script.unlink()


def begun(directory: Path) -> bool:
    """Return whether the tool has made its file; directories that vanish during the walk are no error to `os.walk`."""
    return any("begun" in files for _, _, files in os.walk(directory))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("backend", [CLAUDE_202, CODEX_163], ids="-".join)
@pytest.mark.fault(24)
async def test_a_run_that_somebody_ends_is_tried_again(
    engine: Engine, backend: tuple[str, str], number: signal.Signals
) -> None:
    own = str(program(*backend).resolve())
    tool = bash if backend[0] == "claude" else shell

    async def kill() -> None:
        """Wait for the tool, and then end the program that has started it."""
        while not begun(engine.directory):  # noqa: ASYNC110  # another process makes it
            await anyio.sleep(0.05)
        for text in related(engine.directory):
            pid, _, rest = text.partition(" ")
            if rest.startswith(f"{own} "):
                os.kill(int(pid), number)

    async with anyio.create_task_group() as group:
        group.start_soon(kill)
        async with shift(engine, backend, tool("touch begun; sleep 600"), {"say": "Done."}) as here:
            assert await here.waits(0) == ("backoff", "transient=1")


async def test_an_answer_that_never_fits_is_asked_for_later(engine: Engine) -> None:
    never = {"answer": {"verdict": "perhaps"}}
    async with shift(engine, CLAUDE_330, never, role=Role.PLANNER) as here:
        seen = await engine.fence(Role.PLANNER, here.number)
        assert seen is not None
        assert seen.failures == "malformed-answer=1"
        assert "status:failed" not in labels(engine, here.number)
        assert engine.lab.at(REPOSITORY).issues.require(here.number).open
