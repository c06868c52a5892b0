"""Reviews that are paid for and not submitted yet: kept as long as their lease, so that none is paid for twice."""

from __future__ import annotations

from dataclasses import dataclass, replace

import structlog

from reviewer_agent.observe import Observer
from reviewer_agent.review.answer import BreakingChange, ReviewAnswer
from reviewer_agent.review.draft import Draft, Placed
from reviewer_agent.review.previous_findings import PreviousFindings
from reviewer_agent.review.review_calls import ReviewCalls
from reviewer_agent.review.review_input import ReviewInput, ReviewInputs
from reviewer_agent.review.verdict import Judgement, ReviewVerdict
from reviewer_agent.snapshot import TO_BASE
from shared.commands.command_rules import reviewed_again
from shared.lock.hold import Held
from shared.models import PullRequest
from shared.retry.run_limit import begin_run

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Kept:
    material: ReviewInput
    draft: Draft
    finished: bool
    phase: str = ""
    """The fence's phase when the review was begun."""


class PendingReviews:
    """The drafts of one agent, by pull request."""

    def __init__(self, library: ReviewInputs, examiner: ReviewCalls, *, second_pass: bool = True) -> None:
        """With `second_pass`, check an approval by a second call before it is a draft."""
        self.library = library
        self._examiner = examiner
        self._second_pass = second_pass

    def of(self, held: Held) -> Draft | None:
        """Return the draft that is kept; None if there is none."""
        kept = held.memory.get(_Kept)
        return kept.draft if kept else None

    def settled(self, held: Held) -> frozenset[int]:
        """Return the threads of our earlier findings that the kept review finds resolved."""
        kept = held.memory.get(_Kept)
        if kept is None:
            return frozenset()
        resolved = [one.id for one in kept.draft.answer.earlier if one.resolved]
        approved = kept.draft.judgement is Judgement.APPROVED
        return kept.material.earlier.settled(resolved, approved=approved)

    async def made(
        self, held: Held, pull_request: PullRequest, observer: Observer, recollection: PreviousFindings
    ) -> Draft | None:
        """Return the review of the fence's head; None if a person has stopped its issue.

        A failed second pass is tried again without the first one being paid for again. Raises what the calls raise, and
        `Transient`.
        """
        fence = held.fence
        kept = held.memory.get(_Kept)
        wanted = (fence.work_head, fence.round, pull_request.base_branch)
        once_more = kept is not None and fence.phase not in {"", kept.phase}
        if kept is None or once_more or (kept.draft.sha, kept.draft.round, kept.draft.onto) != wanted:
            earlier = await recollection.of(pull_request, fence.round)
            subject = await observer.subject(pull_request)
            if subject is None:
                return None
            material = await self.library.gather(pull_request, subject, earlier)
            draft = await self._repeat_approval(held, material, recollection)
            if draft is None:
                await begin_run(held)
                draft = await self._examiner.review(material, fence.round)
            kept = held.memory.keep(_Kept(material, draft, not self._needs_check(draft), fence.phase))
        elif not kept.finished:
            await begin_run(held)
        if not kept.finished:
            draft = await self._examiner.check(kept.material, kept.draft)
            kept = held.memory.keep(replace(kept, draft=draft, finished=True))
        return kept.draft

    async def _repeat_approval(self, held: Held, material: ReviewInput, recollection: PreviousFindings) -> Draft | None:
        """Return our approval of the commit that was given back for a merge of its base, if nothing else has changed.

        It does not answer a person who wants the change reviewed once more.
        """
        given, again = dict(held.fence.more).get(TO_BASE, ""), reviewed_again(held.fence.work_head)
        if not given or held.fence.phase == again:
            return None
        approved = await recollection.approved(material.pull_request)
        if approved is None or approved.sha != given.partition(" ")[0]:
            return None
        if approved.text not in {"", material.subject.text}:
            return None
        if not await self.library.is_same(material, approved.sha):
            return None
        log.info("approval_repeated", outcome="completed", sha=material.pull_request.head_sha, of=approved.sha)
        return repeated(material, approved, held.fence.round)

    def _needs_check(self, draft: Draft) -> bool:
        """Return whether it needs a second pass: not without an approval, nor if that repeats a checked one."""
        return self._second_pass and draft.judgement is Judgement.APPROVED and draft.earlier is None


def repeated(review_input: ReviewInput, earlier: ReviewVerdict, round: int) -> Draft:
    """Return the approval `earlier` as one of the present head, into which only its base was merged (pure)."""
    pull = review_input.pull_request
    summary = f"The change is the one that was approved at {earlier.sha[:12]}: only its base was merged into it."
    nothing_breaks = BreakingChange(breaks=False, why="")
    answer = ReviewAnswer(verdict="approved", summary=summary, findings=(), criteria=(), breaking_change=nothing_breaks)
    return Draft(
        pull.head_sha,
        round,
        answer,
        Placed((), ()),
        review_input.change,
        removed=review_input.removed,
        onto=pull.base_branch,
        doubt=review_input.recorded.doubt,
        earlier=earlier,
        text=review_input.subject.text,
    )
