"""A newcomer's machine with nothing on it but a scenario, and a GitHub with their project."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio.to_thread
from engine import ENGINE, REPOSITORY, REVIEWER, WRITES
from fakes.clock import QuickClock
from judge import Judge

from console.start.command import StartOptions, started
from console.start.draft import Choices
from console.start.questions import Person
from lab import locks, stub_project
from lab.github.server import Lab
from lab.github.world.issues import IssueRecord
from shared.github.label_board import LOOKS, STORY_LOOK
from shared.process import Finished, run
from shared.workflow import Stage
from shared.workflow.labels import Labels

READY = Labels().of(Stage.READY)
REFACTOR = "- call: refactor\n  for: greet kim\n  edits: []\n"


@dataclass
class Newcomer:
    """A person's machine with nothing on it, and a GitHub with their project, which lacks one label."""

    lab: Lab
    home: Path
    permissions: dict[str, str] = field(default_factory=lambda: dict(WRITES))

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8"}

    @property
    def token(self) -> str:
        return self.lab.token(ENGINE, self.permissions)

    @property
    def config(self) -> Path:
        return self.home / ".config" / "workflow-engine" / "repos.yml"

    def options(self, **more: Any) -> StartOptions:
        choices = Choices(
            REPOSITORY,
            test_command="sh check.sh",
            test_report="report.xml",
            api_url=self.lab.url,
            sandbox="none",
            scenario=self.home / "scenario.yml",
        )
        return StartOptions(replace(choices, **more), backend="scripted")

    async def start(self, person: Person, options: StartOptions, **variables: str) -> int:
        """In this process, without the worker, whose code is 0; no second passes between two writes."""
        known = {**self.environment, **variables}
        work, clock = lambda draft, environment: 0, QuickClock()
        return await anyio.to_thread.run_sync(started, options, person, known, work, clock)

    def command(self, *program: str, words: Sequence[str], **variables: str) -> tuple[tuple[str, ...], dict[str, str]]:
        """`workflow-engine start` by a program for Python, and its environment."""
        places = Path(__file__).parents[2], Path(__file__).parents[1]
        env = {**self.environment, "PYTHONPATH": ":".join(map(str, places)), **variables}
        usual = ("--api-url", self.lab.url, "--sandbox", "none", "--backend", "scripted", "--scenario", "scenario.yml")
        argv = (sys.executable, *program, "start", REPOSITORY, *usual, "--test-report", "report.xml", *words)
        return argv, env

    async def process(self, *words: str, **variables: str) -> Finished:
        """The same as it is installed, to its end."""
        argv, env = self.command("-m", "console", words=words, **variables)
        return await run(argv, cwd=self.home, env=env)

    def issues(self) -> list[IssueRecord]:
        repository = self.lab.at(REPOSITORY)
        return [one for one in repository.issues.records.values() if repository.pulls.records.get(one.number) is None]

    def files(self) -> dict[str, bytes]:
        found = [self.home / ".config", self.home / "scenario.yml"]
        return {str(path): path.read_bytes() for place in found for path in place.rglob("*") if path.is_file()}


@asynccontextmanager
async def newcomer_at(directory: Path, judge: Judge) -> AsyncIterator[Newcomer]:
    """With all labels but one, because making them takes a second each; at the end no lock is held."""
    async with Lab(directory / "github") as lab:
        lab.exchanges.observe(judge)
        people = {ENGINE: "write", REVIEWER: "write"}
        repository = await lab.repository(
            REPOSITORY, stub_project.FILES, collaborators=people, check_command=stub_project.CI
        )
        looks = {Labels().of(what): look for what, look in LOOKS.items()} | {"story": STORY_LOOK}
        for name, (colour, description) in looks.items():
            if name != READY:
                repository.labels.create(name, colour, description)
        home = directory / "home of ada"
        home.mkdir()
        (home / "scenario.yml").write_text(stub_project.scenario("kim") + REFACTOR)
        yield Newcomer(lab, home)
        assert lab.unlisted == []
        assert locks.held(lab.at(REPOSITORY)) == []
    assert judge.complaints == []
