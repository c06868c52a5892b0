"""Fakes for tests of the planner: GitHub's adapters over a world in memory, and processes of a planner.

The lock, the status board, the loop and the planner are the real ones.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from fakes.closing import FakeClosing, FakeReplies
from fakes.lock_port import KEYS, FakeNonces, ServerPort
from fakes.lock_server import BOT
from fakes.planner_coder import Coder
from fakes.planner_source import FakeSource
from fakes.planner_world import NAMES, World
from fakes.unasked import UnaskedComments, UnaskedInbox, UnaskedIssues, UnaskedLabels
from planner_agent.agent import Planner
from planner_agent.policy import Approval, Policy
from planner_agent.ports import Forge
from shared.commands.text_unchanged import Texts
from shared.errors import Gone
from shared.github.base_branch import BaseBranch
from shared.github.errors import NotShown
from shared.github.label_board import WantedLabels
from shared.github.replica_lag import KNOWN_SECONDS
from shared.github.status import StatusBoard
from shared.lock.claimant import Claimant
from shared.lock.port import EditComment, Operation, Reply
from shared.lock.write_permit import WritePermit
from shared.loop.claims import Claims
from shared.loop.polling_loop import Loop
from shared.models import Comment, Issue, LabelEvent, Permission
from shared.scheduling.agent_contract import Ended
from shared.workflow import Role, Stage
from shared.workflow.labels import Flag

T = TypeVar("T")

REPOSITORY = "ada/directory"


@dataclass
class FakeGitHub(UnaskedIssues, UnaskedLabels, UnaskedInbox):
    """The adapters of one process: inbox, issues, people and labels in one."""

    world: World
    unlisted: set[int] = field(default_factory=set)

    @property
    def known(self) -> Mapping[int, Issue]:
        """Every open issue, but those that lists do not show yet."""
        found = self.world.issues.items()
        return {number: issue for number, issue in found if issue.open and number not in self.unlisted}

    @property
    def orphans(self) -> Mapping[int, Issue]:
        """Lists lack nothing here."""
        return {}

    async def is_defined(self, stage: Stage) -> bool:
        """Every label is."""
        return True

    async def look(self) -> Mapping[int, Issue]:
        """The same."""
        return self.known

    def dismiss(self, number: int) -> None:
        """Note that nobody has to look at the item's end."""
        assert not self.world.issues[number].open
        self.world.dismissed.append(number)

    async def issue(self, number: int) -> Issue:
        """One issue."""
        if number not in self.world.issues:
            raise Gone
        return self.world.issues[number]

    async def named(self, number: int, at: datetime) -> Issue:
        """One issue, which may be so new that it is not shown yet."""
        is_new = self.world.server.at - at < timedelta(seconds=KNOWN_SECONDS)
        if number in self.world.hidden_issues:
            raise NotShown(f"issue {number}", 0.5) if is_new else Gone()
        return await self.issue(number)

    async def label_events(self, number: int) -> tuple[LabelEvent, ...]:
        """Of one issue, oldest first."""
        return tuple(event for of, event in self.world.events if of == number)

    async def created_by(self, login: str, since: datetime) -> tuple[Issue, ...]:
        """Return the issues that an account created, as far as lists show them."""
        shown = (one for one in self.world.issues.values() if one.number not in self.world.hidden_issues)
        return tuple(one for one in shown if one.author.login == login and one.updated_at >= since)

    async def create(self, title: str, body: str, labels: Collection[str], permit: WritePermit) -> Issue:
        """A new issue by the engine."""
        permit.check()
        self.world.meet("create")
        number = self.world.open(title, body, labels=labels, by=BOT)
        self.world.meet("created")
        return self.world.issues[number]

    async def close(self, number: int, permit: WritePermit) -> Issue:
        """Close an issue."""
        permit.check()
        self.world.meet("close")
        self.world.change(number, open=False)
        return self.world.issues[number]

    async def permission(self, login: str) -> Permission:
        """Write or read."""
        return Permission.WRITE if login in self.world.writers else Permission.READ

    async def add(self, number: int, names: Collection[str], permit: WritePermit) -> frozenset[str]:
        """Labels by the engine; the reply has all of the issue."""
        permit.check()
        for name in names:
            self.world.meet("label")
            self.world.label(number, name, by=BOT)
        return self.world.issues[number].labels

    async def exchange(
        self, number: int, on: str, off: str, permit: WritePermit
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Add the label alone, as where there is no GraphQL."""
        labels = await self.add(number, [on], permit)
        return labels, labels

    async def remove(self, number: int, name: str, permit: WritePermit) -> None:
        """One label off, by the engine."""
        permit.check()
        self.world.label(number, name, by=BOT, added=False)

    async def show_all(self, wanted: Sequence[WantedLabels], permit: WritePermit) -> tuple[frozenset[str], ...]:
        """One after the other."""
        return tuple(
            [
                await self.show(
                    one.number, one.stage, permit, known=one.known, flags_on=one.flags_on, flags_off=one.flags_off
                )
                for one in wanted
            ]
        )

    async def show(
        self,
        number: int,
        stage: Stage,
        permit: WritePermit,
        *,
        known: frozenset[str] | None = None,
        flags_on: Collection[Flag] = (),
        flags_off: Collection[Flag] = (),
    ) -> frozenset[str]:
        """Set one stage label, and set and remove flags, as the real board does."""
        permit.check()
        now = self.world.issues[number].labels
        on = {NAMES.of(stage), *map(NAMES.of, flags_on)}
        off = {NAMES.of(one) for one in NAMES.read(now).stages} | set(map(NAMES.of, flags_off))
        for label in sorted(on - now):
            self.world.meet("label")
            self.world.label(number, label, by=BOT)
        for label in sorted((off - on) & now):
            self.world.meet("unlabel")
            self.world.label(number, label, by=BOT, added=False)
        return self.world.issues[number].labels


@dataclass
class FakeComments(UnaskedComments):
    """The comments, in the form that the status board needs: `known` has none, so each is read."""

    world: World

    def known(self, number: int) -> tuple[Comment, ...] | None:
        """Nothing."""
        return None

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]:
        """The comments of one issue."""
        shown = (one for one in self.world.server.comments().values() if one.id not in self.world.hidden)
        return tuple(one for one in shown if one.number == number)

    async def recent_thread(self, number: int, *, witness: int = 0) -> tuple[Comment, ...]:
        """The same: nothing is remembered here."""
        return await self.thread(number)

    async def post(self, number: int, body: str, permit: WritePermit) -> Comment:
        """A comment by the engine."""
        permit.check()
        self.world.meet("post")
        comment = self.world.say(number, body, by=BOT)
        self.world.meet("posted")
        return comment

    async def edit(self, id: int, body: str, permit: WritePermit) -> Comment | None:
        """Edit a comment of the engine."""
        permit.check()
        self.world.meet("edit")
        return self.world.server.edit(id, body)

    async def delete(self, id: int, permit: WritePermit) -> None:
        """One fewer."""
        self.world.server.delete(id)


class LockPort(ServerPort):
    """The lock's port on the world's server; a holder's edit of its text is a moment at which a fault may happen."""

    def __init__(self, world: World) -> None:
        super().__init__(world.server)
        self.world = world

    async def request(self, operation: Operation[T]) -> Reply[T]:
        """Carry out one operation."""
        tells = isinstance(operation, EditComment) and self._tells(operation)
        if tells:
            self.world.meet("tell")
        reply = await super().request(operation)
        if tells:
            self.world.meet("told")
        return reply

    def _tells(self, edit: EditComment) -> bool:
        """Return whether an edit of the holder's changes the text."""
        now = self.server.comments()[edit.id].body
        before, after = (body.partition("```json")[2].partition("```")[0] for body in (now, edit.body))
        return before != after


@dataclass
class Bench:
    """One world and one coder; each `tick` is a process of its own, so that nothing is kept in memory."""

    world: World = field(default_factory=World)
    coder: Coder = field(default_factory=Coder)
    auto: bool = False
    branch: str = "main"
    agents: int = 0
    unlisted: set[int] = field(default_factory=set)
    closing: FakeClosing = field(default_factory=FakeClosing)

    def __post_init__(self) -> None:
        self.closing.closed = self.close

    def close(self, issue: Issue) -> None:
        """Note that the planner has closed a story."""
        self.world.change(issue.number, open=False)

    def planner(self, **policy: Any) -> Planner:
        """A planner that has just been started on a fresh machine."""
        self.agents += 1
        github, name = FakeGitHub(self.world, self.unlisted), f"planner-{self.agents}"
        claimant = Claimant(name, frozenset({BOT.id}), KEYS, FakeNonces(name))
        comments = FakeComments(self.world)
        status = StatusBoard(comments, Role.PLANNER, claimant.accounts, KEYS)
        policy = {"approval": Approval("auto" if self.auto else "comment")} | policy
        forge = Forge(github, github, comments, github, github, status, Texts(), self.closing, FakeReplies())
        rules = Policy(REPOSITORY, BOT, BaseBranch(self.branch), **policy)
        claims = Claims(Role.PLANNER, LockPort(self.world), claimant)
        agent = Planner(forge, claims, FakeSource(self.world), self.coder, rules)
        status.write_by_leases(agent.holding)
        return agent

    async def tick(self) -> list[Ended]:
        """A new process looks once, works until everything rests or has ended, and is gone."""
        port = LockPort(self.world)
        loop = Loop(self.planner(), port)
        async with loop.open():
            await loop.tick()
            await loop.quiet()
        return loop.ended
