"""A planner that also makes proposals for issues without a label, after everything else there is to do.

Nobody holds an issue whose proposal waits: its fence has ended, so nothing reminds anybody of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime

import structlog

from planner_agent.agent import Planner
from planner_agent.decide import Phase
from planner_agent.ports import Forge
from planner_agent.triage import proposal_comments
from planner_agent.triage.answers import Answers
from planner_agent.triage.backlog import Backlog, has_begun, unfit
from planner_agent.triage.proposal import Proposal, ProposalCall, TriageKind, of_record
from shared.errors import Blocked, EngineError
from shared.github.status import Status
from shared.lock.claim import Intent
from shared.lock.fence import Fence, FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from shared.lock.lease import Lease
from shared.models import Account, Issue
from shared.process import CommandFailed
from shared.retry.run_limit import begin_run
from shared.scheduling.agent_contract import UNTIL_NEWS, Candidate, CandidateKind, Claim, Ended, Result, Skip, Step
from shared.workflow import Event, Stage, Track, move

log = structlog.get_logger()

LAST = 1_000_000
"""The rank of an issue to triage: after every story, whatever its priority."""


class Triaging:
    """The planner with proposals; a failure with proposals keeps nobody from stories."""

    def __init__(
        self,
        planner: Planner,
        forge: Forge,
        backlog: Backlog,
        work: Work,
        answers: Answers,
        server_time: Callable[[], datetime],
    ) -> None:
        self.role, self.repository = planner.role, planner.repository
        self._planner = planner
        self._forge = forge
        self._backlog, self._work, self._answers = backlog, work, answers
        self._server_time = server_time
        self._waiting: dict[int, Issue] = {}

    async def discover(self) -> Sequence[Candidate]:
        """Return the planner's candidates, then proposals with an answer, then issues without a proposal."""
        found = await self._planner.discover()
        try:
            return (*found, *await self._triage_candidates({one.number for one in found}))
        except (EngineError, CommandFailed) as error:
            log.warning("triage_put_off", outcome="retrying", error=str(error))
            return found

    async def _triage_candidates(self, busy: Collection[int]) -> list[Candidate]:
        entries = await self._backlog.entries()
        orphans = ((n, one) for n, one in self._forge.inbox.orphans.items() if n not in busy)
        unfinished = [n for n, one in orphans if n in entries or not one.labels]
        taken = {*busy, *unfinished}  # what is not at its end yet has no proposal to answer
        self._waiting = {one.number: one for one in self._answers.waiting(entries) if one.number not in taken}
        found = [
            Candidate(n, f"{one.comments} {one.updated_at}", LAST, CandidateKind.TRIAGE_ANSWER)
            for n, one in self._waiting.items()
        ]
        found += [Candidate(number, "begun", LAST, CandidateKind.TRIAGE) for number in unfinished]
        if await self._free_places():
            fitting = [one for one in await self._backlog.fitting() if one.number not in {*taken, *entries}]
            found += [Candidate(one.number, str(one.updated_at), LAST, CandidateKind.TRIAGE) for one in fitting]
        return found

    async def _free_places(self) -> int:
        """Return the number of places of the day that nothing held here is going to take."""
        held = sum(one.fence.phase == Phase.TRIAGE for one in self._planner.holding.values())
        return await self._backlog.places(self._server_time()) - held

    async def prepare(self, candidate: Candidate) -> Claim | Skip:
        """Carry out an answer without a claim; return the claim of what may get a proposal as that of a story."""
        if candidate.kind is CandidateKind.TRIAGE_ANSWER:
            listed = self._waiting.get(candidate.number)
            done = await self._answers.attend(listed) if listed is not None else ""
            return Skip(done or "nobody has decided on its proposal", UNTIL_NEWS)
        if candidate.kind is not CandidateKind.TRIAGE:
            return await self._planner.prepare(candidate)
        view = await self._planner.claims.look(candidate.number)
        if isinstance(view, Skip):
            return view
        issue = await self._forge.issues.issue(candidate.number)
        free = candidate.number in await self._backlog.entries() or await self._free_places() > 0
        intent = await self._work.intent(issue, view.fence, free=free)
        return await self._planner.claims.prepare(view, intent)

    def hold(self, lease: Lease) -> AbstractAsyncContextManager[Held]:
        """Hold the lease as the planner does."""
        return self._planner.hold(lease)

    async def step(self, held: Held) -> Step:
        """Make the proposal of an issue, or a step of a story."""
        return await self._work.step(held) if has_begun(held.fence) else await self._planner.step(held)

    async def revoked(self, number: int) -> str | None:
        """Return the planner's reason to stop: an issue without a label shows no order but a command."""
        return await self._planner.revoked(number)

    async def stop(self, held: Held, reason: str) -> None:
        """End it on a person's order."""
        await (self._work.stop(held, reason) if has_begun(held.fence) else self._planner.stop(held, reason))

    async def wait(self, held: Held, sentence: str) -> None:
        """Post that a story waits; a proposal is not awaited by anybody."""
        if not has_begun(held.fence):
            await self._planner.wait(held, sentence)

    async def fail(self, held: Held, error: Blocked) -> None:
        """End without a proposal; hand a story to a person."""
        await (self._work.fail(held, error) if has_begun(held.fence) else self._planner.fail(held, error))


@dataclass(frozen=True, slots=True)
class _Unposted:
    """A proposal that was paid for, until it is posted."""

    proposal: Proposal


class Work:
    """One proposal from its claim to its end: a place of the day, the paid call, the comment, and the fence at rest."""

    def __init__(
        self, forge: Forge, backlog: Backlog, asking: ProposalCall, account: Account, labels: Mapping[TriageKind, str]
    ) -> None:
        self._forge, self._backlog, self._asking = forge, backlog, asking
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
        issue = await self._forge.issues.issue(number)
        proposed = of_record((await self._forge.status.data(number)).get("triage"))
        if proposed is None and (why := unfit(issue, self._account)):
            await self._end(held, proposal_comments.overtaken(why))
            return Ended(Result.WITHDRAWN, why)
        if proposed is None:
            if not await self._backlog.take(held):
                return Ended(Result.PARKED, "as many proposals as are wanted were made within 24 hours")
            proposed = await self._ask_for_proposal(held, issue)
            await self._forge.status.show(
                number, proposal_comments.proposed(proposed, self._labels[proposed.kind]), held
            )
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
            await self._forge.status.show(held.fence.key.number, status, held)
        to = move(Track.STORY, held.fence.stage, Event.WITHDREW).to
        await advance(held, FenceChange(stage=to, phase=Phase.TRIAGED))
