"""People's answers to proposals: `/approve` sets the label, `/reject` leaves the issue as it is.

Nothing is claimed for an answer: adding a label that is there changes nothing, so two planners that hear the same word
do the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from planner_agent.decide import Phase
from planner_agent.ports import Forge
from planner_agent.triage import proposal_comments
from planner_agent.triage.proposal import Proposal, TriageKind, is_decided, of_record
from shared.commands.command import Command, Verb
from shared.commands.command_loop import entry, refusals
from shared.commands.command_reader import CommandReader, NewCommands
from shared.commands.start_signals import NewIssues
from shared.github.errors import NotShown
from shared.github.replica_lag import PATIENCE_SECONDS, PAUSES_SECONDS
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.lock.port import Port, ReadFence
from shared.lock.write_permit import Notice, OperatorPermit
from shared.models import Issue
from shared.workflow import Role
from shared.workflow.labels import Labels

VERBS = frozenset({Verb.APPROVE, Verb.REJECT})


class Answers:
    """Reader of the decisions on proposals, which also carries them out."""

    def __init__(
        self,
        forge: Forge,
        changed: NewIssues,
        reader: CommandReader,
        port: Port,
        names: Labels,
        labels: Mapping[TriageKind, str],
    ) -> None:
        self._forge, self._changed, self._reader, self._port = forge, changed, reader, port
        self._names = names
        self._labels = labels

    def waiting(self, triaged: Collection[int]) -> tuple[Issue, ...]:
        """Return issues with a proposal in whose threads somebody may have spoken; makes no request."""
        listed = self._changed.unread(self._names)
        return tuple(one for n, one in listed.items() if n in triaged and self._reader.has_news(one))

    async def attend(self, listed: Issue) -> str:
        """Carry out what people with write access say of a proposal; return what was done, empty if nothing was.

        Raises `Transient`.
        """
        try:
            return await self._answer_orders(listed)
        except BaseException:
            self._reader.forget(listed.number)
            raise

    async def _answer_orders(self, listed: Issue) -> str:
        number = listed.number
        new_commands = await self._reader.hear(listed, None)
        orders = [one for one in new_commands.orders if one.verb in VERBS]
        entries: list[dict[str, Any]] = []
        if orders:
            reply = await self._port.request(ReadFence(ItemKey(Role.PLANNER, number)))
            fence = reply.value
            if fence is not None and fence.phase == Phase.TRIAGE:
                self._reader.forget(number)  # the proposal is about to be posted
                return ""
            entries = [entry(order, await self._carry_out(order, fence, reply.at)) for order in orders]
        if entries or new_commands.ignored:
            await self._record(number, entries, new_commands)
        return "; ".join(f"{one['command']}: {one['outcome']}" for one in entries)

    async def _record(self, number: int, entries: list[dict[str, Any]], new_commands: NewCommands) -> None:
        edited = [one for one in refusals(new_commands) if one["command"] in {f"/{verb}" for verb in VERBS}]
        every, ignored = [*entries, *edited], new_commands.ignored
        await self._forge.status.note(number, Notice(number, "commands"), commands=every, ignored=ignored)

    async def _carry_out(self, order: Command, fence: Fence | None, now: datetime) -> str:
        """Carry out an order; return its outcome. Raise `NotShown` for a proposal that a replica may not show yet."""
        if fence is None or fence.phase != Phase.TRIAGED or not _is_later(order, fence):
            return proposal_comments.NO_PROPOSAL
        number = fence.key.number
        record = (await self._forge.status.data(number)).get("triage")
        proposal = of_record(record)
        if proposal is None:
            if (now - fence.at).total_seconds() < PATIENCE_SECONDS:
                raise NotShown(f"the proposal for #{number}", PAUSES_SECONDS[0])
            return proposal_comments.NO_PROPOSAL
        if is_decided(record):
            return proposal_comments.DECIDED
        return await (self._accept if order.verb is Verb.APPROVE else self._reject)(number, order, proposal)

    async def _accept(self, number: int, order: Command, proposal: Proposal) -> str:
        label, login = self._labels[proposal.kind], order.author.login
        if not (await self._forge.issues.issue(number)).open:
            return "the issue is closed"
        await self._forge.labels.add(number, [label], OperatorPermit(str(order)))
        told = proposal_comments.accepted(proposal, label, login)
        await self._forge.status.revise(number, told, Notice(number, "triage"))
        return f"labelled `{label}`"

    async def _reject(self, number: int, order: Command, proposal: Proposal) -> str:
        told = proposal_comments.rejected(proposal, order.author.login)
        await self._forge.status.revise(number, told, Notice(number, "triage"))
        return "left as it is"


def _is_later(order: Command, fence: Fence) -> bool:
    """Return whether the command came after the proposal."""
    return order.comment_id > fence.position and (order.at is None or order.at >= fence.at.replace(microsecond=0))
