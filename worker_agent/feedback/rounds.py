"""One round of feedback: the remarks that its coder is shown, and the answers that follow its push.

Nothing here is remembered beyond the lease. Planned answers travel with the commit, in its note; posted answers are on
GitHub and name the versions they answer. So a restart posts nothing twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from shared.errors import Gone
from shared.git.notes import RemarkAnswer
from shared.github.at_most_once import making
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from shared.workflow import Event, Stage, Track, move
from worker_agent.decide import NextStep
from worker_agent.feedback import answers, status_text
from worker_agent.feedback.items import Item
from worker_agent.feedback.reading import MOST, Feedback, FeedbackSnapshot
from worker_agent.phase_commits import PhaseCommits
from worker_agent.ports import Forge

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _RoundItems:
    """The items that the coder was shown for one round."""

    round: int
    items: tuple[Item, ...]


class Rounds:
    """The rounds of one repository's pull requests; at most `most` follow one another."""

    def __init__(self, feedback: Feedback, forge: Forge, phase_commits: PhaseCommits, most: int) -> None:
        self._feedback = feedback
        self._forge = forge
        self._phase_commits = phase_commits
        self._most = most

    async def round_items(self, held: Held) -> tuple[Item, ...]:
        """Return the items of this round, fixed for the lease: a coder's answers refer to their numbers."""
        known = held.memory.get(_RoundItems)
        if known is None or known.round != held.fence.round:
            reading = await self._feedback.read(held.fence.pr)
            known = held.memory.keep(_RoundItems(held.fence.round, reading.items[:MOST]))
        return known.items

    async def answer(self, held: Held) -> status_text.Ignored:
        """Post the answers of the fence's commit, each once, and go on: to CI, or to remarks made meanwhile.

        Returns the texts that are ignored. Raises `Transient` if an answer may not have arrived.
        """
        number, commit = held.fence.pr, held.fence.work_head
        given = await self._planned_answers(held)
        seen = await self._feedback.read(number, [name for one in given for name in one.of])
        await self._post(held, _missing_answers(answers.spoken(given), seen), seen)
        late = len(seen.items)
        again = late > 0 and held.fence.round < self._most
        log.info("feedback_answered", outcome="completed", commit=commit, answers=len(given), late=late)
        status = status_text.with_ignored(status_text.answered(held.fence, given, late, again=again), seen.ignored)
        await self._forge.status.show(held.fence.key.number, status, held)
        held.memory.take(_RoundItems)
        if again:
            stage = held.fence.stage
            if stage is Stage.TESTING:  # else a command has led on to what was left to say
                stage = move(Track.PULL_REQUEST, stage, Event.CHANGES_REQUESTED).to
            await advance(held, FenceChange(stage=stage, phase=NextStep.FEEDBACK, round=held.fence.round + 1))
        else:
            await advance(held, FenceChange(phase=NextStep.CI))
        return status_text.Ignored(seen.ignored)

    async def _planned_answers(self, held: Held) -> tuple[RemarkAnswer, ...]:
        space = await self._phase_commits.open(held.fence)
        note = (await self._phase_commits.notes(space, held.fence)).get(held.fence.work_head)
        return () if note is None else note.answers

    async def _post(self, held: Held, missing: Sequence[RemarkAnswer], seen: FeedbackSnapshot) -> None:
        """Post answers in their threads, and the rest in one comment; a thread that was just deleted takes none."""
        number, commit, keys = held.fence.pr, held.fence.work_head, held.claimant.keys
        rest = [one for one in missing if one.root not in seen.roots]
        for one in missing:
            if one.root in seen.roots:
                try:
                    text = answers.reply(number, one, commit, keys)
                    async with making(held, f"answer-{one.root}-{commit[:12]}"):
                        await self._forge.reviews.reply(number, one.root, text, held)
                except Gone:
                    rest.append(one)
        if rest:
            text = answers.conversation(number, rest, commit, keys)
            async with making(held, f"answers-{commit[:12]}"):
                await self._forge.comments.post(number, text, held)


def _missing_answers(replies: Sequence[RemarkAnswer], seen: FeedbackSnapshot) -> list[RemarkAnswer]:
    """Return the answers still to post: no posted ones, and none about texts that were all deleted."""
    return [
        one
        for one in replies
        if not seen.answered.issuperset(one.of) and any(name.partition("@")[0] in seen.present for name in one.of)
    ]
