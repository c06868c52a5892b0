"""Builds a planner from the parts of its repository; the second half of `__main__`.

The planner's lists, which after each look let the next pending test get its issue.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace

import structlog

from planner_agent.agent import Planner
from planner_agent.approval import Approval
from planner_agent.pending.opening import Opening, Wanted, Writer
from planner_agent.pending.register import Register
from planner_agent.policy import Policy
from planner_agent.ports import Forge, Inbox
from planner_agent.preapproved_plan import PreapprovedPlan
from planner_agent.reconcile_rules import trade
from planner_agent.story import create_story
from runtime.arguments import Arguments
from runtime.building.assembly import Parts
from runtime.building.commands import attended, replies
from shared.errors import EngineError, Misconfigured
from shared.models import Issue
from shared.process import CommandFailed
from shared.scheduling.items import Agent
from shared.workflow import UNLABELLED, Track, stages

DECIDED_ROUNDS = 1000
"""How often a plan may have been sent back before one that was decided at a terminal takes its place."""


def build(parts: Parts, decided: PreapprovedPlan | None = None) -> Agent:
    """The planner of one repository; with `decided` it carries out what was decided at a terminal."""
    policy = policy_of(parts)
    if decided is not None:
        policy = replace(policy, decided=decided, approval=Approval.GIVEN, rounds=DECIDED_ROUNDS)
    forge = forge_of(parts)
    if decided is None and parts.configured.tdd.pending.globs:
        forge = replace(forge, inbox=PendingInbox(forge.inbox, opening_of(parts)))
    planner = Planner(forge, parts.port, parts.claimant, parts.mirror, parts.coder, policy)
    parts.status.beside(planner.holding)
    return planner if decided is not None else attended(parts, planner, forge.inbox)


def forge_of(parts: Parts) -> Forge:
    """The planner's side of GitHub. It watches specifications too: the last one to close ends its story."""
    specified = [stage for stage in stages(Track.SPECIFICATION) if stage not in UNLABELLED]
    return Forge(
        inbox=parts.inbox(
            [parts.names.story, *specified],
            trade(parts.names, parts.closing, parts.status),
            lambda item: not item.is_pull_request,
        ),
        issues=parts.issues,
        comments=parts.comments,
        people=parts.people,
        labels=parts.labels,
        status=parts.status,
        texts=parts.texts,
        closing=parts.closing,
        replies=replies(parts),
    )


def opening_of(parts: Parts) -> Opening:
    """What opens issues about pending tests."""
    repository = parts.configured
    pending = repository.tdd.pending
    wanted = Wanted(
        pending.globs,
        pending.order,
        pending.open_at_once,
        repository.max_attempts,
        parts.base,
        parts.names,
        repository.labels.include[:1],
    )
    writer = Writer(parts.claimant.agent, parts.account, parts.keys, parts.server_time, parts.clock.boot)
    return Opening(parts.issues, parts.mirror, Register(parts.fences, parts.mirror), writer, wanted)


def policy_of(parts: Parts) -> Policy:
    """What the configuration says to the planner."""
    repository = parts.configured
    return Policy(
        repository=repository.name,
        account=parts.account,
        base=parts.base,
        names=parts.names,
        include=frozenset(repository.labels.include),
        exclude=frozenset(repository.labels.exclude),
        priorities=repository.priority_labels,
        approval=Approval(repository.approval),
        limits=parts.limits,
        take_assigned=repository.take_assigned_issues,
        only=parts.only,
    )


_HOW_TO_APPROVE = {
    "auto": "",
    "comment": "Its plan is posted there; comment /approve to have the specifications created.\n",
    "terminal": "Its plan is posted there; to approve it, run `planner-agent {repository}` at a terminal "
    "and give the number.\n",
}
"""What is said of a story that was just opened, by the key `approval`."""


async def prepare(parts: Parts, arguments: Arguments) -> Parts:
    """With `--story`: open it, say where, and plan it alone; `--yes` approves the plan in advance."""
    if arguments.story is None:
        return parts
    if len(parts.settings.repositories) > 1:
        raise Misconfigured("The configuration names several repositories: say for which one, as owner/repo.")
    story = await create_story(parts.issues, arguments.story, parts.names.story)
    sys.stdout.write(f"{parts.page}/issues/{story.number}\n")
    if not arguments.yes:
        sys.stdout.write(_HOW_TO_APPROVE[parts.configured.approval].format(repository=parts.configured.name))
    sys.stdout.flush()
    approval = "auto" if arguments.yes else parts.configured.approval
    return replace(parts, only=story.number, configured=parts.configured.model_copy(update={"approval": approval}))


log = structlog.get_logger()


class PendingInbox:
    """Passes everything on; what goes wrong with pending tests keeps nobody from stories."""

    def __init__(self, inbox: Inbox, opening: Opening) -> None:
        self._inbox = inbox
        self._opening = opening

    @property
    def known(self) -> Mapping[int, Issue]:
        """The open items."""
        return self._inbox.known

    @property
    def orphans(self) -> Mapping[int, Issue]:
        """Items that no list shows."""
        return self._inbox.orphans

    async def look(self) -> Mapping[int, Issue]:
        """The open items as they are now."""
        known = await self._inbox.look()
        try:
            await self._opening.look(known)
        except (EngineError, CommandFailed) as error:
            log.warning("pending_tests_put_off", outcome="retrying", error=str(error))
        return known

    def dismiss(self, number: int) -> None:
        """An item that has ended."""
        self._inbox.dismiss(number)
