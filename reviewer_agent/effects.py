"""The reviewer's effects on GitHub: reviews, labels (after the fence), giving up; merges are in `merge/`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from reviewer_agent import comments
from reviewer_agent.candidates import expected_stage, reopening
from reviewer_agent.errors import Unpostable
from reviewer_agent.links import Source
from reviewer_agent.merge import queue_exit
from reviewer_agent.merge.blockers import ON_ORDER, WAITS, Blocker, WaitReason
from reviewer_agent.merge.merge_decision import first_blocker
from reviewer_agent.merge.queue_exit import QUEUED, UNQUEUED, Outside, QueueEntry
from reviewer_agent.policy import Policy
from reviewer_agent.ports import Forge
from reviewer_agent.review import text as review_text
from reviewer_agent.review.draft import Draft
from reviewer_agent.review.verdict import Judgement, Reader, ReviewVerdict, branch_key, creation_name, mark
from reviewer_agent.snapshot import ASKED, CI_RED, MERGE_REFUSED, TO_BASE, Snapshot
from shared.ci.ci_round import BASE_MOVED, SENT_BACK
from shared.commands.command_rules import reviewed_again
from shared.errors import Blocked, Transient, Unexplained
from shared.github.at_most_once import making
from shared.github.status import Status
from shared.lock.fence import FenceChange, Wait
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from shared.models import PullRequest, ReviewState
from shared.reconcile.start_label import StartLabel
from shared.retry.failures import KEPT_SECONDS
from shared.scheduling.agent_contract import Ended, Rest, Result, Step
from shared.workflow import HALTED, TERMINAL, Event, Stage, Track, move
from shared.workflow.labels import OF_AN_END, Flag

log = structlog.get_logger()

_STATES = {
    Judgement.APPROVED: ReviewState.APPROVED,
    Judgement.CHANGES_REQUESTED: ReviewState.CHANGES_REQUESTED,
    Judgement.INCOMPLETE: ReviewState.COMMENTED,
}


_COMES_FROM = {Stage.IN_REVIEW: Stage.REVIEWING, Stage.APPROVED: Stage.IN_REVIEW}
"""Stage -> the stage whose label must still be there when this one's is set: what follows costs money or merges."""


AGAIN = timedelta(minutes=30)
"""Time until a merge that GitHub refused is retried; a changed merge state allows it earlier."""

LOOK_AT_QUEUE = timedelta(minutes=10)
"""Interval of checks that GitHub's merge queue still has a pull request; a merge itself is noticed at once."""


class Effects:
    """The reviewer's effects on GitHub; every one is convergent or looked up before it is repeated."""

    def __init__(self, forge: Forge, policy: Policy) -> None:
        self._forge = forge
        self._policy = policy
        self._begun = {stage: StartLabel(forge.issues, forge.labels, policy.names) for stage in _COMES_FROM}

    async def show_labels(self, held: Held, pull_request: PullRequest) -> PullRequest:
        """Make the stage label follow the fence; return the pull request with its labels after that.

        It is returned without labels if the previous stage's label was removed meanwhile: an order to stop.
        """
        stage = expected_stage(held.fence)
        if stage is None:
            return pull_request
        if stage in HALTED:
            await self._post_halt(held, Source.of(pull_request))
        if stage in _COMES_FROM:
            asked = self._policy.names.of(_COMES_FROM[stage])
            begun = await self._begun[stage].label(held, pull_request, asked, stage)
            if begun is None:
                return replace(pull_request, labels=frozenset())
            pull_request = begun
        flags = (Flag.MANUAL_INTERVENTION,) if stage in HALTED else ()
        shown = self._policy.names.read(pull_request.labels).stages
        flags_off = OF_AN_END if stage is Stage.IN_REVIEW and shown & HALTED else ()
        labels = await self._forge.labels.show(
            pull_request.number, stage, held, known=pull_request.labels, flags_on=flags, flags_off=flags_off
        )
        return replace(pull_request, labels=labels)

    async def _post_halt(self, held: Held, source: Source) -> None:
        """Post the reason for giving up if it is missing: the agent that gave up may have ended before posting it.

        This happens before the label is set, because the lagging label is how such a pull request is found again.
        """
        told = comments.given_up(held.fence, Unexplained(), self._policy.names, ours=source.ours)
        known = await self._forge.status.data(held.fence.key.number)
        if any(known.get(name) != told.data[name] for name in ("stage", "head", "round")):
            await self.show(held, told)

    async def submit(self, held: Held, draft: Draft) -> ReviewVerdict:
        """Post the one review of this commit; raises `Unpostable` if GitHub refuses it, and `NotShown`."""
        number, body = held.fence.key.number, review_text.review_body(draft)
        now, onto, size = held.server_now(), branch_key(draft.onto), draft.patch.size
        told = (draft.judgement, draft.care, 0, now, onto, size, draft.blockers, draft.text)
        verdict = ReviewVerdict(draft.sha, draft.round, *told)
        text = f"{mark(held.claimant.keys, number, verdict)}\n{body}"
        findings = review_text.inline(draft)
        try:
            async with making(held, creation_name(draft.sha)):
                review = await self._forge.reviews.submit(
                    number, draft.sha, _STATES[draft.judgement], text, findings, held
                )
        except Blocked as error:
            remarks = "\n".join(f"- `{f.path}:{f.line}` {f.body}" for f in findings)
            raise Unpostable(error, f"{body}\n\n{remarks}".strip()) from error
        return replace(verdict, review_id=review.id, at=review.submitted_at)

    async def resolve(self, held: Held, threads: Collection[int]) -> None:
        """Mark threads of ours as resolved. If GitHub refuses that, they stay open, and nothing else changes."""
        if not threads:
            return
        try:
            count = await self._forge.reviews.resolve(held.fence.key.number, threads, held)
            log.info("threads_resolved", outcome="completed", count=count)
        except (Blocked, Transient) as error:
            log.warning("threads_not_resolved", outcome="skipped", error=str(error))

    async def hide_outdated(self, held: Held, newest: ReviewVerdict) -> None:
        """Hide our earlier reviews if the newest one approves. If GitHub refuses that, nothing else changes."""
        if not self._policy.hides_outdated or newest.judgement is not Judgement.APPROVED:
            return
        number, reader = held.fence.key.number, Reader(held.claimant.keys, held.claimant.accounts)
        try:
            reviews = await self._forge.reviews.of(number)
            earlier = [one for one in reviews if one.id != newest.review_id and reader.read(number, one) is not None]
            count = await self._forge.reviews.hide(earlier, held)
            log.info("reviews_hidden", outcome="completed", count=count)
        except (Blocked, Transient) as error:
            log.warning("reviews_not_hidden", outcome="skipped", error=str(error))

    async def reopen(self, held: Held, pull_request: PullRequest) -> None:
        """Take up another head that a review was asked for: decisions about the old head no longer count.

        From here on the fence names this head, so that a later push does not profit from the request. The head's
        objects must be here, because the fence carries it.
        """
        intent = reopening(pull_request, held.fence)
        change = FenceChange(stage=intent.stage, work_head=intent.work_head, attempt=intent.attempt, approved_by="")
        await advance(held, change)

    async def read_anew(self, held: Held, snapshot: Snapshot) -> None:
        """Review this commit once more, because the issue's text has changed since its review, and say so.

        The new text gets a round of changes, however many rounds the old text has taken.
        """
        intent = reopening(snapshot.pull_request, held.fence)
        again, round = reviewed_again(held.fence.work_head), min(held.fence.round, max(snapshot.bounds.rounds - 2, 0))
        change = FenceChange(stage=intent.stage, phase=again, attempt=intent.attempt, round=round, approved_by="")
        await advance(held, change)
        await self.show(held, comments.read_anew(held.fence))

    async def let_go(self, held: Held, pull_request: PullRequest) -> Ended:
        """Stop: other commits than those under review were pushed, and nobody with write access asks to review them."""
        await self.show(held, comments.not_asked(held.fence, pull_request, self._policy.names))
        return Ended(Result.PARKED, "commits were pushed that nobody with write access asked to review")

    async def request_changes(self, held: Held, pull_request: PullRequest) -> Ended:
        """Hand it to the worker, or to the person who wrote it."""
        await self._move_back(held, pull_request, Event.CHANGES_REQUESTED, FenceChange())
        return await self.hand_back(held, pull_request)

    async def pass_on(self, held: Held, snapshot: Snapshot) -> Ended:
        """Pass on a person's request for changes; one request at most `snapshot.PASSED_ON` times."""
        asked = FenceChange(more=_add_trailer(held, ASKED, f"{snapshot.request} {snapshot.times_passed_on + 1}"))
        await self._move_back(held, snapshot.pull_request, Event.CHANGES_REQUESTED, asked)
        return await self.hand_back(held, snapshot.pull_request, by_person=True)

    async def _move_back(self, held: Held, pull_request: PullRequest, event: Event, change: FenceChange) -> None:
        """Record that somebody else is to change it: the fence first, with `change`, then the label."""
        await self.record(held, event, change)
        await self.show_labels(held, pull_request)

    async def hand_back(self, held: Held, pull_request: PullRequest, *, by_person: bool = False) -> Ended:
        """Say what happens next; also the rest of the work if an agent died after `request_changes`."""
        names = self._policy.names
        status = comments.changes_requested(held.fence, pull_request, names, by_person=by_person)
        if held.fence.phase == SENT_BACK:
            status = comments.sent_back(held.fence)
        elif held.fence.phase == BASE_MOVED:
            status = comments.sent_to_base(held.fence, pull_request.base_branch)
        await self.show(held, status)
        return Ended(Result.HANDED_OVER, "changes are requested")

    async def leave(self, held: Held, snapshot: Snapshot) -> Ended:
        """Say why the approved pull request is not merged now, and release it."""
        reason = await self._announce(held, snapshot)
        if reason is Blocker.BASE_RED:  # told once: until the base is green again, nobody claims it
            await advance(held, FenceChange(wait=_wait_of_heartbeat(held, WaitReason.RED_BASE)))
        return Ended(Result.PARKED if reason in ON_ORDER else Result.HANDED_OVER, f"approved; {reason}")

    async def wait(self, held: Held, snapshot: Snapshot) -> Rest:
        """Say what the approved pull request waits for, and keep the lease, because it is merged soon."""
        of_ci = {Blocker.CHECKS_RUNNING, Blocker.CHECKS_AWAITED}
        return Rest("ci" if await self._announce(held, snapshot) in of_ci else "review")

    async def _announce(self, held: Held, snapshot: Snapshot) -> Blocker:
        reason = first_blocker(snapshot)
        if reason is None:
            raise AssertionError("what can be merged is merged")
        lines, blockers = (snapshot.verdict.lines, snapshot.verdict.blockers) if snapshot.verdict else (None, ())
        facts = comments.Facts(lines, snapshot.bounds.lines, snapshot.barred, blockers=blockers)
        ours = Source.of(snapshot.pull_request).ours
        facts = replace(facts, base=snapshot.pull_request.base_branch, missing=snapshot.missing, ours=ours)
        if reason is Blocker.REMARKED:
            facts = replace(facts, missing=snapshot.remarked_by)
        if reason is Blocker.TAKEN_OUT and snapshot.outside is not None:
            facts = replace(facts, github_text=snapshot.outside.sentence(QueueEntry.of(held.fence).times))
        await self._show_blocker(held, reason, facts)
        return reason

    async def cool(self, held: Held, until: datetime) -> Rest | Ended:
        """Record in the fence that the approved pull request is merged at `until`, by the first agent then."""
        wait = Wait(WaitReason.COOLING, until)
        if held.fence.wait != wait:
            await advance(held, FenceChange(wait=wait))
        await self._show_blocker(held, Blocker.COOLING, comments.Facts(until=until))
        if until - held.server_now() <= timedelta(seconds=KEPT_SECONDS):
            return Rest(WaitReason.COOLING, until)
        return Ended(Result.PARKED, f"approved; it is merged at {until:%Y-%m-%d %H:%M} UTC")

    async def send_back(self, held: Held, pull_request: PullRequest) -> Ended:
        """Give it back to the worker, which repairs CI: once for each commit, as the fence records."""
        change = FenceChange(phase=SENT_BACK, more=_add_trailer(held, CI_RED))
        await self._move_back(held, pull_request, Event.CI_BROKE, change)
        return await self.hand_back(held, pull_request)

    async def send_to_base(self, held: Held, snapshot: Snapshot) -> Step:
        """Give it back to the worker, which merges the base: once for each pair of commits, as the fence records.

        Return None if it is another pull request's turn meanwhile.
        """
        base = snapshot.pull_request.base_branch
        if snapshot.by_turn and not await self._forge.updates.take(held, base, complete=snapshot.complete):
            return None
        change = FenceChange(phase=BASE_MOVED, more=_add_trailer(held, TO_BASE, snapshot.base_tip))
        await self._move_back(held, snapshot.pull_request, Event.BASE_MOVED, change)
        return await self.hand_back(held, snapshot.pull_request)

    async def refused(self, held: Held, snapshot: Snapshot, reason: str) -> Ended:
        """Post GitHub's reason for refusing the merge, and retry it later."""
        wait = Wait(WaitReason.REFUSED, held.server_now() + AGAIN)
        state = snapshot.pull_request.merge_state or "unknown"
        await advance(held, FenceChange(wait=wait, more=_add_trailer(held, MERGE_REFUSED, state)))
        facts = comments.Facts(until=wait.until, github_text=reason, base=snapshot.pull_request.base_branch)
        await self._show_blocker(held, Blocker.REFUSED, facts)
        return Ended(Result.HANDED_OVER, f"approved; {Blocker.REFUSED}: {reason}")

    async def queued(self, held: Held, snapshot: Snapshot, entry: QueueEntry) -> Ended:
        """Record that GitHub's merge queue has it, as `entry` says; later looks check that it still does."""
        wait = Wait(WaitReason.QUEUED, held.server_now() + LOOK_AT_QUEUE)
        more = tuple(one for one in _add_trailer(held, QUEUED, entry.state()) if one[0] != UNQUEUED)
        await advance(held, FenceChange(wait=wait, more=more))
        await self._show_blocker(held, Blocker.QUEUED, comments.Facts(base=snapshot.pull_request.base_branch))
        return Ended(Result.HANDED_OVER, f"approved; {Blocker.QUEUED}")

    async def hold_out(self, held: Held, outside: Outside) -> None:
        """Record in the fence that it left GitHub's merge queue, and goes back only on a person's order."""
        await advance(held, FenceChange(more=_add_trailer(held, UNQUEUED, outside.state())))

    async def unqueued(self, held: Held, snapshot: Snapshot, outside: Outside) -> Ended:
        """Post why it left GitHub's merge queue, and when it is put in again."""
        wait = Wait(WaitReason.OUT_OF_QUEUE, held.server_now() + queue_exit.AGAIN)
        await advance(held, FenceChange(wait=wait, more=_add_trailer(held, UNQUEUED, outside.state())))
        said = outside.sentence(QueueEntry.of(held.fence).times)
        facts = comments.Facts(until=wait.until, github_text=said, base=snapshot.pull_request.base_branch)
        await self._show_blocker(held, Blocker.DEQUEUED, facts)
        return Ended(Result.HANDED_OVER, f"approved; {Blocker.DEQUEUED}")

    async def _show_blocker(self, held: Held, blocker: Blocker, facts: comments.Facts) -> None:
        """Post what keeps the approved pull request from being merged now."""
        await self.show(held, comments.approved(held.fence, blocker, self._policy.names, facts))

    async def give_up(self, held: Held, error: Blocked, flags: Collection[Flag]) -> None:
        """Hand it to a person: fence, label and flags, and one comment with the reason."""
        if held.fence.stage not in TERMINAL | {Stage.FAILED, Stage.CHANGES_REQUESTED}:
            # The table has no way from `reviewing` to `failed`: whoever gives up there has taken it up.
            begun = Stage.IN_REVIEW if held.fence.stage is Stage.REVIEWING else held.fence.stage
            await advance(held, FenceChange(stage=move(Track.PULL_REQUEST, begun, Event.GAVE_UP).to))
        text = error.text if isinstance(error, Unpostable) else ""
        ours = (held.memory.get(Source) or Source()).ours
        await self.show(held, comments.given_up(held.fence, error, self._policy.names, text, ours=ours))
        await self._forge.labels.show(held.fence.key.number, held.fence.stage, held, flags_on=tuple(flags))

    async def hold_off(self, held: Held, reason: Blocker) -> Ended:
        """Put off the review, which costs money; the stage stays, and the fence says what to check before a claim."""
        wait = _wait_of_heartbeat(held, next(word for word, named in WAITS.items() if named is reason))
        await advance(held, FenceChange(wait=wait))
        await self.show(held, comments.put_off(held.fence, reason, self._policy.names))
        return Ended(Result.PARKED, str(reason))

    async def withdraw(self, held: Held, reason: str, pull_request: PullRequest) -> Ended:
        """End it by a person's order: the fence records that, and a closed pull request loses its stage labels."""
        if not pull_request.open:
            await self._forge.closing.unlabel(pull_request, held)
        if held.fence.stage is not Stage.WITHDRAWN:
            await advance(held, FenceChange(stage=Stage.WITHDRAWN))
        names, thread = None, None
        if pull_request.open:
            names, thread = self._policy.names, await self._forge.issues.issue(pull_request.number)
        await self.show(held, comments.withdrawn(held.fence, reason, names, thread))
        return Ended(Result.WITHDRAWN, reason)

    async def record(self, held: Held, event: Event, change: FenceChange | None = None) -> None:
        """Record an event in the fence, together with `change`; the next step decides what follows."""
        to = move(Track.PULL_REQUEST, held.fence.stage, event).to
        await advance(held, replace(change or FenceChange(), stage=to))

    async def show(self, held: Held, status: Status) -> None:
        """Put a status into the status comment of the held pull request."""
        await self._forge.status.show(held.fence.key.number, status, held)


def _add_trailer(held: Held, trailer: str, state: str = "") -> tuple[tuple[str, str], ...]:
    """Return the fence's own trailers, with one that names its commit and `state`."""
    more = {**dict(held.fence.more), trailer: f"{held.fence.work_head} {state}".strip()}
    return tuple(more.items())


def _wait_of_heartbeat(held: Held, reason: str) -> Wait:
    return Wait(reason, held.server_now() + timedelta(seconds=held.claimant.times.heartbeat))
