"""The engine in the lab, for tests that read as stories: real adapters, agents whose ticks are called by hand."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from fakes.clock import QuickClock
from project_pytest import ALONE, PYTEST_ALONE

from config.settings import Settings
from lab import locks, target_project
from lab.agents import at_work, process_of
from lab.demo.stories import STORIES, scenario
from lab.github.ci.builds import CiSettings
from lab.github.server import CHECK_NAME, Lab
from lab.github.world.issues import IssueRecord
from runtime.building.telemetry import ProcessTelemetry
from shared.clock import Clock
from shared.errors import Transient
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.loop.polling_loop import Loop
from shared.loop.real_clock import RealClock
from shared.workflow import Role

REPOSITORY = "ada/directory"
HANGS_SECONDS = 300.0
"""Nothing takes as long; what does waits for what will not come, as for a scripted call of ten minutes."""

LATE_SECONDS = 5.0
"""Seconds after a late answer until the next look, as in a polling loop."""

OWNER, ENGINE, REVIEWER = "ada", "engine-bot", "reviewer-bot"

WRITES = {
    "metadata": "read",
    "contents": "write",
    "issues": "write",
    "pull_requests": "write",
    "checks": "read",
    "statuses": "read",
    "actions": "write",
}


def demo_script(directory: Path) -> Path:
    """Write the demo's first story as a scenario: a wrong first attempt, a red CI, one round of requested changes."""
    path = directory / "story.yml"
    path.write_text(scenario(STORIES[:1]), encoding="utf-8")
    return path


@dataclass
class Engine:
    """One repository in a lab, and the agents that a test starts on it."""

    lab: Lab
    directory: Path
    scenario: Path
    repository_settings: dict[str, Any] = field(default_factory=dict)
    clock: Clock = field(default_factory=RealClock)
    more_settings: dict[str, Any] = field(default_factory=dict)
    chronicles: dict[Role, ProcessTelemetry] = field(default_factory=dict)
    """The telemetry of the newest agent of each role."""
    permissions: dict[str, str] = field(default_factory=dict)
    """Permissions of the agents' tokens that differ from the usual ones."""
    account: str = ""
    """The account whose token every agent has; empty for the engine's accounts."""
    address: str = ""
    """The URL at which agents find GitHub; empty for the lab itself."""
    variables: dict[str, str] = field(default_factory=dict)
    """Variables in the agents' environment besides their token."""

    @classmethod
    @asynccontextmanager
    async def of(cls, lab: Lab, directory: Path, scenario: Path, **settings: Any) -> AsyncIterator[Engine]:
        """Make the demo's project as `ada/directory`, with its CI."""
        await lab.repository(
            REPOSITORY,
            target_project.files(),
            collaborators={ENGINE: "write", REVIEWER: "write", "mallory": "read"},
            check_command=settings.pop("check_command", f"{ALONE} {target_project.CHECK_COMMAND}"),
        )
        yield cls(lab, directory, scenario, settings)

    def settings(self, state: str) -> Settings:
        """Return the configuration of one machine, whose state directory is `state`."""
        place = self.directory / state
        repository = {
            "name": REPOSITORY,
            "poll_interval": 0.05,
            "llm_backend": "scripted",
            "refactor": "off",  # a step of its own: who tells of it turns it on
            "test_command": PYTEST_ALONE,
            **self.repository_settings,
        }
        return Settings.model_validate(
            {
                "repositories": (repository,),
                "state_dir": place,
                "github": {"api_url": self.address or self.lab.url, "write_interval_seconds": 0.0},
                "lock": {"settle": 0.05},
                "sandbox": "none",
                **self.more_settings,
                "llm": {"scenario": self.scenario, **self.more_settings.get("llm", {})},
            },
            strict=False,
        )

    @asynccontextmanager
    async def agent(
        self, role: Role, *, state: str = "machine-1", name: str | None = None, plays: str = ""
    ) -> AsyncIterator[Loop]:
        """Run one agent on one machine; the same `state` and `name` again is the same agent restarted."""
        login = self.account or (REVIEWER if role is Role.REVIEWER else ENGINE)
        environment = {"GITHUB_TOKEN": self.lab.token(login, WRITES | self.permissions), **self.variables}
        settings, roles = self.settings(state), frozenset(plays.split())
        with process_of(settings, role, self.clock, environment, name=name, roles=roles) as process:
            self.chronicles[role] = process.telemetry
            async with at_work(process) as (loop, _):
                yield loop

    @property
    def ci(self) -> CiSettings:
        """The settings of the repository's CI."""
        (ci,) = self.lab.ci.values()
        return ci.settings

    def script(self, text: str, *, ci: str = "true") -> None:
        """Let the coder answer from `text` from now on, and CI run `ci`."""
        self.scenario = self.directory / "scenario.yml"
        self.scenario.write_text(text)
        self.ci.jobs = {CHECK_NAME: ci}

    async def tick(self, *loops: Loop) -> None:
        """Tick each loop once until everything rests, then run CI to its end; fail if something hangs."""
        for loop in loops:
            await self._in_the_end(loop)
        with anyio.fail_after(HANGS_SECONDS):
            await self.lab.idle()

    async def look(self, loop: Loop) -> None:
        """Tick without waiting for the work to rest; repeat a moment later while replicas give late answers."""
        while await self._is_late(loop.tick):
            pass

    async def _in_the_end(self, loop: Loop) -> None:
        """Look until all held items rest; after a late answer once more, as soon as the postponed work is due."""
        given = self.lab.lag.counts
        before = given.total()
        while True:
            await self.look(loop)
            late = await self._is_late(loop.quiet)
            if not late and (loop.due == math.inf or given.total() == before):
                return
            before = given.total()
            if loop.due < math.inf:
                await self._pass_until(loop.due)

    async def _pass_until(self, boot: float) -> None:
        """Let time pass until the boot clock of the agents is there: a few milliseconds, or at once."""
        seconds = max(0.0, boot - self.clock.boot())
        if not self._skip(seconds):
            await self.clock.sleep(seconds)

    def _skip(self, seconds: float) -> bool:
        """Let time pass at once, for the agents and for GitHub, where the clock can."""
        if not isinstance(self.clock, QuickClock):
            return False
        self.clock.skip(seconds)
        return True

    async def _is_late(self, act: Callable[[], Awaitable[object]]) -> bool:
        """Run `act` and return whether an answer was late; if so, time passes."""
        before = self.lab.lag.counts.total()
        try:
            with anyio.fail_after(HANGS_SECONDS):
                await act()
        except Transient:
            if before == self.lab.lag.counts.total():
                raise
        if before == self.lab.lag.counts.total():
            return False
        self._skip(LATE_SECONDS)
        return True

    async def until(self, done: Callable[[], bool], *loops: Loop, ticks: int = 15) -> None:
        """Tick until `done`; fails the test when it takes more than `ticks`."""
        for _ in range(ticks):
            if done():
                return
            await self.tick(*loops)
        assert done(), f"not there after {ticks} ticks: {[loop.ended for loop in loops]}"

    async def in_time(self, done: Callable[[], bool], *loops: Loop, seconds: float = 120) -> None:
        """Tick until `done`, for what waits for the machine's clock; fails the test after `seconds`."""
        with anyio.move_on_after(seconds):
            while not done():
                await self.tick(*loops)
                await self.clock.sleep(0.05)
        assert done(), f"not there after {seconds} seconds: {[loop.ended for loop in loops]}"

    def ready(self, title: str, body: str = "", *, by: str = OWNER) -> int:
        """Write a specification by hand as `by` and set `status:ready`; return its number."""
        return self.lab.issue(REPOSITORY, title, body, author=by, labels=("status:ready",)).number

    def issue(self, number: int) -> IssueRecord:
        """Return an issue as GitHub has it."""
        return self.lab.at(REPOSITORY).issues.require(number)

    async def fence(self, role: Role, number: int) -> Fence | None:
        """Return the fence of an item as the git server has it."""
        return await locks.fence(self.lab.at(REPOSITORY), ItemKey(role, number))

    def held_locks(self) -> list[str]:
        """Return the first lines of the ACKs that hold something; one that lost its race is dead without a word."""
        return locks.held(self.lab.at(REPOSITORY))
