"""The merge of exactly the commit that was judged, one at a time, after a second look; and the tidying after it.

If GitHub refuses a merge, the base is merged in or the merge is retried; a refusal never ends an item.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import structlog

from reviewer_agent import comments, links
from reviewer_agent.candidates import stop_request
from reviewer_agent.decide import Action, decide
from reviewer_agent.effects import Effects
from reviewer_agent.merge.merge_turns import FRESH_SECONDS, MergeTurn
from reviewer_agent.merge.queue_exit import Next, Outside, QueueEntry, cause, following
from reviewer_agent.observe import Observer
from reviewer_agent.policy import Policy
from reviewer_agent.ports import Forge
from reviewer_agent.snapshot import Snapshot
from shared.errors import Blocked, NotAllowed, Outdated, UnknownOutcome
from shared.git import one_look
from shared.github.errors import Refused
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, FenceChange
from shared.lock.fence_moves import advance, end_item, end_resting_fence
from shared.lock.hold import Held
from shared.lock.port import ReadFence, RefUpdate
from shared.models import PullRequest, QueueExit
from shared.scheduling.agent_contract import Ended, Rest, Result, Step
from shared.scheduling.order import exclusion_reason
from shared.workflow import TERMINAL, Role, Stage

_OF_BASE = ("not mergeable", "merge conflict", "out of date", "not up to date", "status checks are expected")
"""GitHub's words for a refusal because of the base; the last is its word for a branch that is behind the base."""

_OF_QUEUE = "through the merge queue"
"""GitHub's words for a branch whose merge queue is required by classic protection, which REST does not show."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Finishing:
    """The state of a merged pull request that is being tidied up: its closing is no order to stop any more."""

    unlabelled: bool = False


class Merging:
    """The merge, and the end of all that ends with it; every effect is convergent."""

    def __init__(self, forge: Forge, observer: Observer, effects: Effects, policy: Policy) -> None:
        self._forge = forge
        self._effects = effects
        self._observer = observer
        self._policy = policy

    async def merge(self, held: Held, snapshot: Snapshot) -> Step:
        """Merge, or give the turn back. A refusal by GitHub ends nothing: see `_handle_refusal`."""
        try:
            return await self._merge_in_turn(held, snapshot)
        except UnknownOutcome:
            self._forge.turns.keep(snapshot.pull_request.number)  # it may be merged: nobody else's turn yet
            raise
        except (Refused, NotAllowed) as refused:
            if isinstance(refused, Refused) and refused.says(_OF_QUEUE):
                return await self._enter_queue(held, snapshot, QueueEntry.of(held.fence))
            return await self._handle_refusal(held, snapshot, refused)
        finally:
            await self._forge.turns.give_back(held, snapshot.pull_request.number)

    async def enqueue(self, held: Held, snapshot: Snapshot) -> Step:
        """Have GitHub's own merge queue merge exactly the commit that was judged, if a second look shows the same."""
        one_look.renew()
        again = await self._observer.look(held.fence)
        if not self._is_same(held, snapshot, again, Action.ENQUEUE):
            return None
        entry = QueueEntry.of(held.fence)
        if entry.head == held.fence.work_head and not snapshot.called_back and snapshot.outside is None:
            place = await self._forge.pulls.queue_place(snapshot.pull_request.node_id, held)
            if place.holds:
                return await self._effects.queued(held, snapshot, entry)
            return await self._handle_exit(held, snapshot, entry, place.queue_exit)
        return await self._enter_queue(held, snapshot, entry)

    async def _enter_queue(self, held: Held, snapshot: Snapshot, entry: QueueEntry) -> Step:
        head, times = held.fence.work_head, 1 if snapshot.called_back else entry.times + 1
        try:
            await self._forge.pulls.enqueue(snapshot.pull_request.node_id, head, held)
        except (Refused, NotAllowed) as refused:
            return await self._handle_refusal(held, snapshot, refused)
        log.info("enqueued", outcome="completed", sha=head, times=times)
        return await self._effects.queued(held, snapshot, QueueEntry(head, times, snapshot.base_tip))

    async def _handle_refusal(self, held: Held, snapshot: Snapshot, refused: Blocked) -> Step:
        """Give it back to have its base merged in if that is the reason, else wait. Raises `Transient`."""
        one_look.renew()
        log.warning("merge_refused", outcome="retrying", error=str(refused))
        now = await self._forge.pulls.pull_request(snapshot.pull_request.number)
        of_base = now.out_of_step or (isinstance(refused, Refused) and refused.says(*_OF_BASE))
        if of_base and not snapshot.sent_to_base and await self._observer.is_repairable(now):
            return await self._effects.send_to_base(held, snapshot)
        reason = refused.message if isinstance(refused, Refused) else str(refused)
        return await self._effects.refused(held, snapshot, reason)

    async def _handle_exit(
        self, held: Held, snapshot: Snapshot, entry: QueueEntry, queue_exit: QueueExit | None
    ) -> Step:
        """Handle a pull request that left the queue: remove the obstacle, or hand it to a person with the reason."""
        repairable = not snapshot.sent_to_base and await self._observer.is_repairable(snapshot.pull_request)
        action = following(cause(queue_exit), entry, snapshot.base_tip, repairable=repairable)
        log.info("left_queue", outcome="retrying", next=str(action), reason=queue_exit.reason if queue_exit else "")
        if action is Next.TO_BASE:
            return await self._effects.send_to_base(held, snapshot)
        if action is Next.ENTER:
            return await self._enter_queue(held, snapshot, entry)
        outside = Outside.seen(held.fence, queue_exit, held=action is Next.HOLD, now=held.server_now())
        if action is Next.LATER:
            return await self._effects.unqueued(held, snapshot, outside)
        await self._effects.hold_out(held, outside)
        return None  # the next look sees it and says so

    async def _merge_in_turn(self, held: Held, snapshot: Snapshot) -> Step:
        """Merge exactly the commit that was judged, when its turn has come and a second look shows the same.

        The second look is conditional: what has not changed since the first is not charged. Raises `HeadMoved`, or
        `Blocked` with GitHub's sentence.
        """
        pull_request, begun = snapshot.pull_request, held.port.boot()
        base = pull_request.base_branch
        turn = MergeTurn(pull_request.number, base, snapshot.base_tip, snapshot.base_checks, held.server_now())
        if not await self._forge.turns.take(held, turn):
            return Rest("merge")
        one_look.renew()  # the base that counts is the one that is read after the turn was taken
        again = await self._observer.look(held.fence)
        fits = self._is_same(held, snapshot, again)
        # Labels, flags, head and base were read first: they are compared once more at the very end.
        if not fits or not await self._is_unchanged(again.pull_request):
            log.info("merge_put_off", outcome="retrying")
            return None  # the next look decides
        late = held.port.boot() - begun >= FRESH_SECONDS  # slow answers: is the turn ours still?
        if late and not await self._forge.turns.take(held, replace(turn, at=held.server_now())):
            return Rest("merge")
        message, sha = comments.merge_message(pull_request, self._policy.trailers), held.fence.work_head
        held.check()
        merged = await self._forge.pulls.merge(pull_request.number, sha, self._policy.merge_method, message, held)
        self._forge.turns.keep(pull_request.number)
        log.info("merged", outcome="completed", sha=merged)
        done = replace(again.pull_request, open=False, merged=True, merge_sha=merged)
        return await self.finish(held, done, again.ordered_by)

    async def _is_unchanged(self, seen: PullRequest) -> bool:
        now = await self._forge.pulls.pull_request(seen.number)
        facts = ("open", "head_sha", "base_branch", "labels")
        return all(getattr(now, fact) == getattr(seen, fact) for fact in facts)

    def _is_same(self, held: Held, snapshot: Snapshot, again: Snapshot, action: Action = Action.MERGE) -> bool:
        pull_request = again.pull_request
        if stop_request(pull_request, held.fence, self._policy.names) or exclusion_reason(
            pull_request.labels, self._policy.exclude
        ):
            return False
        unmoved = again.base_tip == snapshot.base_tip and pull_request.base_branch == snapshot.pull_request.base_branch
        return unmoved and decide(again, now=held.server_now()) is action

    async def finish(self, held: Held, pull_request: PullRequest, by: str = "") -> Ended:
        """Tidy up after the merge and write a tombstone into the fence. A refused tidying does not undo a merge.

        `by` is who ordered the merge, in case that was said after the claim, which records it too.
        """
        one_look.renew()
        self._forge.inbox.dismiss(pull_request.number)
        held.memory.keep(Finishing())
        await self._post_merged(held, pull_request.number)
        approved_by = by or held.fence.approved_by
        if not await self._end_together(held, pull_request, approved_by):
            try:
                await self._tidy(held, pull_request)
            except Blocked as error:
                log.warning("tidying_refused", outcome="skipped", error=str(error))
            await self._forge.closing.unlabel(self._with_left_labels(held, pull_request), held)
            await advance(held, FenceChange(stage=Stage.DONE, approved_by=approved_by))
        return Ended(Result.FINISHED, f"pull request #{pull_request.number} is merged")

    async def _post_merged(self, held: Held, number: int) -> None:
        """Post that it is merged; before the tombstone, after which nobody looks again."""
        try:
            await self._forge.status.revise(number, comments.merged(replace(held.fence, stage=Stage.DONE)), held)
        except Blocked as error:
            log.warning("merge_not_told", outcome="skipped", error=str(error))

    async def _end_together(self, held: Held, pull_request: PullRequest, approved_by: str) -> bool:
        """Close the issue, then end both fences and the branch in one push.

        Return False if one of them cannot be ended that way: the rest is then done one by one.
        """
        number = links.issue_of(pull_request)
        if number is None:
            return False
        try:
            fence = (await held.port.request(ReadFence(ItemKey(Role.WORKER, number)))).value
        except Outdated:  # a newer worker's: it finishes its issue itself
            return False
        if not _is_ours(held, fence, pull_request):
            return False
        resting = fence if fence is not None and _is_at_rest(fence) else None
        updates = self._removals(pull_request) if fence is resting else ()  # somebody who is at work needs the branch
        try:
            await self._close_issue(held, number)
            await self._report_on_issue(held, fence, pull_request)
            return await end_item(held, resting, updates, approved_by=approved_by)
        except Blocked:
            return False

    async def _tidy(self, held: Held, pull_request: PullRequest) -> None:
        number = links.issue_of(pull_request)
        if number is None:
            return
        fence = (await held.port.request(ReadFence(ItemKey(Role.WORKER, number)))).value
        if not _is_ours(held, fence, pull_request):
            return
        await self._report_on_issue(held, fence, pull_request)
        try:
            await self._close_issue(held, number)
        except Blocked as error:
            log.warning("tidying_refused", outcome="skipped", error=str(error))
        if fence is not None and _is_at_rest(fence):
            await self._end_issue_fence(held, fence, self._removals(pull_request))

    async def _end_issue_fence(self, held: Held, fence: Fence, gone: tuple[RefUpdate, ...]) -> None:
        """End the issue's own fence together with its pull request; claiming a closed issue for that would be noise.

        The branch goes with it or, if that is refused, stays: without the fence nobody knows whether it is in use.
        """
        try:
            if await end_resting_fence(held, fence.key, fence.stage, gone):
                return
        except Blocked as error:
            log.warning("tidying_refused", outcome="skipped", error=str(error))
        if gone and fence.stage not in TERMINAL:
            await end_resting_fence(held, fence.key, fence.stage)

    def _removals(self, pull_request: PullRequest) -> tuple[RefUpdate, ...]:
        """Return the removal of its branch, which only succeeds while that is at the merged commit."""
        branch = RefUpdate(f"refs/heads/{pull_request.head_branch}", pull_request.head_sha, "")
        return (branch,) if self._policy.delete_branch else ()

    async def _report_on_issue(self, held: Held, fence: Fence | None, pull_request: PullRequest) -> None:
        """Post the merge on the issue, if its worker's fence names this pull request and nobody works on it any more.

        At `withdrawn` a person had stopped or closed it, and then had it reviewed anyway. The labels are removed from
        the pull request in any case.
        """
        left = self._with_left_labels(held, pull_request)
        if fence is not None and fence.pr == pull_request.number and _is_at_rest(fence):
            await self._forge.closing.merged(fence, left, held)
        else:
            await self._forge.closing.unlabel(left, held)
        held.memory.keep(Finishing(unlabelled=True))

    def _with_left_labels(self, held: Held, pull_request: PullRequest) -> PullRequest:
        """Return the pull request with the labels that are still on it."""
        if (done := held.memory.get(Finishing)) is None or not done.unlabelled:
            return pull_request
        ours = self._policy.names.engine_labels(pull_request.labels)
        return replace(pull_request, labels=pull_request.labels.difference(ours))

    async def _close_issue(self, held: Held, issue: int) -> None:
        """Close the issue, which GitHub does itself if the base is the default branch."""
        if (await self._forge.issues.issue(issue)).open:
            await self._forge.issues.close(issue, held)


def _is_at_rest(fence: Fence) -> bool:
    """Return whether nobody works on the issue: it waits for its review, or has ended."""
    return fence.stage is Stage.REVIEWING or fence.stage in TERMINAL


def _is_ours(held: Held, fence: Fence | None, pull_request: PullRequest) -> bool:
    """Return whether we opened the pull request or the worker's fence names it; a branch's name proves nothing."""
    named = fence is not None and fence.pr == pull_request.number
    return named or pull_request.author.id in held.claimant.accounts
