"""A planner at a terminal, before the lab's GitHub."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import anyio
from engine import ENGINE, REPOSITORY, WRITES, Engine
from rich.console import RenderableType

from config.state import StateDirectory
from lab.github.world.issues import IssueRecord
from planner_agent.terminal.entry import Terminal
from runtime.arguments import parse
from runtime.building.assembly import Process, open_repositories
from runtime.exit_codes import LeftOff
from shared.loop.polling_loop import Loop
from shared.loop.real_clock import RealClock
from shared.scheduling.agent_contract import Ended
from shared.workflow import Role


def issues(engine: Engine) -> list[IssueRecord]:
    return list(engine.lab.at(REPOSITORY).issues.records.values())


class NobodyAnswers(Exception):
    """The planner asks more than the person has an answer to."""


@dataclass
class Person:
    """Answers in order."""

    answers: list[str]

    def show(self, shown: RenderableType) -> None:
        """Do nothing: nobody looks."""

    def busy(self, sentence: str) -> nullcontext[None]:
        """Return a context that shows no progress."""
        return nullcontext()

    async def ask(self, question: str) -> str:
        """Return the next answer."""
        if not self.answers:
            raise NobodyAnswers(question)
        return self.answers.pop(0)

    async def edit(self, text: str, suffix: str) -> str:
        """Return the text unchanged."""
        return text


async def conversation(engine: Engine, *answers: str) -> Ended | None:
    """Run a planner's process with this person in front; return the story's end, None if nothing was agreed."""
    settings = engine.settings("machine-1")
    environment = {"GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    one = Terminal(Person(list(answers)))
    with StateDirectory(settings.state_dir).open().claim_identity(Role.PLANNER, None) as identity:
        async with open_repositories(Process(settings, Role.PLANNER, RealClock(), identity, environment)) as (parts,):
            try:
                chosen = await one.prepare(parts, parse(Role.PLANNER, [REPOSITORY]))
            except LeftOff:
                return None
            loop = Loop(one.build(chosen), parts.process.clock)
            async with loop.open():
                ended = await loop.once(anyio.Event(), wait=True)
    assert isinstance(ended, Ended)
    return ended
