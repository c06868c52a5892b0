"""One lab behind a recording proxy, its project, and agents in this process or as processes of their own."""

from __future__ import annotations

import shlex
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from benchmarks.proxy import Proxy, recording
from config.environment import child_environment
from config.loading import load
from lab import target_project
from lab.__main__ import ENGINE, REVIEWER
from lab.agents import at_work, process_of
from lab.github.clock import LabClock
from lab.github.server import Lab
from lab.github.world.accounts import HOURLY_LIMIT
from lab.host import Host
from runtime.building.assembly import RepositoryAdapters
from shared import process
from shared.clock import Clock
from shared.github.label_board import LOOKS
from shared.loop.polling_loop import Loop
from shared.scheduling.agent_contract import Agent
from shared.workflow import Role
from shared.workflow.labels import Labels

REPOSITORY = "ada/directory"
OWNER = "ada"
ALONE = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1"
"""The setting by which the project's pytest runs without this repository's plugins, as in its own environment."""

AGENTS = (Role.PLANNER, Role.WORKER, Role.REVIEWER)

ROOT = Path(__file__).parents[1]


class Stuck(Exception):
    """The engine did not come to the end of what it was given."""


@dataclass
class LabHost(Host):
    """The host of one benchmark."""

    proxy: Proxy
    clock: Clock
    repository: dict[str, Any] = field(default_factory=dict)
    settle: float = 0.0
    name: str = REPOSITORY
    more: Sequence[str] = ()
    """Other repositories that the same agents work in."""
    tokens: tuple[str, str] = (ENGINE, REVIEWER)
    """Names of the token files that an agent is given: the one of planner and worker, and the reviewer's."""
    write_interval_seconds: float = 0.0
    programs: Path | None = None
    """A directory that stands first on the agents' PATH."""
    script: str = "scenario.yml"
    options: tuple[str, ...] = ()
    """Arguments of the agents' command lines beside the usual ones."""

    @property
    def scenario(self) -> Path:
        """The file from which a scripted coder answers."""
        return self.root / self.script

    def config(self, state: str) -> Path:
        """Write the configuration file of one machine, whose state directory is `state`; return its path."""
        repository = {
            "name": self.name,
            "poll_interval": 0.5,
            "llm_backend": "scripted",
            "test_command": f"{ALONE} {shlex.quote(sys.executable)} -m pytest -q",
            "approval": "auto",
            "refactor": "off",
            "merge": "auto",
            **self.repository,
        }
        github = {
            "api_url": self.proxy.url,
            "token_file": self.token_file(self.tokens[0]),
            "reviewer_token_file": self.token_file(self.tokens[1]),
            "write_interval_seconds": self.write_interval_seconds,
            "share": 1,  # so that limits are reached
        }
        lock = {"settle": self.settle}
        settings = self.configuration(repository, state=state, lock=lock, github=github)
        all_of_them = [{**repository, "name": name} for name in (self.name, *self.more)]
        return self.configured(state, settings | {"repositories": all_of_them})

    @property
    def environment(self) -> dict[str, str]:
        """The environment of an agent process."""
        known = child_environment()
        path = {"PATH": f"{self.programs}:{known['PATH']}"} if self.programs else {}
        return known | path | {"HOME": str(self.root), "PYTHONPATH": str(ROOT)}

    def ready_issue(self, title: str) -> int:
        """Let the owner write an issue that a worker may begin; return its number."""
        return self.lab.issue(REPOSITORY, title, "It counts.", author=OWNER, labels=("status:ready",)).number

    async def until(
        self, done: Callable[[], bool], seconds: float, complaint: Callable[[], str], *, pause_seconds: float = 0.2
    ) -> None:
        """Return when `done` holds; after so many seconds raise `Stuck` with the complaint and the root directory."""
        with anyio.move_on_after(seconds) as limit:
            while not done():
                await self.clock.sleep(pause_seconds)
        if limit.cancelled_caught:
            raise Stuck(f"{complaint()}: see {self.root}.")

    async def polled(self, more: int, seconds: float) -> None:
        """Return when so many more polls were answered; raises `TimeoutError` after so many seconds."""
        wanted = self.proxy.polls + more
        with anyio.fail_after(seconds):
            while self.proxy.polls < wanted:
                await self.clock.sleep(0.005)

    @asynccontextmanager
    async def agent(
        self,
        role: Role,
        *,
        state: str = "machine",
        change: Callable[[RepositoryAdapters], RepositoryAdapters] = lambda parts: parts,
    ) -> AsyncIterator[tuple[Loop, Agent]]:
        """Give an agent in this process, whose ticks are called by hand."""
        settings = load(self.config(state), repository=None, environment={"HOME": str(self.root)})
        with process_of(settings, role, self.clock, {}) as one:
            async with at_work(one, observe=False, change=change) as working:
                yield working

    @asynccontextmanager
    async def running(self, role: Role, name: str, *, state: str = "machine") -> AsyncIterator[int]:
        """Run an agent as a process of its own, until the block ends; yield its process id."""
        async with self.started(role, name, self.config(state)) as pid:
            yield pid

    @asynccontextmanager
    async def started(self, role: Role, name: str, config: Path) -> AsyncIterator[int]:
        """Do the same as `running`, by a configuration file that exists."""
        argv = (sys.executable, "-m", f"{role}_agent", "--config", str(config), "--agent-id", name, *self.options)
        async with process.started(argv, cwd=self.root, env=self.environment, log=self.log(name)) as child:
            yield child.pid


def label_as_init(lab: Lab, name: str) -> None:
    """Create the labels of a repository as `init` would: an agent that finds none makes 20 writes."""
    for label in (*map(Labels().of, (*LOOKS,)), Labels().story):
        lab.at(name).labels.ensure(label)


@asynccontextmanager
async def house(
    root: Path, scenario: str, *, socket: Path | None = None, clock: LabClock | None = None, **repository: Any
) -> AsyncIterator[LabHost]:
    """Give a lab with the demo's project and its CI, keys and tokens; `repository` are keys of its configuration.

    Two of them are the lab's own: `check_command`, and the limit `charged_per_hour` of an account.
    """
    clock = clock or LabClock()
    check = repository.pop("check_command", f"{ALONE} {target_project.CHECK_COMMAND}")
    limit = repository.pop("charged_per_hour", HOURLY_LIMIT)
    async with Lab(root / "github", clock=clock, limit=limit) as lab, recording(lab.url, unix_socket=socket) as proxy:
        people = {ENGINE: "write", REVIEWER: "write"}
        await lab.repository(REPOSITORY, target_project.files(), collaborators=people, check_command=check)
        host = LabHost(lab, root, proxy, clock, repository)
        host.sign_in()
        host.scenario.write_text(scenario, encoding="utf-8")
        yield host
