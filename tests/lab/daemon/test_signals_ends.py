"""Ends in a hurry of real agent processes: what they leave behind is no child, only a lock that runs out."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import psutil
import pytest
from anyio.abc import Process
from daemon_scene import configured, lines, states
from engine import ENGINE, WRITES, Engine
from worker_scene import TESTS

from config.running_agents import residents
from shared import process
from shared.lock.codec import AckState
from shared.workflow import Role

pytestmark = pytest.mark.long

STUBBORN = "#!/bin/sh\ntrap '' TERM INT\nwhile :; do sleep 0.2; done\n"
"""Tests that do not end when they are told to."""

ROOT = Path(__file__).parents[3]


def running(program: Path) -> list[int]:
    """Return the processes that run a program, in whatever namespace."""
    return [one.pid for one in psutil.process_iter(["cmdline"]) if str(program) in (one.info["cmdline"] or [])]


def begun(program: Path) -> bool:
    """Return whether the program itself runs; a sandbox that is still being set up also has its name as an argument."""
    return any((one.info["cmdline"] or [])[1:2] == [str(program)] for one in psutil.process_iter(["cmdline"]))


async def until(done: Callable[[], object]) -> None:
    while not done():  # noqa: ASYNC110  # another process does it
        await anyio.sleep(0.05)


@asynccontextmanager
async def in_stubborn_tests(engine: Engine, **more: object) -> AsyncIterator[tuple[Process, Path, int]]:
    """Yield a worker in tests that do not end: its process, their program, and the issue."""
    program = engine.directory / "stubborn"
    program.write_text(STUBBORN, encoding="ascii")
    program.chmod(0o755)
    config = configured(engine)
    settings = json.loads(config.read_text(encoding="utf-8")) | {"health": {"port": None}} | more
    engine.script(TESTS)
    settings["llm"] = {"scenario": str(engine.scenario)}
    settings["repositories"][0] |= {"test_command": f"'{program}'", "test_report": "report.xml"}
    config.write_text(json.dumps(settings), encoding="utf-8")
    number = engine.ready("Greet people")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(engine.directory), "GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    argv = (sys.executable, "-m", "worker_agent", "--config", str(config))
    with anyio.fail_after(90):
        async with process.started(argv, cwd=ROOT, env=env, log=engine.directory / "worker.log") as child:
            await until(lambda: begun(program))
            yield child, program, number


def logged(engine: Engine, event: str) -> list[dict[str, object]]:
    return [one for one in lines(engine.directory / "worker.log") if one["event"] == event]


async def goes_on(engine: Engine, number: int) -> None:
    """Assert that GitHub does not know of the end: the lock expires, unless the same agent continues under its id."""
    assert states(engine, number) == [AckState.ACTIVE]
    assert residents(engine.directory / "state") == ()
    async with engine.agent(Role.WORKER, state="state") as again:
        await again.tick()
    assert states(engine, number) == [AckState.RELEASED], "it needed no second ACK"


@pytest.mark.fault(37)
async def test_a_second_signal_ends_it_at_once_and_its_children_with_it(engine: Engine) -> None:
    async with in_stubborn_tests(engine) as (child, program, number):
        child.send_signal(signal.SIGTERM)
        await until(lambda: logged(engine, "stopping"))
        began = anyio.current_time()
        child.send_signal(signal.SIGTERM)
        assert await child.wait() == 143
        assert anyio.current_time() - began < process.TERM_GRACE_SECONDS, "it did not wait for them"
        await until(lambda: not running(program))
    await goes_on(engine, number)


async def test_a_stop_that_hangs_is_ended_after_its_grace(engine: Engine) -> None:
    async with in_stubborn_tests(engine, stop_seconds=0.5) as (child, program, number):
        child.send_signal(signal.SIGTERM)
        assert await child.wait() == 1
        await until(lambda: not running(program))
    (overdue,) = logged(engine, "stop_overdue")
    assert overdue["seconds"] == 0.5
    await goes_on(engine, number)


async def test_a_killed_daemon_leaves_no_child_of_its_sandbox(engine: Engine) -> None:
    tried = await process.run(("bwrap", "--ro-bind", "/", "/", "true"), cwd=Path("/"), env={"PATH": "/usr/bin:/bin"})
    if tried.code != 0:
        pytest.skip("bubblewrap does not start here")
    async with in_stubborn_tests(engine, sandbox="bubblewrap", sandbox_readable=[str(engine.directory)]) as found:
        child, program, number = found
        child.kill()
        assert await child.wait() == -signal.SIGKILL
        await until(lambda: not running(program))
    await goes_on(engine, number)


SLOW_NAMES = """
import socket, time
known = socket.getaddrinfo
def slow(host, *rest, **more):
    if str(host).startswith("slow"):
        open("asked", "w").close()
        time.sleep(60)
    return known(host, *rest, **more)
socket.getaddrinfo = slow
"""


async def test_a_look_up_of_a_name_that_hangs_does_not_outlast_the_grace(tmp_path: Path) -> None:
    """The thread of a name lookup cannot be cancelled, and an event loop that ends waits for it."""
    (tmp_path / "sitecustomize.py").write_text(SLOW_NAMES, encoding="ascii")
    (tmp_path / "scenario.yml").write_text("[]", encoding="ascii")
    settings = {
        "repositories": [{"name": "ada/directory", "llm_backend": "scripted"}],
        "state_dir": str(tmp_path / "state"),
        "sandbox": "none",
        "stop_seconds": 0.5,
        "health": {"port": None},
        "github": {"api_url": "https://slow.example.invalid"},
        "llm": {"scenario": str(tmp_path / "scenario.yml")},
    }
    config, log = tmp_path / "config.yml", tmp_path / "worker.log"
    config.write_text(json.dumps(settings), encoding="utf-8")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "GITHUB_TOKEN": "ghp_x", "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    argv = (sys.executable, "-m", "worker_agent", "--config", str(config))
    with anyio.fail_after(30):
        async with process.started(argv, cwd=tmp_path, env=env, log=log) as child:
            await until((tmp_path / "asked").exists)
            child.send_signal(signal.SIGTERM)
            assert await child.wait() == 1
    assert [one["seconds"] for one in lines(log) if one["event"] == "stop_overdue"] == [0.5]
    assert residents(tmp_path / "state") == ()
