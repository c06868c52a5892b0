"""Construction of an agent's command loop, which obeys people's comments, and of its notifier, which calls people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.telemetry.observed_people import ObservedSink
from shared.commands.command import Verb
from shared.commands.command_loop import CommandLoop, CommandProfile
from shared.commands.command_reader import CommandReader
from shared.commands.command_target import CommandTargets
from shared.commands.one_time_replies import Replies
from shared.commands.recovery import Recovery
from shared.commands.start_signals import StartRules, StartSignals, StartSources
from shared.commands.text_unchanged import TextUnchanged
from shared.escalation.approvals import Approvals
from shared.escalation.diagnosis import Diagnosis
from shared.escalation.notifier import Notifier, Whom
from shared.loop.commanded_agent import CommandedAgent, CommandServices
from shared.workflow import Role

if TYPE_CHECKING:
    from runtime.building.assembly import RepositoryAdapters
    from shared.github.ports import Inbox
    from shared.reconcile.complete_inbox import CompleteInbox
    from shared.scheduling.agent_contract import Agent


def commanded(parts: RepositoryAdapters, agent: Agent, lists: Inbox, starts: StartSignals | None = None) -> Agent:
    """Return the agent that obeys commands; one that works on a single chosen item takes none.

    `lists` is its inbox, and `starts` finds orders on issues that are not in it.
    """
    if parts.only is not None:
        return agent
    diagnosis = Diagnosis(parts.coder, parts.github.issues, parts.limits)
    choices = parts.process.choices[parts.configured.name]
    people = CommandServices(command_loop(parts), notifier(parts), diagnosis, choices, starts)
    return CommandedAgent(agent, people, lists, parts.port, parts.claimant)


def notifier(parts: RepositoryAdapters) -> Notifier:
    """Build the notifier that calls for people."""
    whom = Whom(parts.configured.name, parts.page, parts.process.settings.notify.mention)
    one = parts.configured
    barring = (*one.labels.exclude, *(one.merge_blocking_labels if parts.process.role is Role.REVIEWER else ()))
    hours = one.approval_timeout_hours
    approvals = Approvals(parts.process.role, parts.port, parts.github.names, parts.status, hours, barring=barring)
    sink = ObservedSink(parts.process.outbox, parts.event_recorder, parts.process.role)
    return Notifier(sink, replies(parts), approvals, whom, parts.github.server_time)


def replies(parts: RepositoryAdapters) -> Replies:
    """Build the replies, comments that are posted once."""
    return Replies(parts.github.comments, parts.claimant.accounts, parts.claimant.keys)


def command_loop(parts: RepositoryAdapters) -> CommandLoop:
    """Build the loop that takes commands for the agent that `parts` are for."""
    return CommandLoop(
        CommandProfile(
            parts.process.role,
            TextUnchanged(parts.texts, parts.github.people),
            parts.process.settings.backends(parts.configured),
            mentioned_as(parts),
            _left_to_people(parts),
            parts.configured.start.mentioned,
            parts.configured.triage.per_day > 0,
            parts.configured.assistant.per_day > 0,
        ),
        reader(parts),
        targets(parts),
        recovery(parts),
        parts.status,
        replies(parts),
    )


def reader(parts: RepositoryAdapters) -> CommandReader:
    """Build the reader that finds commands in threads."""
    return CommandReader(parts.github.comments, parts.github.people, parts.status, parts.process.clock.boot)


def start_signals(parts: RepositoryAdapters, lists: CompleteInbox) -> StartSignals:
    """Build the finder of orders on items that the worker or the reviewer does not follow yet.

    `lists` is the agent's inbox.
    """
    github, role = parts.github, parts.process.role
    start, labels = parts.configured.start, parts.configured.labels
    rules = StartRules(login=mentioned_as(parts))
    if role is Role.WORKER:
        rules = StartRules(
            frozenset(start.labels),
            github.account if start.assigned else None,
            frozenset(labels.include),
            frozenset(labels.exclude),
            rules.login,
        )
    threads = github.issues, github.comments, github.people
    sources = StartSources(*threads, parts.new_issues, lists, parts.process.clock.boot, role)
    answers = TextUnchanged(parts.texts, github.people), replies(parts)
    return StartSignals(rules, sources, targets(parts), recovery(parts), answers)


def mentioned_as(parts: RepositoryAdapters) -> str:
    """Return the login by which the engine is mentioned; empty if its account is a person's."""
    login, owner = parts.github.account.login.removesuffix("[bot]"), parts.configured.name.partition("/")[0]
    return "" if login.casefold() == owner.casefold() else login


def _left_to_people(parts: RepositoryAdapters) -> frozenset[Verb]:
    """Return the commands that do nothing in this repository."""
    one, role = parts.configured, parts.process.role
    at_terminal = role is Role.PLANNER and one.approval == "terminal"
    left = {Verb.MERGE: one.merge == "never", Verb.APPROVE: at_terminal}
    return frozenset(verb for verb, is_left in left.items() if is_left)


def targets(parts: RepositoryAdapters) -> CommandTargets:
    """Build the finder of the item that a command is about."""
    github = parts.github
    return CommandTargets(github.issues, github.pulls, parts.port, github.names, parts.configured.max_attempts)


def recovery(parts: RepositoryAdapters) -> Recovery:
    """Build the executor of commands."""
    github = parts.github
    return Recovery(github.labels, github.pulls, parts.git.mirror, parts.port, github.names)
