"""One life in the lab: a lab behind the gate, agents as forked processes, and the parts that a life has."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import anyio
import crash_actor
from anyio import to_thread
from crash_actor import Part, Shared
from crash_gate import Gate, gate_before

from lab import stub_project
from lab.__main__ import ENGINE, PERMISSIONS, REVIEWER
from lab.github.clock import LabClock
from lab.github.server import Lab
from lab.github.world.repository import RepositoryRecord
from shared.workflow import Role

REPOSITORY, OWNER = "ada/greetings", "ada"

LATER = """\
import pytest


@pytest.mark.skip(reason="spec: guests are thanked")
def test_thanks():
    assert open("thanks.txt").read()
"""
"""A test that waits for its code; who does not ask for such tests sees an ordinary file."""

PAUSE = 2400.0

LOOK_SECONDS = 0.01
STALLED_SECONDS = 6.0
"""After so much real time without an end, virtual time passes a hundred times as fast."""

QUIET_SECONDS = 1.0
"""After so much real time with nothing but polls for news, virtual time passes as fast too: all agents are waiting."""

PATIENCE_SECONDS = 90.0

_FORK = multiprocessing.get_context("forkserver")
_FORK.set_forkserver_preload(["crash_actor"])


class NotThere(AssertionError):
    """The life did not come to where it should."""


class SharedLabClock(LabClock):
    """The lab's clock, moved by the offset that the agents share."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        super().__init__(shared.value)

    @property
    def offset(self) -> float:
        """Seconds ahead of the machine."""
        return self._shared.value

    @offset.setter
    def offset(self, seconds: float) -> None:
        self._shared.value = seconds


@dataclass
class Agent:
    """One running agent process."""

    name: str
    process: BaseProcess
    token: str

    def start(self) -> None:
        """Begin."""
        self.process.start()

    def signal(self, number: int) -> None:
        """Send it a signal."""
        if self.process.pid is not None and self.process.is_alive():
            os.kill(self.process.pid, number)

    async def killed(self) -> None:
        """Kill it and wait until it is gone."""
        self.signal(signal.SIGKILL)
        while self.process.is_alive():  # noqa: ASYNC110  # another process
            await anyio.sleep(LOOK_SECONDS / 5)


@dataclass
class Life:
    """A repository in a lab, and the agents that are started on it."""

    lab: Lab
    gate: Gate
    root: Path
    shared: Shared
    agents: list[Agent] = field(default_factory=list)
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Additional settings of the repository for agents that are added from now on."""

    @property
    def repository(self) -> RepositoryRecord:
        """Everything that GitHub knows."""
        return self.lab.at(REPOSITORY)

    @property
    def journal(self) -> Path:
        """The coder's own record of paid calls."""
        return self.root / "journal.jsonl"

    def cast(self, role: Role, *, name: str = "first", state: str = "here", dies: tuple[str, str] = ("", "")) -> Agent:
        """Add a process to be started, and return it; the same `name` and `state` again is the same agent restarted."""
        login = REVIEWER if role is Role.REVIEWER else ENGINE
        token = self.lab.token(login, PERMISSIONS[login])
        name = f"{role}-{name}"
        config = self._config(state, token)
        part = Part(role, name, config, self.journal, self.root / f"{name}.log", dies)
        process = _FORK.Process(target=crash_actor.act, args=(part, self.shared), daemon=True)
        agent = Agent(name, process, token)
        self.agents.append(agent)
        return agent

    def pass_time(self, seconds: float) -> None:
        """Let virtual time pass for all agents."""
        self.lab.clock.advance(seconds)

    async def until(self, done: Callable[[Life], bool], what: str, *, stalls: bool = True) -> None:
        """Wait until `done`; a stall lets virtual time pass, and too much of it is a failure."""
        began = time.monotonic()
        while not done(self):
            waited = time.monotonic() - began
            if waited > PATIENCE_SECONDS:
                raise NotThere(f"{what}: not there after {waited:.0f} s; see {self.root}")
            quiet = time.monotonic() - max(began, self.gate.busy_at)
            if stalls and (waited > STALLED_SECONDS or quiet > QUIET_SECONDS):
                self.pass_time(5.0)
                await anyio.sleep(0.05)
            await anyio.sleep(LOOK_SECONDS)

    def calls(self) -> list[Mapping[str, object]]:
        """Return the lines of the journal."""
        if not self.journal.exists():
            return []
        return [json.loads(line) for line in self.journal.read_text(encoding="utf-8").splitlines()]

    async def end(self) -> None:
        """Kill what runs."""
        for agent in self.agents:
            if agent.process.pid is not None:
                agent.signal(signal.SIGCONT)
                await agent.killed()
        self.agents.clear()

    def _config(self, state: str, token: str) -> Path:
        place = self.root / state
        place.mkdir(exist_ok=True)
        secret = place / f"{token[-8:]}.token"
        _private(secret, token)
        settings = {
            "repositories": [{"name": REPOSITORY, **stub_project.SETTINGS, **self.settings}],
            "state_dir": str(place / "state"),
            "sandbox": "none",
            "cooldown": 0,
            "github": {
                "api_url": self.gate.url,
                "token_file": str(secret),
                "reviewer_token_file": str(secret),
                "write_interval_seconds": 0,
            },
            "lock": {"settle": 0.0, "key_files": [str(self.root / "lock.key")]},
            "llm": {"scenario": str(self.root / "scenario.yml")},
        }
        path = place / f"{token[-8:]}.yml"
        path.write_text(json.dumps(settings), encoding="utf-8")  # JSON is YAML
        return path


@asynccontextmanager
async def life_in(root: Path, *, copied_from: Path | None = None) -> AsyncIterator[Life]:
    """Yield a life that begins with a story, or where another life was when its block ended."""
    await to_thread.run_sync(_make, root, copied_from)
    kept = root / "offset"
    shared: Shared = _FORK.RawValue("d", float(kept.read_text()) if kept.exists() else 0.0)
    async with Lab(root / "github", clock=SharedLabClock(shared)) as lab, gate_before(lab.url) as gate:
        life = Life(lab, gate, root, shared)
        if copied_from is None:
            await _begin(life)
        try:
            yield life
        finally:
            await life.end()
            kept.write_text(str(shared.value))


def _make(root: Path, copied_from: Path | None) -> None:
    if copied_from is None:
        root.mkdir(parents=True)
    else:
        shutil.copytree(copied_from, root, symlinks=True)


async def _begin(life: Life) -> None:
    people = {ENGINE: "write", REVIEWER: "write"}
    files = {**stub_project.FILES, "tests/test_later.py": LATER}
    await life.lab.repository(REPOSITORY, files, collaborators=people, check_command=stub_project.CI)
    title, wish = stub_project.title("guests"), "As a guest I want to be greeted."
    life.lab.issue(REPOSITORY, title, wish, author=OWNER, labels=("story",))
    (life.root / "scenario.yml").write_text(stub_project.scenario("guests"), encoding="utf-8")
    _private(life.root / "lock.key", "5a" * 32)


def _private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text, encoding="ascii")
