"""Hooks around a coder's runs: what they change is part of the change, and what fails first is never paid for."""

from __future__ import annotations

import os
import shlex
import sys

import pytest
from engine import REPOSITORY, Engine
from worker_scene import CODE, TESTS, branch, calls, labels, status

from shared.git.disk import IDLE_SECONDS
from shared.scheduling.agent_contract import Result
from shared.workflow import Role

pytestmark = pytest.mark.long

FORMATS = (
    "import pathlib; p = pathlib.Path('directory/greeting.py'); "
    "p.exists() and p.write_text('# formatted\\n' + p.read_text())"
)


def python(code: str) -> str:
    return shlex.join((sys.executable, "-c", code))


async def test_what_a_hook_changes_after_a_run_is_part_of_the_change(engine: Engine) -> None:
    engine.repository_settings["hooks"] = {"after_run": python(FORMATS), "before_run": python("print('ready')")}
    engine.script(TESTS + CODE)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
        assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    tip = await branch(engine, number)
    assert tip is not None
    written = await engine.lab.at(REPOSITORY).bare.read(tip, "directory/greeting.py")
    assert written == b"# formatted\ndef greet(name):\n    return f'Hello, {name}'\n"


async def test_a_hook_that_fails_before_a_run_is_told_and_nothing_is_paid(engine: Engine) -> None:
    engine.repository_settings["hooks"] = {"before_run": python("import sys; sys.exit('no database here')")}
    engine.script(TESTS + CODE)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
    assert "status:failed" in labels(engine, number)
    said = status(engine, number)
    assert "The hook `before_run` failed (exit code 1)" in said
    assert "no database here" in said
    assert "Correct `hooks.before_run` in the agent's configuration" in said
    assert calls(engine, "write_tests") == 0


async def test_a_workspace_that_is_used_no_longer_is_left_in_order(engine: Engine) -> None:
    left = engine.directory / "left"
    engine.repository_settings["hooks"] = {"before_remove": shlex.join(("touch", str(left)))}
    engine.script(TESTS + CODE)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
    assert not left.exists()
    place = engine.settings("machine-1").work_dir / REPOSITORY.replace("/", "__") / f"issue-{number}"
    used = place.stat().st_mtime - IDLE_SECONDS - 60
    os.utime(place, (used, used))
    async with engine.agent(Role.WORKER) as again:
        await engine.tick(again)
    assert (left.exists(), place.exists()) == (True, False)
