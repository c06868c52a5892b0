"""Where the desk of an agent is built: what takes the commands that people give in comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.building.backends import backends
from shared.governance.alarm import Alarm, Whom
from shared.governance.approvals import Approvals
from shared.governance.attended import Attended, Counter, Lists
from shared.governance.commands import Verb
from shared.governance.desk import Desk, Trade
from shared.governance.diagnosis import Diagnosis
from shared.governance.docket import Docket
from shared.governance.hearing import Hearing
from shared.governance.notices import Replies
from shared.governance.recovery import Recovery
from shared.governance.unedited import Unedited
from shared.telemetry.observed_people import ObservedSink
from shared.workflow import Role

if TYPE_CHECKING:
    from console.building.assembly import Parts
    from shared.items import Agent


def attended(parts: Parts, agent: Agent, lists: Lists) -> Agent:
    """The agent with its desk; `lists` is its inbox. One that works on a single chosen item takes no commands."""
    if parts.only is not None:
        return agent
    people = Counter(desk(parts), alarm(parts), Diagnosis(parts.coder, parts.issues, parts.limits), parts.choices)
    return Attended(agent, people, lists, parts.port, parts.claimant)


def alarm(parts: Parts) -> Alarm:
    """What calls for people."""
    whom = Whom(parts.configured.name, parts.page, parts.settings.notify.mention)
    one = parts.configured
    barring = (*one.labels.exclude, *(one.merge_blocking_labels if parts.role is Role.REVIEWER else ()))
    hours = one.approval_timeout_hours
    approvals = Approvals(parts.role, parts.port, parts.names, parts.status, hours, barring=barring)
    sink = ObservedSink(parts.outbox, parts.scribe, parts.role)
    return Alarm(sink, replies(parts), approvals, whom, parts.server_time)


def replies(parts: Parts) -> Replies:
    """What posts a comment once."""
    return Replies(parts.comments, parts.claimant.accounts, parts.keys)


def desk(parts: Parts) -> Desk:
    """The desk of the agent that `parts` are for."""
    login, owner = parts.account.login.removesuffix("[bot]"), parts.configured.name.partition("/")[0]
    return Desk(
        Trade(
            parts.role,
            Unedited(parts.texts, parts.people),
            backends(parts.settings, parts.configured),
            "" if login.casefold() == owner.casefold() else login,
            _left_to_people(parts),
        ),
        Hearing(parts.comments, parts.people, parts.status, parts.clock.boot),
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


def docket(parts: Parts) -> Docket:
    """What tells which item a command is about."""
    return Docket(parts.issues, parts.pulls, parts.port, parts.names, parts.configured.max_attempts)


def recovery(parts: Parts) -> Recovery:
    """What carries commands out."""
    return Recovery(parts.labels, parts.pulls, parts.mirror, parts.port, parts.names)
