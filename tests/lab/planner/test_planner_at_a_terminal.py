"""The planner in front of a person: a real process on a pseudo-terminal, and the same parts without one."""

from __future__ import annotations

import asyncio
import os
import pty
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest
import yaml
from anyio.abc import Process as ChildProcess
from engine import ENGINE, OWNER, REPOSITORY, WRITES, Engine, demo_script
from terminal_scene import NobodyAnswers, conversation, issues

from lab.github.server import Lab
from shared.scheduling.agent_contract import Result

ROOT = Path(__file__).parents[3]
CTRL_C, ENTER = b"\x03", b"\r"


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """Yield the demo's project, and a coder that knows its first story."""
    async with Lab(tmp_path / "github") as lab, Engine.of(lab, tmp_path, demo_script(tmp_path)) as engine:
        yield engine
        assert lab.unlisted == []


def configured(engine: Engine) -> Path:
    """Write a configuration file for a separate process."""
    path = engine.directory / "config.yml"
    one = {"name": REPOSITORY, "llm_backend": "scripted", "poll_interval": 0.2, "approval": "terminal"}
    data = {
        "repositories": [one],
        "state_dir": str(engine.directory / "state"),
        "sandbox": "none",
        "github": {"api_url": engine.lab.url, "write_interval_seconds": 0},
        "lock": {"settle": 0},
        "llm": {"scenario": str(engine.scenario)},
    }
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return path


def editor(engine: Engine) -> Path:
    """Write an editor that renames the only specification."""
    path = engine.directory / "editor"
    path.write_text("#!/bin/sh\nexec sed -i 's/title: Search users by name/title: Find users by name/' \"$1\"\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@dataclass
class Pty:
    """A process on a pseudo-terminal: what it wrote, and the keys that are typed."""

    master: int
    process: ChildProcess
    written: bytearray = field(default_factory=bytearray)
    more: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self) -> None:
        """Take what there is to read; at its end a pseudo-terminal fails."""
        try:
            self.written += os.read(self.master, 65536)
        except OSError:
            asyncio.get_running_loop().remove_reader(self.master)
        self.more.set()

    async def sees(self, text: str) -> None:
        """Wait until this stands on the screen, below what was seen before."""
        with anyio.fail_after(60):
            while text.encode() not in self.written:
                self.more.clear()
                await self.more.wait()
        del self.written[: self.written.index(text.encode()) + len(text)]

    def types(self, *keys: bytes) -> None:
        """Press keys."""
        for key in keys:
            os.write(self.master, key)


@asynccontextmanager
async def terminal(engine: Engine) -> AsyncIterator[Pty]:
    """Run `planner-agent ada/directory` with a person in front of it."""
    master, slave = pty.openpty()
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(engine.directory),
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm",
        "PROMPT_TOOLKIT_NO_CPR": "1",
        "EDITOR": str(editor(engine)),
        "GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES),
    }
    argv = [sys.executable, "-m", "planner_agent", REPOSITORY, "--config", str(configured(engine))]
    with (engine.directory / "log").open("wb") as log:
        process = await anyio.open_process(
            argv, stdin=slave, stdout=slave, stderr=log, env=environment, cwd=engine.directory, start_new_session=True
        )
    os.close(slave)
    one = Pty(master, process)
    asyncio.get_running_loop().add_reader(master, one.hear)
    try:
        yield one
    finally:
        asyncio.get_running_loop().remove_reader(master)
        if process.returncode is None:
            process.kill()
        await process.aclose()
        os.close(master)


async def tells_a_story(person: Pty) -> None:
    await person.sees("Story (what is wanted")
    person.types(b"Add user search", ENTER)
    await person.sees("an empty line ends them")
    person.types(ENTER)
    await person.sees("[Y/n/edit]")


@pytest.mark.long
async def test_a_story_typed_and_edited_at_a_terminal_becomes_issues(engine: Engine) -> None:
    async with terminal(engine) as person:
        await tells_a_story(person)
        person.types(b"edit", ENTER)
        await person.sees("Find users by name")
        await person.sees("[Y/n/edit]")
        assert issues(engine) == []
        person.types(ENTER)
        await person.sees("handed over: #1 became #2")
        with anyio.fail_after(30):
            assert await person.process.wait() == 0
    story, specification = issues(engine)
    assert (story.title, set(story.labels)) == ("Add user search", {"story", "status:specified"})
    assert (specification.title, set(specification.labels)) == ("Find users by name", {"status:ready"})
    assert engine.held_locks() == []


@pytest.mark.long
async def test_ctrl_c_at_a_terminal_leaves_nothing(engine: Engine) -> None:
    async with terminal(engine) as person:
        await tells_a_story(person)
        person.types(CTRL_C)
        with anyio.fail_after(30):
            assert await person.process.wait() == 130
    log = (engine.directory / "log").read_text()
    assert "Cancelled: nothing was created." in log
    assert "Traceback" not in log
    assert issues(engine) == []


@pytest.mark.long
async def test_an_issue_without_a_label_is_planned_when_a_terminal_says_so(engine: Engine) -> None:
    number = engine.lab.issue(REPOSITORY, "Add user search", "By name.", author=OWNER).number
    assert await conversation(engine, str(number), "n") is None
    assert [set(one.labels) for one in issues(engine)] == [set()]
    ended = await conversation(engine, str(number), "y")
    assert ended is not None
    assert ended.result is Result.HANDED_OVER
    assert set(engine.issue(number).labels) == {"story", "status:specified"}


@pytest.mark.long
@pytest.mark.parametrize("label", ["status:specified", "status:planning"])
async def test_a_story_whose_label_is_taken_off_as_is_told_is_planned_again(engine: Engine, label: str) -> None:
    """The one was planned before; the other's label was set by a person for a planner, and none runs."""
    number = engine.lab.issue(REPOSITORY, "Add user search", "By name.", author=OWNER, labels=("story",)).number
    if label == "status:specified":
        assert await conversation(engine, str(number), "y") is not None
    else:
        engine.lab.label(REPOSITORY, number, label, actor=OWNER)
    with pytest.raises(NobodyAnswers):
        await conversation(engine, str(number))
    engine.lab.clock.advance(2)
    engine.lab.unlabel(REPOSITORY, number, label, actor=OWNER)
    engine.lab.clock.advance(2)
    ended = await conversation(engine, str(number), "y")
    assert ended is not None
    assert ended.result is Result.HANDED_OVER
    assert set(engine.issue(number).labels) == {"story", "status:specified"}
