"""One proposal, from the claim to its end: a place of the day, the paid call, the comment, and the fence at rest.

Nobody holds an issue whose proposal waits: its fence has ended, so nothing reminds anybody of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner_agent.decide import Phase
from planner_agent.triage import proposal_comments
from planner_agent.triage.backlog import Backlog, has_begun, unfit
from planner_agent.triage.proposal import Proposal, ProposalCall, TriageKind, of_record
from shared.errors import Blocked
from shared.github.ports import Issues, StatusComments
from shared.github.status import Status
from shared.lock.claim import Intent
from shared.lock.fence import advance
from shared.lock.hold import Held
from shared.lock.record import Fence, FenceChange
from shared.models import Account, Issue
from shared.retry.run_limit import begin_run
from shared.scheduling.agent_contract import Ended, Result
from shared.workflow import Event, Stage, Track, move


@dataclass(frozen=True, slots=True)
class _Unposted:
    """A proposal that was paid for, until it is posted."""

    proposal: Proposal


class Work:
    """The steps of a held issue."""

    def __init__(
        self,
        issues: Issues,
        status: StatusComments,
        backlog: Backlog,
        asking: ProposalCall,
        account: Account,
        labels: Mapping[TriageKind, str],
    ) -> None:
        self._issues, self._status, self._backlog, self._asking = issues, status, backlog, asking
        self._account = account
        self._labels = labels

    async def intent(self, issue: Issue, fence: Fence | None, *, free: bool) -> Intent | str:
        """Return what a claim would begin, or why there is nothing to claim; `free`: there is a place today."""
        if fence is not None and not has_begun(fence):
            return "it was looked at before"
        if fence is None and (why := unfit(issue, self._account)):
            return why
        if not free:
            return "as many proposals as are wanted were made within 24 hours"
        return Intent(Stage.PLANNING, Phase.TRIAGE)

    async def step(self, held: Held) -> Ended:
        """Make the proposal; what an earlier holder has paid for or posted is not repeated."""
        number = held.fence.key.number
        issue = await self._issues.issue(number)
        proposed = of_record((await self._status.data(number)).get("triage"))
        if proposed is None and (why := unfit(issue, self._account)):
            await self._end(held, proposal_comments.overtaken(why))
            return Ended(Result.WITHDRAWN, why)
        if proposed is None:
            if not await self._backlog.take(held):
                return Ended(Result.PARKED, "as many proposals as are wanted were made within 24 hours")
            proposed = await self._ask_for_proposal(held, issue)
            await self._status.show(number, proposal_comments.proposed(proposed, self._labels[proposed.kind]), held)
            held.memory.take(_Unposted)
        await self._end(held, None)
        return Ended(Result.HANDED_OVER, f"#{number} has a proposal: {proposed.kind}")

    async def _ask_for_proposal(self, held: Held, issue: Issue) -> Proposal:
        kept = held.memory.get(_Unposted)
        if kept is not None:
            return kept.proposal
        await begin_run(held)
        found = await self._asking.proposal(issue, await self._backlog.listed())
        return held.memory.keep(_Unposted(found)).proposal

    async def stop(self, held: Held, reason: str) -> None:
        """End the work by a person's order."""
        await self._end(held, proposal_comments.overtaken(reason))

    async def fail(self, held: Held, error: Blocked) -> None:
        """End the work without a proposal; it is not tried again."""
        await self._end(held, proposal_comments.failed(error))

    async def _end(self, held: Held, status: Status | None) -> None:
        """End the work; this is posted first, because nobody looks at what has ended."""
        if status is not None:
            await self._status.show(held.fence.key.number, status, held)
        to = move(Track.STORY, held.fence.stage, Event.WITHDREW).to
        await advance(held, FenceChange(stage=to, phase=Phase.TRIAGED))
