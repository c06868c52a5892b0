"""Builds a worker from the parts of its repository; the second half of `__main__`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from config.environment import CERTIFICATES, child_environment, for_set_up
from config.settings import Settings
from runtime.building.assembly import Parts
from runtime.building.commands import attended, replies
from runtime.building.confinement import environments
from shared.commands.discussion import Listening
from shared.git.disk import Disk
from shared.git.patch_policy import Policy as PatchPolicy
from shared.git.publisher import Publisher
from shared.llm.port import Call
from shared.llm.role_router import PHASES, RoleOverride
from shared.scheduling.items import Agent
from shared.text.prompts import Prompts
from worker_agent.agent import Worker, stages
from worker_agent.attached_images import ImageFetcher
from worker_agent.coding_session import CodingSession
from worker_agent.decide import Bounds
from worker_agent.feedback.reading import TrustFilter
from worker_agent.intake.trusted_writers import TrustedWriters
from worker_agent.intake.unusable_configuration import Unusable
from worker_agent.phase_commits import PhaseCommits, Places
from worker_agent.policy import REPAIR, Policy, suites_of
from worker_agent.ports import Forge
from worker_agent.reconcile_rules import trade
from worker_agent.tdd.proof.base_run_cache import BaseRuns
from worker_agent.tdd.runners.observed_runs import ObservedBench
from worker_agent.tdd.runners.run import TestBench
from worker_agent.tdd.setup.setup_step import SetUp

PROMPTS = Path(__file__).with_name("prompts")


def build(parts: Parts) -> Agent:
    """The worker of one repository."""
    policy = policy_of(parts)
    forge = Forge(
        inbox=parts.inbox(stages(policy), trade(parts.names, parts.pulls, parts.closing)),
        issues=parts.issues,
        people=parts.people,
        labels=parts.labels,
        pulls=parts.pulls,
        reviews=parts.reviews,
        conversation=parts.comments,
        checks=parts.checks,
        status=parts.status,
        texts=parts.texts,
        closing=parts.closing,
        replies=replies(parts),
        unusable=Unusable(parts.configured.name, parts.chronicle.vitals.aside, parts.clock.boot),
    )
    settings, name = parts.settings, parts.configured.name
    places = Places(name, settings.work_dir, settings.state_dir / "kept")
    publisher = Publisher(parts.mirror, PatchPolicy(), parts.outgoing)
    disk = Disk(parts.mirror, settings.work_dir, parts.clock)
    worksite = PhaseCommits(parts.mirror, parts.identity, publisher, places, parts.keys, disk)
    bench = bench_of(parts, policy)
    base_runs = BaseRuns(settings.state_dir / "base-runs" / name.replace("/", "__"))
    claimant = parts.claimant
    trust_filter = TrustFilter(TrustedWriters(parts.people, claimant.accounts, claimant.siblings), policy.bots)
    listening = Listening(parts.comments, trust_filter)
    workshop = CodingSession(worksite, parts.coder, bench, Prompts(PROMPTS), policy, base_runs).listens(listening)
    workshop.shows(ImageFetcher(parts.attachments, trust_filter, parts.clock.boot))
    worker = Worker(forge, parts.port, parts.claimant, workshop, policy)
    parts.status.beside(worker.holding)
    return attended(parts, worker, forge.inbox)


def bench_of(parts: Parts, policy: Policy) -> TestBench:
    """Where the tests of the repository are run."""
    confinement, place = parts.confinement, environments(parts.settings)
    installer = for_set_up()
    trusted = [Path(installer[name]) for name in CERTIFICATES if name in installer]
    with_network = replace(confinement, readable=(*confinement.readable, *trusted))
    setup = SetUp(parts.configured.name, parts.configured.setup_command, place, installer, with_network)
    deadline = policy.limits.deadline_seconds
    return ObservedBench(child_environment(), deadline, parts.event_recorder, confinement=confinement, setup=setup)


def policy_of(parts: Parts) -> Policy:
    """What the configuration says to the worker."""
    repository, settings = parts.configured, parts.settings
    return Policy(
        repository=repository.name,
        names=parts.names,
        include=frozenset(repository.labels.include),
        exclude=frozenset(repository.labels.exclude),
        priorities=repository.priority_labels,
        bounds=Bounds(
            attempts=repository.max_attempts,
            ci_fixes=repository.ci.max_retries,
            ci_seconds=repository.ci.timeout,
            none_is_green=repository.ci.none_is_green,
            rounds=repository.review.max_rounds,
        ),
        ci_interval_seconds=repository.ci.seconds_between_looks,
        test_command=repository.test_command,
        test_report=repository.test_report,
        working_directory=repository.working_directory,
        suites=suites_of(repository),
        test_files=repository.test_files,
        old_tests=repository.old_tests,
        local_suite=repository.local_suite,
        damages=repository.tdd.damages,
        base=parts.base,
        title=repository.pr_title,
        merge=repository.merge,
        documentation=repository.docs_url,
        title_attempts=repository.titles.attempts,
        may_edit_workflows=repository.ci.may_edit_workflows,
        pull_request_labels=repository.pr_labels,
        reviewers=repository.reviewers,
        assign=repository.assign,
        take_assigned=repository.take_assigned_issues,
        refactor=repository.refactor,
        cycles=repository.tdd.cycles,
        quality_commands=repository.quality_commands,
        limits=parts.limits,
        repair=repair_of(settings),
        plays=parts.plays,
        bots=repository.feedback.bots,
        phases={**PHASES, **{Call(call): role for call, role in settings.phases.items()}},
    )


def repair_of(settings: Settings) -> RoleOverride:
    """What a repair of CI may take at most: what its own role says, else less than other runs."""
    own = settings.roles.get(settings.phases.get("fix_ci", "debugger"))
    if own is None:
        return REPAIR
    return replace(REPAIR, max_turns=own.max_turns or REPAIR.max_turns, budget_usd=own.budget or REPAIR.budget_usd)
