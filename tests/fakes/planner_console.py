"""A person at a terminal for tests of the planner: what they type and edit, and what they were shown."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from io import StringIO

from rich import console
from rich.console import RenderableType

from fakes.closing import FakeClosing, FakeReplies
from fakes.lock_port import KEYS, FakeNonces
from fakes.lock_server import BOT
from fakes.planner_github import REPOSITORY, Bench, FakeComments, FakeGitHub
from fakes.planner_source import FakeSource
from planner_agent.drafting import Drafting
from planner_agent.observe import Listener
from planner_agent.policy import Policy
from planner_agent.ports import Forge
from planner_agent.terminal.console import Cancelled
from planner_agent.terminal.session import Session, SessionServices
from shared.commands.text_unchanged import Texts
from shared.errors import EngineError
from shared.github.base_branch import BaseBranch
from shared.github.status import StatusBoard
from shared.lock.claimant import Claimant
from shared.workflow import Role

Edit = Callable[[str], str]
Answer = str | Exception | Callable[[], str]


@dataclass
class Person:
    """Gives the answers in order; after the last one they leave. `edits` are what they do in the editor, in turn."""

    answers: list[Answer]
    edits: list[Edit | EngineError] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    output: StringIO = field(default_factory=StringIO)

    @property
    def saw(self) -> str:
        """Everything that was printed."""
        return self.output.getvalue()

    def show(self, shown: RenderableType) -> None:
        """Print, on a terminal that is wide enough for whole sentences."""
        console.Console(file=self.output, width=200).print(shown)

    def busy(self, sentence: str) -> AbstractContextManager[object]:
        """Nothing turns here."""
        return nullcontext()

    async def ask(self, question: str) -> str:
        """The next answer."""
        self.asked.append(question)
        answer = self.answers.pop(0) if self.answers else Cancelled()
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, str) else answer()

    async def edit(self, text: str, suffix: str) -> str:
        """Apply the next planned edit."""
        self.given.append(text)
        done = self.edits.pop(0)
        if isinstance(done, EngineError):
            raise done
        return done(text)


@dataclass
class Kept:
    """Answers that could not be used."""

    raw: list[str] = field(default_factory=list)

    def keep(self, raw: str) -> str:
        """Keep a raw answer; return its place."""
        self.raw.append(raw)
        return f"kept/{len(self.raw)}.txt"


def session(bench: Bench, person: Person, kept: Kept | None = None) -> Session:
    """A conversation with `person` about the repository of `bench`."""
    github = FakeGitHub(bench.world)
    claimant = Claimant("planner-t", frozenset({BOT.id}), KEYS, FakeNonces("planner-t"))
    comments = FakeComments(bench.world)
    status = StatusBoard(comments, Role.PLANNER, claimant.accounts, KEYS)
    forge = Forge(github, github, comments, github, github, status, Texts(), FakeClosing(), FakeReplies())
    policy = Policy(REPOSITORY, BOT, BaseBranch(bench.branch))
    listener = Listener(forge, claimant, policy)
    drafting = Drafting(github, listener, FakeSource(bench.world), bench.coder, policy)
    desk = SessionServices(github, listener, drafting, policy, (kept or Kept()).keep, lambda: bench.world.server.at)
    return Session(person, desk)
