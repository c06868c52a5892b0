"""Where the desk of an agent is built: what takes the commands that people give in comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.telemetry.observed_people import ObservedSink
from shared.commands.command import Verb
from shared.commands.command_loop import CommandLoop, CommandProfile
from shared.commands.command_reader import CommandReader
from shared.commands.command_target import CommandTargets
from shared.commands.one_time_replies import Replies
from shared.commands.recovery import Recovery
from shared.commands.text_unchanged import TextUnchanged
from shared.escalation.approvals import Approvals
from shared.escalation.diagnosis import Diagnosis
from shared.escalation.notifier import Notifier, Whom
from shared.loop.commanded_agent import CommandedAgent, CommandServices, Lists
from shared.workflow import Role

if TYPE_CHECKING:
    from runtime.building.assembly import Parts
    from shared.scheduling.items import Agent


def attended(parts: Parts, agent: Agent, lists: Lists) -> Agent:
    """The agent with its desk; `lists` is its inbox. One that works on a single chosen item takes no commands."""
    if parts.only is not None:
        return agent
    people = CommandServices(
        desk(parts), alarm(parts), Diagnosis(parts.coder, parts.issues, parts.limits), parts.choices
    )
    return CommandedAgent(agent, people, lists, parts.port, parts.claimant)


def alarm(parts: Parts) -> Notifier:
    """What calls for people."""
    whom = Whom(parts.configured.name, parts.page, parts.settings.notify.mention)
    one = parts.configured
    barring = (*one.labels.exclude, *(one.merge_blocking_labels if parts.role is Role.REVIEWER else ()))
    hours = one.approval_timeout_hours
    approvals = Approvals(parts.role, parts.port, parts.names, parts.status, hours, barring=barring)
    sink = ObservedSink(parts.outbox, parts.event_recorder, parts.role)
    return Notifier(sink, replies(parts), approvals, whom, parts.server_time)


def replies(parts: Parts) -> Replies:
    """What posts a comment once."""
    return Replies(parts.comments, parts.claimant.accounts, parts.keys)


def desk(parts: Parts) -> CommandLoop:
    """The desk of the agent that `parts` are for."""
    login, owner = parts.account.login.removesuffix("[bot]"), parts.configured.name.partition("/")[0]
    return CommandLoop(
        CommandProfile(
            parts.role,
            TextUnchanged(parts.texts, parts.people),
            parts.settings.backends(parts.configured),
            "" if login.casefold() == owner.casefold() else login,
            _left_to_people(parts),
        ),
        CommandReader(parts.comments, parts.people, parts.status, parts.clock.boot),
        docket(parts),
        recovery(parts),
        parts.status,
        replies(parts),
    )


def _left_to_people(parts: Parts) -> frozenset[Verb]:
    """The commands that do nothing in this repository."""
    one = parts.configured
    left = {Verb.MERGE} if one.merge == "never" else set[Verb]()
    return frozenset(left | ({Verb.APPROVE} if parts.role is Role.PLANNER and one.approval == "terminal" else set()))


def docket(parts: Parts) -> CommandTargets:
    """What tells which item a command is about."""
    return CommandTargets(parts.issues, parts.pulls, parts.port, parts.names, parts.configured.max_attempts)


def recovery(parts: Parts) -> Recovery:
    """What carries commands out."""
    return Recovery(parts.labels, parts.pulls, parts.mirror, parts.port, parts.names)
