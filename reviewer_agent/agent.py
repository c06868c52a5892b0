"""The reviewer's tick: discover, claim, and one step at a time (observe, decide, act)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import assert_never

import structlog

from reviewer_agent import comments
from reviewer_agent.candidates import before, expected_stage, stop_request
from reviewer_agent.decide import Action, decide
from reviewer_agent.effects import Effects
from reviewer_agent.eligibility import Eligibility
from reviewer_agent.errors import given_up
from reviewer_agent.issue_labels import IssueLabels
from reviewer_agent.links import Source
from reviewer_agent.merge.blockers import Blocker
from reviewer_agent.merge.merging import Finishing, Merging
from reviewer_agent.observe import Observer
from reviewer_agent.policy import Policy
from reviewer_agent.ports import Forge
from reviewer_agent.review.pending_reviews import PendingReviews
from reviewer_agent.review.previous_findings import PreviousFindings
from reviewer_agent.review.verdict import Reader, creation_name
from reviewer_agent.review_request import ReviewRequest
from reviewer_agent.snapshot import Snapshot
from shared.errors import Blocked
from shared.git import one_look
from shared.github.at_most_once import raise_if_in_flight
from shared.github.errors import NotShown
from shared.github.replica_lag import PAUSES_SECONDS
from shared.lock.claim import Intent
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from shared.lock.lease import Lease
from shared.lock.view import LockView
from shared.loop.claims import Claims
from shared.loop.read_cache import ReadCache
from shared.models import Issue, PullRequest
from shared.reconcile.lost import Item, LostLabels
from shared.reconcile.start_label import in_doubt
from shared.retry.run_errors import RunEnded
from shared.scheduling.agent_contract import Candidate, Claim, Ended, Result, Skip, Step
from shared.scheduling.order import exclusion_reason, urgency
from shared.workflow import TERMINAL, Event, Role, Stage
from shared.workflow.labels import Flag

log = structlog.get_logger()


class Reviewer:
    """The reviewer: from a pull request to its review, then to approval or requested changes, then to the merge."""

    role = Role.REVIEWER

    def __init__(self, forge: Forge, claims: Claims, pending_reviews: PendingReviews, policy: Policy) -> None:
        self._forge = forge
        self.repository, self.holding = policy.repository, claims.holding
        self._claims = claims
        port, claimant = claims.port, claims.claimant
        self._pending_reviews = pending_reviews
        self._policy = policy
        self._lost_labels = LostLabels(forge.issues, forge.labels, policy.names, claimant.accounts, before)
        self._effects = Effects(forge, policy)
        demand = ReviewRequest(forge, port, claimant.accounts, policy.names, claimant.other_accounts)
        reader = Reader(claimant.keys, claimant.accounts)
        self._observer = Observer(forge, demand, pending_reviews.library.source, reader, policy)
        self._recollection = PreviousFindings(forge.reviews, reader, self._observer.requests)
        self._merging = Merging(forge, self._observer, self._effects, policy)
        self._issue_labels = IssueLabels(forge.replies, policy.names, policy.exclude)
        self._eligibility = Eligibility(claimant, demand, self._observer, policy)
        self._read_cache: ReadCache[PullRequest] = ReadCache(port.boot)
        self._closed: dict[int, Issue] = {}
        self._settled: set[int] = set()

    async def discover(self) -> Sequence[Candidate]:
        """Return pull requests with a reviewer's stage; closed ones once more, because some were merged."""
        open_items = await self._forge.inbox.look()
        await self._observer.begin()
        await self._issue_labels.answer(open_items.values())
        gone = self._forge.inbox.gone
        unsettled = {number: gone[number] for number in gone.keys() - self._settled}
        self._closed |= {number: item for number, item in unsettled.items() if self._eligibility.is_candidate(item)}
        self._settled = (self._settled & open_items.keys()) - gone.keys()
        orphans = {number: item for number, item in self._forge.inbox.orphans.items() if self._eligibility.admits(item)}
        listed = {**self._closed, **open_items}.items()
        wanted = {
            **orphans,
            **{number: issue for number, issue in listed if self._eligibility.is_candidate(issue)},
        }.values()
        queue = sorted((urgency(one, self._policy.priorities), one) for one in wanted)
        return tuple(
            Candidate(o.number, f"{o.updated_at.isoformat()} {o.comments}", u.rank, updated_at=o.updated_at)
            for u, o in queue
        )

    async def prepare(self, candidate: Candidate) -> Claim | Skip:
        """Read the lock and the pull request; return its claim if there is something to do and it is free."""
        view = await self._claims.look(candidate.number)
        with one_look.look():
            intent = view if isinstance(view, Skip) else await self._intent(view, candidate.updated_at)
        if isinstance(view, Skip):
            return view
        claim = await self._claims.prepare(view, intent)
        if isinstance(claim, Skip):
            self._closed.pop(candidate.number, None)  # not before, unless the lease is ours: its closing is told once
        return claim

    async def _intent(self, view: LockView, updated_at: datetime | None) -> Intent | Skip:
        number = view.key.number
        pull_request = await self._forge.pulls.pull_request(number)
        self._read_cache.keep(number, pull_request)
        return await self._eligibility.intent(view, pull_request, updated_at or view.at)

    @asynccontextmanager
    async def hold(self, lease: Lease) -> AsyncIterator[Held]:
        """Hold the lease as a block. Items that have ended here need no look when they are closed."""
        async with self._claims.hold(lease) as held:
            self._closed.pop(held.fence.key.number, None)
            try:
                yield held
            finally:
                (self._settled.add if held.fence.stage in TERMINAL else self._settled.discard)(held.fence.key.number)

    async def revoked(self, number: int) -> str | None:
        """Return the reason to stop: closed, locked, paused, or a stage label that a person moved or removed."""
        held = self._claims.held(number)
        if held is not None and held.memory.get(Finishing) is not None:
            return None
        listed = self._forge.inbox.known.get(number)
        return await self._claims.revoked(number, listed, self._read, self._order)

    async def _read(self, held: Held) -> Issue:
        """Return the pull request as an issue, with a stage label that it lost without anybody's order."""
        return await self._restore_label(await self._forge.issues.issue(held.fence.key.number), held)

    async def _restore_label(self, item: Item, held: Held) -> Item:
        return await self._lost_labels.restored(item, expected_stage(held.fence), held.server_now())

    def _order(self, item: Issue | PullRequest, held: Held) -> str | None:
        return stop_request(item, held.fence, self._policy.names)

    async def step(self, held: Held) -> Step:
        """Observe, let the label follow the fence, decide, act: one look, whose refs are read together."""
        with one_look.look():
            return await self._step(held)

    async def _step(self, held: Held) -> Step:
        seen = self._just_read(held)
        begins = seen is not None and self._begins(held, seen)
        snapshot = await self._observer.look(held.fence, seen, begins=begins)
        held.memory.keep(Source.of(snapshot.pull_request))
        if snapshot.pull_request.open:
            order = self._order(await self._restore_label(snapshot.pull_request, held), held)
            # The reply to a label says what is there now: it is newer than any reading.
            asked = snapshot.review_asked and not snapshot.head_moved  # by a label that is not ours to take off
            merges = decide(snapshot, now=held.server_now()) is Action.MERGE  # and with that the label goes
            stays = order or asked or (merges and not in_doubt(held))
            shown = snapshot.pull_request if stays else await self._effects.show_labels(held, snapshot.pull_request)
            order = order or self._order(shown, held)
            if order:
                await self.stop(held, order)
                return Ended(Result.WITHDRAWN, order)
            if barred := exclusion_reason(shown.labels, self._policy.exclude):
                return Ended(Result.PARKED, barred)
            if begins and await self._forge.reviews.at_start(shown.number):
                snapshot = await self._observer.look(held.fence, shown)
        return await self._act(decide(snapshot, now=held.server_now()), held, snapshot)

    def _begins(self, held: Held, seen: PullRequest) -> bool:
        """Return whether the label of a first review is still to be set, whose answer says if there are reviews."""
        stages = self._policy.names.read(seen.labels).stages
        return held.fence.stage is Stage.IN_REVIEW and not held.fence.round and stages == {Stage.REVIEWING}

    def _just_read(self, held: Held) -> PullRequest | None:
        """Return the pull request as the claim has read it, or as it was when our review was posted.

        A review that begins looks again before it is posted; one that approves sets a label, whose reply is newer.
        """
        number, stage = held.fence.key.number, held.fence.stage
        seen = self._read_cache.take(number)
        return (
            seen
            if stage is Stage.IN_REVIEW or (stage is Stage.APPROVED and self._pending_reviews.of(held) is not None)
            else None
        )

    async def _act(self, action: Action, held: Held, snapshot: Snapshot) -> Step:
        log.info("step", action=str(action), stage=str(held.fence.stage), round=held.fence.round)
        match action:
            case Action.REVIEW:
                return await self._review(held, snapshot)
            case Action.REOPEN | Action.READ_ANEW | Action.BEGIN | Action.ACCEPT:
                await self._go_on(action, held, snapshot)
                return None
            case Action.LET_GO:
                return await self._effects.let_go(held, snapshot.pull_request)
            case Action.REQUEST_CHANGES | Action.YIELD | Action.SEND_BACK | Action.SEND_TO_BASE | Action.PUT_OFF:
                return await self._hand_on(action, held, snapshot)
            case Action.MERGE:
                return await self._merge(held, snapshot)
            case Action.ENQUEUE:
                return await self._merging.enqueue(held, snapshot)
            case Action.WAIT | Action.COOL | Action.HAND_OVER | Action.PARK:
                return await self._wait(action, held, snapshot)
            case Action.GIVE_UP_ON_ROUNDS | Action.GIVE_UP_ON_REVIEWS | Action.GIVE_UP_ON_SIZE:
                raise given_up(action, held.fence, self._pending_reviews.of(held))
            case Action.FINISH | Action.WITHDRAW | Action.HAND_BACK | Action.SHOW_HALT:
                return await self._end(action, held, snapshot.pull_request)
            case _:
                assert_never(action)

    async def _merge(self, held: Held, snapshot: Snapshot) -> Step:
        """Merge; show as approved only a pull request that stays open, after people were told why.

        A merge that was put off is shown by the next look, which may see labels or an end that the first reading lacks.
        """
        step = await self._merging.merge(held, snapshot)
        if step is not None and held.fence.stage is Stage.APPROVED:
            now = await self._forge.pulls.pull_request(snapshot.pull_request.number)
            if now.open and now.labels == snapshot.pull_request.labels:
                await self._effects.show_labels(held, now)
        return step

    async def _go_on(self, action: Action, held: Held, snapshot: Snapshot) -> None:
        """Make the moves after which the next look decides."""
        if action is Action.REOPEN:
            await self._pending_reviews.library.bring(snapshot.pull_request)
            await self._effects.reopen(held, snapshot.pull_request)
        elif action is Action.READ_ANEW:
            await self._effects.read_anew(held, snapshot)
        else:
            await self._effects.record(held, Event.CLAIMED if action is Action.BEGIN else Event.APPROVED)

    async def _end(self, action: Action, held: Held, pull_request: PullRequest) -> Ended:
        if action is Action.FINISH:
            return await self._merging.finish(held, pull_request)
        if action is Action.WITHDRAW:
            return await self._effects.withdraw(held, "the pull request was closed", pull_request)
        if action is Action.HAND_BACK:
            return await self._effects.hand_back(held, pull_request)
        return Ended(Result.FAILED, f"halted at {held.fence.stage}")

    async def _hand_on(self, action: Action, held: Held, snapshot: Snapshot) -> Step:
        """Hand it to whoever has to do something before it continues here."""
        pull_request = snapshot.pull_request
        if action is Action.SEND_TO_BASE:
            return await self._effects.send_to_base(held, snapshot)
        if action is Action.SEND_BACK:
            return await self._effects.send_back(held, pull_request)
        if action is Action.PUT_OFF:
            return await self._effects.hold_off(held, Blocker.CHECKS_RED)
        if action is Action.YIELD:
            return await self._effects.pass_on(held, snapshot)
        return await self._effects.request_changes(held, pull_request)

    async def _wait(self, action: Action, held: Held, snapshot: Snapshot) -> Step:
        if action is Action.COOL and snapshot.cool_at is not None:
            return await self._effects.cool(held, snapshot.cool_at)
        return await (self._effects.wait if action is Action.WAIT else self._effects.leave)(held, snapshot)

    async def _review(self, held: Held, snapshot: Snapshot) -> Step:
        """Review with at most two paid calls for one commit; the verdict is dropped if the head has moved meanwhile."""
        if not held.fence.phase:  # set where a person has asked for one more, of a commit that has one
            raise_if_in_flight(held, creation_name(held.fence.work_head))  # before anything is paid for
        draft = await self._pending_reviews.made(held, snapshot.pull_request, self._observer, self._recollection)
        one_look.renew()  # what was read before a paid call is old
        if draft is None:
            why = await self._observer.held_up(snapshot.pull_request)
            return await self._effects.hold_off(held, why) if why else None
        held.check()
        now = await self._forge.pulls.pull_request(snapshot.pull_request.number)
        if (now.head_sha, now.base_branch, now.open) != (draft.sha, draft.onto, True):
            return None  # the next look sees it and decides
        self._read_cache.keep(now.number, now)
        if held.fence.phase:  # what comes now is the review that a person had asked for once more
            await advance(held, FenceChange(phase=""))
        verdict = await self._effects.submit(held, draft)
        await self._effects.resolve(held, self._pending_reviews.settled(held))
        await self._effects.hide_outdated(held, verdict)
        # Decided here: a list of reviews read next could still lack this one, and it would be paid for again.
        snapshot = replace(snapshot, fence=held.fence, verdict=verdict)
        return await self._act(decide(snapshot, now=held.server_now()), held, snapshot)

    async def stop(self, held: Held, reason: str) -> None:
        """Stop by a person's order, noticed between or during steps. Raises `NotShown` if it may be a merge instead."""
        one_look.renew()
        snapshot = await self._observer.look(held.fence)
        await self._check_end(snapshot.pull_request)
        if decide(snapshot, now=held.server_now()) is Action.FINISH:
            await self._merging.finish(held, snapshot.pull_request)
        elif Flag.PAUSED in snapshot.flags:
            await self._effects.show(held, comments.paused(held.fence))  # it goes on when the flag is removed
        else:
            await self._effects.withdraw(held, reason, snapshot.pull_request)

    async def _check_end(self, seen: PullRequest) -> None:
        """Raise `NotShown` if the pull request shows open and its thread closed: one of the answers is outdated."""
        if seen.open and not (await self._forge.issues.issue(seen.number)).open:
            raise NotShown(f"the end of #{seen.number}", PAUSES_SECONDS[0])

    async def wait(self, held: Held, sentence: str) -> None:
        """Post in the thread until when it waits, and why."""
        await self._effects.show(held, comments.waiting(held.fence, sentence))

    async def fail(self, held: Held, error: Blocked) -> None:
        """Hand the pull request to a person, with the flags and the stage that fit the error."""
        flags = error.flags if isinstance(error, RunEnded) else (Flag.MANUAL_INTERVENTION,)
        await self._effects.give_up(held, error, flags)
