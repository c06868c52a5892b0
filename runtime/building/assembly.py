"""Construction of one repository's adapters from the configuration: GitHub, git and lock."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

import structlog

from config.environment import child_environment
from config.repository import RepositorySettings
from runtime.building.backends import backend
from runtime.building.budget import RepositoryBudget, repository_budget
from runtime.building.confinement import confinement
from runtime.building.excluded_items import ExcludedItems
from runtime.building.github_adapters import GitHubAdapters, github_adapters, observed_adapters
from runtime.building.identity import claimant_of, git_identity
from runtime.building.process import Process
from runtime.building.sign_in import Identities, SignedIn, git_server
from runtime.building.telemetry import queue
from runtime.telemetry.observed_agent import ObservedAgent
from runtime.telemetry.observed_people import ObservedStatus
from runtime.telemetry.observed_port import ObservedPort
from shared.commands.start_signals import NewIssues
from shared.commands.text_unchanged import Texts
from shared.commands.untrusted_comments import UntrustedComments
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
from shared.github.status import StatusBoard
from shared.llm.port import Coder, RunLimits
from shared.lock.claimant import Claimant
from shared.lock.gateway import Gateway
from shared.lock.port import Port
from shared.loop.claims import Claims
from shared.loop.polling_loop import SideTask
from shared.models import Account, Issue
from shared.reconcile.complete_inbox import CompleteInbox, Hints
from shared.reconcile.end_message import Closing
from shared.reconcile.end_message import Sources as ClosingSources
from shared.reconcile.lost import LostLabels
from shared.reconcile.orphans import ReconcileRules
from shared.reconcile.sweep import Sources, Sweep
from shared.sandbox.confinement import Confinement
from shared.scheduling.agent_contract import Agent
from shared.telemetry.event_recorder import EventRecorder
from shared.workflow import Role, Stage

__all__ = ["AdaptersOf", "Process", "RepositoryAdapters", "connect", "mirror_of", "open_repositories"]

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class GitAdapters:
    """One repository's git server: its mirror here, whose commits `identity` writes, and the fences in it."""

    mirror: Mirror
    identity: Identity
    fences: Fences
    active_agents: ActiveAgents


@dataclass(frozen=True)
class RepositoryAdapters:
    """Everything that an agent of one repository may be built from."""

    process: Process
    configured: RepositorySettings
    github: GitHubAdapters
    git: GitAdapters
    port: Port
    claimant: Claimant
    coder: Coder
    """The backends by the role of a call; each run is paid from `budget`."""
    budget: RepositoryBudget
    confinement: Confinement
    event_recorder: EventRecorder
    status: StatusBoard
    only: int | None = None
    """The one item to work on; None means all."""
    texts: Texts = field(default_factory=Texts)
    new_issues: NewIssues = field(default_factory=NewIssues)
    side_tasks: list[SideTask] = field(default_factory=list)
    """Tasks that run beside the loop of the repository."""

    @property
    def claims(self) -> Claims:
        """The claims that the agent may make, each after a check of the budget."""
        return Claims(self.process.role, self.port, self.claimant, self.budget)

    @property
    def closing(self) -> Closing:
        """The closing of issues, which reports that a specification is done."""
        github, claimant = self.github, self.claimant

        def board(accounts: Collection[int]) -> StatusBoard:
            return StatusBoard(github.comments, Role.WORKER, accounts, claimant.keys)

        sources = ClosingSources(claimant.keys, claimant.accounts, self.budget.spent, github.server_time)
        return Closing(github.issues, github.comments, github.labels.carry_out, board, github.names, sources)

    @property
    def base(self) -> BaseBranch:
        """The branch that work starts from; the repository's own may be renamed meanwhile."""
        own, configured = self.github.repository.default_branch, self.configured.base_branch
        return BaseBranch(configured or own, default=own, ask=None if configured else self.github.people.repository)

    @property
    def limits(self) -> RunLimits:
        """Limits of one run of a coding backend."""
        one = self.configured
        minutes = (one.run_timeout_minutes, one.stall_timeout_minutes)
        return RunLimits(one.max_turns, self.process.settings.budgets.run, *(60 * each for each in minutes))

    @property
    def page(self) -> str:
        """The web address of the repository."""
        return f"{git_server(self.process.settings.github.api_url)}/{self.configured.name}"

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
        process, github, name = self.process, self.github, self.configured.name
        hints = Hints(github.names)
        left_alone = ExcludedItems(name, process.role, github.names, self.configured.labels)

        def noticed(listed: Sequence[Issue]) -> None:
            hints.give(listed)
            self.texts.note(listed)
            self.new_issues.note(listed)
            left_alone.note(listed)

        named = [github.names.of(x) if isinstance(x, Stage) else x for x in labels]
        ties = Ties(rules.needs_followup, rules.belongs, assignee)
        lists = Inbox(github.issues, named, process.clock, concerns=concerns, notice=noticed, ties=ties)
        process.telemetry.health.queues[name] = lambda: queue(lists.known.values(), github.names)
        lost = LostLabels(github.issues, github.labels, github.names, self.claimant.accounts, rules.before)
        sources = Sources(self.git.active_agents, github.issues, lost, self.status, github.server_time)
        return CompleteInbox(lists, Sweep(rules, sources, self.port, self.claimant, process.clock))


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
    name = configured.name
    event_recorder = process.telemetry.tells(name, me.github)
    github = observed_adapters(await github_adapters(process.role, me, configured), me.github, event_recorder)

    mirror, identity = mirror_of(process, me.answers, name, readers), git_identity(github.account)
    await mirror.ensure()
    fences = Fences(mirror, identity)
    active_agents = ActiveAgents(fences, github.account.id, github.server_time, _listener(process, me, name))

    claimant = claimant_of(process, github)
    gateway = Gateway(
        github.comments,
        fences,
        process.clock,
        github.server_time,
        named=github.issues.name,
        sure=lambda: me.github.sure_of_time,
    )

    budget = repository_budget(process, configured, fences, mirror, github.server_time)
    board = claimant.accounts, claimant.keys, budget.table
    strangers = UntrustedComments(github.people, claimant.accounts)
    return RepositoryAdapters(
        process,
        configured,
        github,
        GitAdapters(mirror, identity, fences, active_agents),
        ObservedPort(gateway, event_recorder),
        claimant,
        coder=budget.paid(process, configured, coder),
        budget=budget,
        confinement=confined,
        event_recorder=event_recorder,
        status=ObservedStatus(github.comments, process.role, *board, strangers.ignored).observed_by(event_recorder),
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
    name, wanted, points = parts.configured.name, parts.configured.poll_interval, parts.github.points
    health = parts.process.telemetry.health
    health.join(name, lambda: points.interval(wanted))
    return ObservedAgent(agent, parts.event_recorder, health)
