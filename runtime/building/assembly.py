"""Construction of one repository's adapters from the configuration: GitHub, git and lock."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from urllib.parse import urlsplit

import structlog

from config.environment import child_environment
from config.repository import RepositorySettings
from config.settings import Settings
from runtime.building.backends import backend
from runtime.building.budget import repository_budget
from runtime.building.confinement import confinement
from runtime.building.excluded_items import ExcludedItems
from runtime.building.github_adapters import GitHubAdapters, github_adapters, observed_adapters
from runtime.building.identity import claimant_of, git_identity
from runtime.building.process import Process
from runtime.building.sign_in import Identities, SignedIn, git_server
from runtime.building.telemetry import ProcessTelemetry, queue
from runtime.telemetry.observed_agent import ObservedAgent
from runtime.telemetry.observed_people import ObservedStatus
from runtime.telemetry.observed_port import ObservedPort
from shared.clock import Clock
from shared.commands.start_signals import NewIssues
from shared.commands.text_unchanged import Texts
from shared.commands.untrusted_comments import UntrustedComments
from shared.escalation.delivery import Outbox
from shared.git import object_readers
from shared.git.active_agents import ActiveAgents
from shared.git.command import Git, Identity
from shared.git.credentials import Credentials
from shared.git.fences import Fences
from shared.git.mirror import Mirror
from shared.git.names import mirror_path
from shared.git.object_readers import ObjectReaders
from shared.github.base_branch import BaseBranch
from shared.github.inbox import Inbox, Ties
from shared.github.points import Points
from shared.github.status import StatusBoard
from shared.llm.port import Coder, RunLimits
from shared.lock.claimant import Claimant
from shared.lock.gateway import Gateway
from shared.lock.port import Port
from shared.loop.polling_loop import SideTask
from shared.models import Account, Issue
from shared.outgoing.outbound_filter import Outgoing
from shared.reconcile.complete_inbox import CompleteInbox, Hints
from shared.reconcile.end_message import Closing, Spent
from shared.reconcile.end_message import Sources as ClosingSources
from shared.reconcile.lost import LostLabels
from shared.reconcile.orphans import ReconcileRules
from shared.reconcile.sweep import Sources, Sweep
from shared.sandbox.confinement import Confinement
from shared.scheduling.account_work import AccountWork
from shared.scheduling.admission import BudgetCheck
from shared.scheduling.agent_contract import Agent
from shared.telemetry.event_recorder import EventRecorder
from shared.text.comment_signatures import Keyring
from shared.workflow import Role, Stage

__all__ = ["AdaptersOf", "Process", "RepositoryAdapters", "connect", "mirror_of", "open_repositories"]

log = structlog.get_logger()


@dataclass(frozen=True)
class RepositoryAdapters(GitHubAdapters):
    """Everything that an agent of one repository may be built from."""

    settings: Settings
    configured: RepositorySettings
    role: Role
    clock: Clock
    keys: Keyring
    status: StatusBoard
    mirror: Mirror
    identity: Identity
    fences: Fences
    active_agents: ActiveAgents
    server_time: Callable[[], datetime]
    points: Points
    """GitHub's points of a minute, which say how often the repository may be polled."""
    port: Port
    claimant: Claimant
    coder: Coder
    budget_check: BudgetCheck | None
    """The check before a claim; None if nothing costs money."""
    outgoing: Outgoing
    outbox: Outbox
    confinement: Confinement
    telemetry: ProcessTelemetry
    event_recorder: EventRecorder
    spent: Spent
    roles: frozenset[str] = frozenset()
    """The roles that the agent is restricted to; empty means all."""
    only: int | None = None
    """The one item to work on; None means all."""
    texts: Texts = field(default_factory=Texts)
    new_issues: NewIssues = field(default_factory=NewIssues)
    choices: dict[str, str] = field(default_factory=dict)
    """Held item -> the backend that a person has chosen for it."""
    account_work: AccountWork | None = None
    """The account's work in all repositories of the process; None if that is not asked."""
    side_tasks: list[SideTask] = field(default_factory=list)
    """Tasks that run beside the loop of the repository."""

    @property
    def closing(self) -> Closing:
        """The closing of issues, which reports that a specification is done."""

        def board(accounts: Collection[int]) -> StatusBoard:
            return StatusBoard(self.comments, Role.WORKER, accounts, self.keys)

        sources = ClosingSources(self.keys, self.claimant.accounts, self.spent, self.server_time)
        return Closing(self.issues, self.comments, self.labels.changes, board, self.names, sources)

    @property
    def base(self) -> BaseBranch:
        """The branch that work starts from; the repository's own may be renamed meanwhile."""
        own, configured = self.repository.default_branch, self.configured.base_branch
        return BaseBranch(configured or own, default=own, ask=None if configured else self.people.repository)

    @property
    def limits(self) -> RunLimits:
        """Limits of one run of a coding backend."""
        one = self.configured
        minutes = (one.run_timeout_minutes, one.stall_timeout_minutes)
        return RunLimits(one.max_turns, self.settings.budgets.run, *(60 * each for each in minutes))

    @property
    def page(self) -> str:
        """The web address of the repository."""
        return f"{git_server(self.settings.github.api_url)}/{self.configured.name}"

    def inbox(
        self,
        labels: Iterable[str | Stage],
        rules: ReconcileRules,
        concerns: Callable[[Issue], bool] = lambda issue: True,
        assignee: Account | None = None,
    ) -> CompleteInbox:
        """Return the inbox of open items with these labels or assigned, and of those that only fences know of.

        `concerns` tells whether an item can concern the agent.
        """
        named = [self.names.of(x) if isinstance(x, Stage) else x for x in labels]
        hints = Hints(self.names)
        left_alone = ExcludedItems(self.configured.name, self.role, self.names, self.configured.labels)

        def noticed(listed: Sequence[Issue]) -> None:
            hints.give(listed)
            self.texts.note(listed)
            self.new_issues.note(listed)
            left_alone.note(listed)

        ties = Ties(rules.needs_followup, rules.belongs, assignee)
        lists = Inbox(self.issues, named, self.clock, concerns=concerns, notice=noticed, ties=ties)
        sources = Sources(self.active_agents, self.issues, self.lost_labels(rules), self.status, self.server_time)
        self.telemetry.health.queues[self.configured.name] = lambda: queue(lists.known.values(), self.names)
        return CompleteInbox(lists, Sweep(rules, sources, self.port, self.claimant, self.clock))

    def lost_labels(self, rules: ReconcileRules) -> LostLabels:
        """Return the check that tells a label that a person removed from one that was lost."""
        return LostLabels(self.issues, self.labels, self.names, self.claimant.accounts, rules.before)


AdaptersOf = Callable[[RepositorySettings], Awaitable[RepositoryAdapters]]
"""Returns the parts of a repository; raises the reason why it cannot be used now."""


@asynccontextmanager
async def open_repositories(process: Process) -> AsyncIterator[tuple[RepositoryAdapters, ...]]:
    """Give the parts of every configured repository. Asks GitHub who we are and what each repository is.

    Raises `Misconfigured`, `Unauthorized` and `Transient`.
    """
    async with connect(process) as parts_of:
        yield tuple([await parts_of(one) for one in process.settings.repositories])


@asynccontextmanager
async def connect(process: Process) -> AsyncIterator[AdaptersOf]:
    """Give a function that returns the parts of one configured repository, as often as it is asked.

    Coding backends are checked first, so that one that is missing costs no request. Errors as `open_repositories`.
    """
    configured = process.settings.repositories
    confined = await confinement(process.settings, process.environment)
    log.info("limits_held", by="watchdog" if confined.groups is None else "cgroup")
    coders = {one.name: await backend(process, one, confined) for one in configured}
    connected = process.connections.line(process.settings, process.environment, process.outgoing)
    async with connected as line, object_readers.opened() as readers:
        with ExitStack() as stack:
            identities = Identities(process, line, stack, keeps=True)

            async def parts_of(one: RepositorySettings) -> RepositoryAdapters:
                return await _build_parts(
                    process, await identities.of(one.name), one, coders[one.name], confined, readers
                )

            try:
                yield parts_of
            finally:
                await process.telemetry.written()


async def _build_parts(
    process: Process,
    me: SignedIn,
    configured: RepositorySettings,
    coder: Coder,
    confined: Confinement,
    readers: ObjectReaders,
) -> RepositoryAdapters:
    def server_time() -> datetime:
        return me.github.server_time

    def sure() -> bool:
        return me.github.sure_of_time

    event_recorder = process.telemetry.tells(configured.name, me.github)
    adapters = observed_adapters(await github_adapters(process.role, me, configured), me.github, event_recorder)

    mirror = mirror_of(process, me.answers, configured.name, readers)
    await mirror.ensure()
    identity = git_identity(adapters.account)
    fences = Fences(mirror, identity)

    budget = repository_budget(process, configured, fences, mirror, server_time)
    claimant = claimant_of(process, adapters)
    gateway = Gateway(adapters.comments, fences, process.clock, server_time, named=adapters.issues.name, sure=sure)
    active_agents = ActiveAgents(fences, adapters.account.id, server_time, _listener(process, me, configured.name))

    board = claimant.accounts, claimant.keys, budget.table
    strangers = UntrustedComments(adapters.people, claimant.accounts)
    status = ObservedStatus(adapters.comments, process.role, *board, strangers.ignored).observed_by(event_recorder)
    return RepositoryAdapters(
        **vars(adapters),
        settings=process.settings,
        configured=configured,
        role=process.role,
        clock=process.clock,
        keys=claimant.keys,
        status=status,
        mirror=mirror,
        identity=identity,
        fences=fences,
        active_agents=active_agents,
        server_time=server_time,
        points=me.pace.pacing.points,
        port=ObservedPort(gateway, event_recorder),
        claimant=claimant,
        coder=budget.paid(process, configured, coder),
        budget_check=budget.budget_check,
        outgoing=process.outgoing,
        outbox=process.outbox,
        confinement=confined,
        telemetry=process.telemetry,
        event_recorder=event_recorder,
        spent=budget.spent,
        roles=process.roles,
        choices=process.choices[configured.name],
        account_work=process.work.setdefault(adapters.account.id, AccountWork(process.clock.boot)),
    )


def _listener(process: Process, me: SignedIn, name: str) -> Callable[[Mapping[str, float]], None]:
    """Return the listener that is told who works in a repository; it does nothing if a share is configured."""
    health, pace = process.telemetry.health, me.pace
    health.share = lambda: pace.pacing.share
    return partial(pace.presence.note, name) if pace.presence is not None else lambda agents: None


def mirror_of(process: Process, answers: Credentials, name: str, readers: ObjectReaders | None = None) -> Mirror:
    """Return a repository's mirror, which need not exist yet; git signs in with `answers`.

    `readers` end before the agent.
    """
    settings = process.settings
    server = git_server(settings.github.api_url)
    path = mirror_path(settings.state_dir / "mirrors", urlsplit(server).netloc, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    surroundings = {**child_environment(), **process.environment}  # git itself takes no more than it may
    git = Git(path, surroundings, credentials=answers, hide=process.outgoing.hide, readers=readers)
    return Mirror(git, f"{server}/{name}.git")


def observed(agent: Agent, parts: RepositoryAdapters) -> Agent:
    """Return `agent`, whose ticks and runs are recorded."""
    name, wanted, points = parts.configured.name, parts.configured.poll_interval, parts.points
    parts.telemetry.health.join(name, lambda: points.interval(wanted))
    return ObservedAgent(agent, parts.event_recorder, parts.telemetry.health)
