"""Construction of a reviewer from the parts of its repository; the second half of `__main__`."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from reviewer_agent.after_merge.answering import Answering, Writer
from reviewer_agent.after_merge.messages import Voice
from reviewer_agent.after_merge.record import Records
from reviewer_agent.after_merge.watch import AfterMerge, Sources
from reviewer_agent.agent import Reviewer
from reviewer_agent.merge.merge_turns import MergeTurns
from reviewer_agent.merge.update_turns import UpdateTurns
from reviewer_agent.policy import Policy
from reviewer_agent.ports import Forge
from reviewer_agent.reconcile_rules import rules
from reviewer_agent.review.evidence import Runs
from reviewer_agent.review.pending_reviews import PendingReviews
from reviewer_agent.review.review_calls import ReviewCalls
from reviewer_agent.review.review_input import ReviewInputs
from reviewer_agent.snapshot import Bounds, Merge
from runtime.building.assembly import RepositoryAdapters
from runtime.building.commands import commanded, replies, start_signals
from shared.git.notes import Notes
from shared.scheduling.agent_contract import Agent
from shared.text.prompts import Prompts
from shared.workflow import Stage

PROMPTS = Path(__file__).with_name("prompts")

STAGES = (Stage.REVIEWING, Stage.IN_REVIEW, Stage.APPROVED, Stage.FAILED)
"""Stages under which the reviewer finds work, or for which people may give it a command."""


def build(parts: RepositoryAdapters) -> Agent:
    """Build the reviewer of one repository."""
    github, git = parts.github, parts.git
    policy = policy_of(parts)
    source = git.mirror
    inbox = parts.inbox(STAGES, rules(github.names, github.pulls, parts.closing), lambda item: item.is_pull_request)
    forge = Forge(
        inbox=inbox,
        issues=github.issues,
        comments=github.comments,
        people=github.people,
        labels=github.labels,
        pulls=github.pulls,
        reviews=github.reviews,
        checks=github.checks,
        status=parts.status,
        turns=MergeTurns(git.fences, source, github.server_time),
        updates=UpdateTurns(
            git.fences, github.server_time, github.pulls, github.names, frozenset(parts.configured.labels.exclude)
        ),
        closing=parts.closing,
        replies=replies(parts),
    )
    if parts.configured.after_merge != "off":
        after_merge = _after_merge(parts, forge)
        inbox.add_look("merges", lambda known: after_merge.look())
    runs = Runs(source, Notes(source.git, git.identity), parts.claimant.keys)
    library = ReviewInputs(source, runs.of, policy.diff_bytes)
    examiner = ReviewCalls(parts.coder, Prompts(PROMPTS), policy)
    drafts = PendingReviews(library, examiner, second_pass=parts.configured.review.second_pass)
    agent = Reviewer(forge, parts.claims, drafts, policy)
    parts.status.write_by_leases(agent.holding)
    return commanded(parts, agent, inbox, start_signals(parts, inbox))


def _after_merge(parts: RepositoryAdapters, forge: Forge) -> AfterMerge:
    """Build the watch over the base's CI after each merge."""
    github, git = parts.github, parts.git
    writer = Writer(
        github.account.login,
        git.identity,
        Voice(github.names, parts.claimant.keys, parts.page),
        reverts=parts.configured.after_merge == "revert",
        server_time=github.server_time,
        boot=parts.process.clock.boot,
    )
    patience = timedelta(seconds=parts.configured.ci.timeout)
    sources = Sources(forge, git.fences, git.mirror, github.server_time, parts.process.clock.boot, patience)
    return AfterMerge(sources, Answering(forge, git.mirror, Records(git.fences), writer))


def policy_of(parts: RepositoryAdapters) -> Policy:
    """Return the reviewer's policy from the configuration."""
    repository = parts.configured
    return Policy(
        repository=repository.name,
        names=parts.github.names,
        exclude=frozenset(repository.labels.exclude),
        priorities=repository.priority_labels,
        hides_outdated=repository.review.hide_outdated,
        bounds=Bounds(
            rounds=repository.review.max_rounds,
            reviews=repository.review.max_commits,
            ci_seconds=repository.ci.timeout,
            none_is_green=repository.ci.none_is_green,
            lines=repository.merge_max_lines,
            cooling_seconds=60 * repository.merge_cooling_minutes,
        ),
        base=parts.base,
        merge=Merge(repository.merge),
        merge_method=repository.merge_method,
        trailers=repository.commit_trailers,
        delete_branch=repository.delete_branch,
        barring=frozenset(repository.merge_blocking_labels),
        by_requester=repository.merge_by_requester,
        limits=parts.limits,
    )
