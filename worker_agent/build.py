"""Builds a worker from the parts of its repository; the second half of `__main__`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from config.environment import CERTIFICATES, child_environment, for_set_up
from config.settings import Settings
from runtime.building.assembly import RepositoryAdapters
from runtime.building.commands import commanded, replies, start_signals
from runtime.building.confinement import environments
from shared.commands.discussion import Listening
from shared.filesystem import directories
from shared.git.disk import Disk
from shared.git.publisher import Publisher
from shared.llm.kept_sessions import ResumeLimits, SessionStore
from shared.llm.port import CoderCall
from shared.llm.role_router import ROLE_OF_CALL, RoleOverride
from shared.reconcile.complete_inbox import CompleteInbox
from shared.sandbox.confinement import Confinement
from shared.scheduling.agent_contract import Agent
from shared.text.prompts import Prompts
from worker_agent.agent import Worker, stages
from worker_agent.attached_images import ImageFetcher
from worker_agent.comments import beginning
from worker_agent.continued_sessions import ContinuedSessions
from worker_agent.decide import Bounds
from worker_agent.feedback.reading import TrustFilter
from worker_agent.intake.ceilings import AccountCeiling, CeilingCheck, Ceilings
from worker_agent.intake.noted_status import NotedStatus
from worker_agent.intake.refused_branches import RefusedBranches
from worker_agent.intake.trusted_accounts import TrustedWriters
from worker_agent.intake.unusable_configuration import Unusable
from worker_agent.phase_commits import PhaseCommits, Places
from worker_agent.phase_tools import OptionalTools, PhaseTools
from worker_agent.policy import (
    REPAIR,
    IntakePolicy,
    Policy,
    PullRequestPolicy,
    RunPolicy,
    code_policy,
)
from worker_agent.ports import Forge
from worker_agent.reconcile_rules import rules
from worker_agent.repository_rules import RepositoryRuleReader
from worker_agent.tdd.runners.observed_runs import ObservedBench
from worker_agent.tdd.runners.test_bench import TestBench
from worker_agent.tdd.setup.hooks import Hook, Hooks
from worker_agent.tdd.setup.setup_step import SetUp
from worker_agent.tdd.test_runs import BaseRuns, TestRuns

PROMPTS = Path(__file__).with_name("prompts")


def build(parts: RepositoryAdapters) -> Agent:
    """Build the worker of one repository."""
    process, github, git = parts.process, parts.github, parts.git
    doing = partial(beginning, most=parts.configured.max_attempts)
    parts = replace(parts, claimant=replace(parts.claimant, doing=doing))
    policy = policy_of(parts)
    inbox = _inbox(parts, policy)
    settings, name = process.settings, parts.configured.name
    places = Places(name, settings.work_dir, settings.state_dir / "kept")
    publisher = Publisher(git.mirror, process.outgoing)
    hooks = hooks_of(parts)
    disk = Disk(git.mirror, settings.work_dir, process.clock, hooks.leave)
    phase_commits = PhaseCommits(git.mirror, git.identity, publisher, places, parts.claimant.keys, disk)
    bench = bench_of(parts, policy)
    base_runs = BaseRuns(settings.state_dir / "base-runs" / name.replace("/", "__"))
    test_runs = TestRuns(phase_commits, bench, base_runs)
    claimant = parts.claimant
    trust_filter = TrustFilter(
        TrustedWriters(github.people, claimant.accounts, claimant.other_accounts), policy.intake.bots
    )
    options = OptionalTools(
        Listening(github.comments, trust_filter),
        ImageFetcher(github.attachments, trust_filter, process.clock.boot),
        hooks,
        RepositoryRuleReader(parts.configured, settings.backends(parts.configured)),
        _session_store(parts),
    )
    tools = PhaseTools(phase_commits, parts.coder, test_runs, Prompts(PROMPTS), policy, options)
    forge = Forge(
        inbox=inbox,
        issues=github.issues,
        people=github.people,
        labels=github.labels,
        pulls=github.pulls,
        reviews=github.reviews,
        comments=github.comments,
        checks=github.checks,
        status=NotedStatus(parts.status, tools.unshown),
        texts=parts.texts,
        closing=parts.closing,
        replies=replies(parts),
        ceilings=ceilings_of(parts),
        unusable=Unusable(parts.configured.name, process.telemetry.health.aside, process.clock.boot),
        refused_branches=RefusedBranches(parts.configured.name, process.telemetry.health.aside, process.clock.boot),
    )
    worker = Worker(forge, parts.claims, tools, policy)
    parts.status.write_by_leases(worker.holding)
    return commanded(parts, worker, inbox, start_signals(parts, inbox))


def _session_store(parts: RepositoryAdapters) -> ContinuedSessions | None:
    """Return the store of continued sessions, if the configuration has them; if not, delete those of earlier runs."""
    process = parts.process
    llm, root = process.settings.llm, process.settings.state_dir / "sessions"
    if llm.resume_seconds is None:
        directories.remove(root)
        return None
    store = SessionStore(root, process.clock, ResumeLimits(llm.resume_seconds, llm.resume_tokens))
    store.sweep()
    return ContinuedSessions(store, parts.configured.name, Prompts(PROMPTS))


def _inbox(parts: RepositoryAdapters, policy: Policy) -> CompleteInbox:
    """Build the list of items that the worker follows: by its stages, and by the other ways to ask for work."""
    start = parts.configured.start
    labels = (*stages(policy), *start.labels)
    assignee = parts.github.account if start.assigned else None
    return parts.inbox(labels, rules(parts.github.names, parts.github.pulls, parts.closing), assignee=assignee)


def bench_of(parts: RepositoryAdapters, policy: Policy) -> TestBench:
    """Build the test bench that runs the tests of the repository."""
    place, installer = environments(parts.process.settings), for_set_up()
    with_network = _with_network(parts.confinement, installer)
    setup = SetUp(parts.configured.name, parts.configured.setup_command, place, installer, with_network)
    deadline = policy.runs.limits.deadline_seconds
    return ObservedBench(
        child_environment(), deadline, parts.event_recorder, confinement=parts.confinement, setup=setup
    )


def hooks_of(parts: RepositoryAdapters) -> Hooks:
    """Build the repository's own commands that run around workspaces and runs."""
    configured, installer = parts.configured.hooks, for_set_up()
    commands = {hook: command for hook in Hook if (command := getattr(configured, hook))}
    confinement = _with_network(parts.confinement, installer)
    return Hooks(parts.configured.name, commands, configured.timeout_seconds, installer, confinement)


def _with_network(confinement: Confinement, environment: Mapping[str, str]) -> Confinement:
    """Return the confinement of commands that download something: they can also read the configured certificates."""
    trusted = [Path(environment[name]) for name in CERTIFICATES if name in environment]
    return replace(confinement, readable=(*confinement.readable, *trusted))


def policy_of(parts: RepositoryAdapters) -> Policy:
    """Return the worker's policy for a repository, from the configuration."""
    repository, settings = parts.configured, parts.process.settings
    return Policy(
        repository=repository.name,
        names=parts.github.names,
        base=parts.base,
        bounds=Bounds(
            attempts=repository.max_attempts,
            ci_fixes=repository.ci.max_retries,
            ci_seconds=repository.ci.timeout,
            none_is_green=repository.ci.none_is_green,
            rounds=repository.review.max_rounds,
        ),
        intake=IntakePolicy(
            include=frozenset(repository.labels.include),
            exclude=frozenset(repository.labels.exclude),
            priorities=repository.priority_labels,
            take_assigned=repository.take_assigned_issues,
            starts_assigned=repository.start.assigned,
            assign=repository.assign,
            title_attempts=repository.titles.attempts,
            bots=repository.feedback.bots,
        ),
        code=code_policy(repository),
        pulls=PullRequestPolicy(
            title=repository.pr_title,
            labels=repository.pr_labels,
            reviewers=repository.reviewers,
            merge=repository.merge,
            documentation=repository.docs_url,
            ci_interval_seconds=repository.ci.seconds_between_looks,
        ),
        runs=RunPolicy(
            limits=parts.limits,
            repair=repair_of(settings),
            role_of_call={**ROLE_OF_CALL, **{CoderCall(call): role for call, role in settings.phases.items()}},
            roles=parts.process.roles,
        ),
    )


def ceilings_of(parts: RepositoryAdapters) -> CeilingCheck:
    """Build the check of the ceilings, which runs before new work begins."""
    configured, most = parts.configured.ceilings, parts.process.settings.in_work_per_account
    of_account = None
    if most is not None:
        account = parts.github.account.id
        of_account = AccountCeiling(most, account, parts.configured.name, parts.process.work_of(account))
    return CeilingCheck(Ceilings(configured.in_work, configured.open_pull_requests), parts.git.fences, of_account)


def repair_of(settings: Settings) -> RoleOverride:
    """Return the limits of a CI repair: those of its own role if it has some, else less than those of other runs."""
    name = settings.phases.get("fix_ci", ROLE_OF_CALL[CoderCall.FIX_CI])
    role = next((one for word, one in settings.roles.items() if word == name), None)
    if role is None:
        return REPAIR
    return replace(REPAIR, max_turns=role.max_turns or REPAIR.max_turns, budget_usd=role.budget or REPAIR.budget_usd)
