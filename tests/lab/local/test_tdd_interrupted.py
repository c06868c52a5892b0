"""`workflow-engine tdd` ended by every signal in every phase: it goes on and pays nothing twice."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import Process, SocketAttribute, SocketStream
from local_project import APPROVES, CHECKED, CODE, HANGS, TESTS, Project

from console.tdd.task import Records, State
from shared import process

pytestmark = pytest.mark.long

GOOD = TESTS + CODE + APPROVES + CHECKED
SECONDS = 180
"""After so long it hangs, on whatever machine."""


@pytest.fixture
async def project(tmp_path: Path) -> Project:
    return await Project.made(tmp_path)


async def test_a_task_goes_on_after_every_end_without_paying_twice(project: Project) -> None:
    before = await project.photograph()
    new = ("../SPEC.md", "--branch", "greeting")
    async with hanging(project, "tests", "Writing the tests.", *new) as running:
        running.send_signal(signal.SIGKILL)
        assert await running.wait() == -signal.SIGKILL
    (task,) = Records(project.top).all()
    assert task.state is State.WORKING
    again = ("--resume", task.id)
    async with hanging(project, "code", "Writing the code (attempt 1 of 3).", *again) as running:
        second = await project.tdd(*again, "--json")
        assert second.code == 2
        assert "worked on by another process" in json.loads(second.stdout)["error"]
        running.send_signal(signal.SIGTERM)
        assert await running.wait() == 128 + signal.SIGTERM
    async with hanging(project, "review", "Reviewing.", *again) as running:
        running.send_signal(signal.SIGINT)
        assert await running.wait() == 128 + signal.SIGINT
    assert await project.photograph() == before
    done = await project.tdd(*again, scenario=GOOD)
    assert done.code == 0, done.stderr.decode()
    assert await project.photograph(without=["greeting"]) == before
    assert [project.calls(call) for call in ("write_tests", "implement", "review", "check_criteria")] == [1, 1, 1, 1]
    assert await project.git("show", "greeting:greeting.txt") == "Hello, everybody!"


async def test_a_second_signal_ends_it_at_once(project: Project) -> None:
    before = await project.photograph()
    async with hanging(project, "tests", "Writing the tests.", "../SPEC.md") as running:
        for _ in range(2):
            running.send_signal(signal.SIGINT)
            await anyio.sleep(0.01)
        with anyio.fail_after(SECONDS):
            assert await running.wait() == 128 + signal.SIGINT
    assert await project.photograph() == before
    (task,) = Records(project.top).all()
    assert task.state is State.WORKING


HASTY = """
import sys
from pathlib import Path
from console.tdd.command import done
from console.tdd.task import TddOptions

class Hasty(TddOptions):
    def check(self):
        raise KeyboardInterrupt

sys.exit(done(Hasty(Path("../SPEC.md"), json=True), {}))
"""
"""Interrupted before anybody attends to signals."""


async def test_what_ends_before_anything_is_begun_is_one_object_too(project: Project) -> None:
    async with silent_github() as (url, asked):
        await project.git("remote", "add", "origin", f"{url}/ada/x.git")
        project.configured(GOOD, github={"api_url": url, "write_interval_seconds": 0})
        argv, log = project.command("../SPEC.md", "--json"), project.outside / "stderr.log"
        variables = project.variables("ghp_" + "a" * 36)
        async with process.piped(argv, cwd=project.top, env=variables, log=log) as running:
            with anyio.fail_after(SECONDS):
                await asked.wait()
                running.send_signal(signal.SIGINT)
                assert await running.wait() == 128 + signal.SIGINT
            assert running.stdout is not None
            told = [json.loads(await running.stdout.receive())]
    hasty = await process.run((sys.executable, "-c", HASTY), cwd=project.top, env=project.variables())
    assert hasty.code == 128 + signal.SIGINT
    told.append(json.loads(hasty.stdout))
    assert told == [{"task": None, "exit_code": 130, "errors": ["Interrupted."], "warnings": []}] * 2
    assert not Records(project.top).directory.exists()


@asynccontextmanager
async def silent_github() -> AsyncIterator[tuple[str, anyio.Event]]:
    """Serve connections without ever answering; yield the address, and an event that tells of the first connection."""
    asked = anyio.Event()

    async def keep(stream: SocketStream) -> None:
        async with stream:
            asked.set()
            await anyio.sleep_forever()

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, keep)
        yield f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}", asked
        group.cancel_scope.cancel()


@asynccontextmanager
async def hanging(project: Project, made: str, sentence: str, *words: str) -> AsyncIterator[Process]:
    """Start a process in which the coder hangs; yield it once it has printed `sentence`."""
    argv = project.command(*words, scenario=HANGS[made])
    log = project.outside / f"{made}.log"
    async with process.started(argv, cwd=project.top, env=project.variables(), log=log) as running:
        with anyio.fail_after(SECONDS):
            while sentence not in await anyio.Path(log).read_text():  # noqa: ASYNC110 - another process writes it
                await anyio.sleep(0.1)
        yield running
