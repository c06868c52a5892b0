"""One lab behind a recording proxy, its project, and agents in this process or as processes of their own."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.proxy import Proxy, recording
from config.environment import child_environment
from config.loading import load
from config.state import StateDirectory
from lab import target_project
from lab.__main__ import ENGINE, PERMISSIONS, REVIEWER
from lab.github.clock import LabClock
from lab.github.server import Lab
from planner_agent.build import build as build_planner
from reviewer_agent.build import build as build_reviewer
from runtime.building.assembly import Parts, Process, opened
from shared import process
from shared.clock import Clock
from shared.loop import Loop
from shared.scheduling.items import Agent
from shared.workflow import Role
from worker_agent.build import build as build_worker

REPOSITORY = "ada/directory"
OWNER = "ada"
ALONE = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1"
"""The project's pytest runs without this repository's plugins, as it would in its own environment."""

AGENTS = (Role.PLANNER, Role.WORKER, Role.REVIEWER)

ROOT = Path(__file__).parents[1]

BUILD: Mapping[Role, Callable[[Parts], Agent]] = {
    Role.PLANNER: build_planner,
    Role.WORKER: build_worker,
    Role.REVIEWER: build_reviewer,
}


@dataclass
class LabHost:
    """Where a benchmark plays."""

    lab: Lab
    proxy: Proxy
    root: Path
    scenario: Path
    clock: Clock
    repository: dict[str, Any] = field(default_factory=dict)
    settle: float = 0.0
    name: str = REPOSITORY
    tokens: tuple[str, str] = (ENGINE, REVIEWER)
    """Whose token files an agent is given: the one of planner and worker, and the reviewer's."""
    write_interval_seconds: float = 0.0

    def config(self, state: str) -> Path:
        """The configuration file of one machine, whose state directory is `state`."""
        settings = {
            "repositories": [
                {
                    "name": self.name,
                    "poll_interval": 0.5,
                    "llm_backend": "scripted",
                    "test_command": f"{ALONE} '{sys.executable}' -m pytest -q",
                    "approval": "auto",
                    "refactor": "off",
                    "merge": "auto",
                    **self.repository,
                }
            ],
            "state_dir": str(self.root / state),
            "sandbox": "none",
            "cooldown": 0,
            "github": {
                "api_url": self.proxy.url,
                "token_file": str(self.root / f"{self.tokens[0]}.token"),
                "reviewer_token_file": str(self.root / f"{self.tokens[1]}.token"),
                "write_interval_seconds": self.write_interval_seconds,
                "share": 1,  # so that limits are reached
            },
            "lock": {"settle": self.settle, "key_files": [str(self.root / "lock.key")]},
            "llm": {"scenario": str(self.scenario)},
        }
        path = self.root / f"{state}.yml"
        path.write_text(json.dumps(settings, indent=1), encoding="utf-8")  # JSON is YAML
        return path

    @property
    def environment(self) -> dict[str, str]:
        """What an agent process gets."""
        return child_environment() | {"HOME": str(self.root), "PYTHONPATH": str(ROOT)}

    @asynccontextmanager
    async def agent(
        self, role: Role, *, state: str = "machine", change: Callable[[Parts], Parts] = lambda parts: parts
    ) -> AsyncIterator[tuple[Loop, Agent]]:
        """An agent in this process, whose ticks are called by hand."""
        settings = load(self.config(state), repository=None, environment={"HOME": str(self.root)})
        with ExitStack() as stack:
            directory = StateDirectory(settings.state_dir).open()
            identity = stack.enter_context(directory.claim_identity(role, None))
            async with opened(Process(settings, role, self.clock, identity, {})) as (parts,):
                agent = BUILD[role](change(parts))
                loop = Loop(agent, self.clock, interval_seconds=0.05)
                async with loop.open():
                    yield loop, agent

    @asynccontextmanager
    async def running(self, role: Role, name: str, *, state: str = "machine") -> AsyncIterator[int]:
        """An agent as a process of its own, until the block ends; yields its process id."""
        argv = (sys.executable, "-m", f"{role}_agent", "--config", str(self.config(state)), "--agent-id", name)
        async with process.started(argv, cwd=self.root, env=self.environment, log=self.log(name)) as child:
            yield child.pid

    def log(self, name: str) -> Path:
        """What an agent process printed."""
        return self.root / f"{name}.log"


@asynccontextmanager
async def house(
    root: Path, scenario: str, *, socket: Path | None = None, clock: LabClock | None = None, **repository: Any
) -> AsyncIterator[LabHost]:
    """A lab with the demo's project and its CI, keys and tokens; `repository` are keys of its configuration."""
    clock = clock or LabClock()
    script = root / "scenario.yml"
    script.write_text(scenario, encoding="utf-8")
    check = repository.pop("check_command", f"{ALONE} {target_project.CHECK_COMMAND}")
    async with Lab(root / "github", clock=clock) as lab, recording(lab.url, unix_socket=socket) as proxy:
        people = {ENGINE: "write", REVIEWER: "write"}
        await lab.repository(REPOSITORY, target_project.files(), collaborators=people, check_command=check)
        for login in people:
            private(root / f"{login}.token", lab.token(login, PERMISSIONS[login]))
        private(root / "lock.key", secrets.token_hex(32))
        yield LabHost(lab, proxy, root, script, clock, repository)


def private(path: Path, text: str) -> None:
    """Write a file that nobody else may read."""
    path.touch(mode=0o600)
    path.write_text(text, encoding="ascii")
