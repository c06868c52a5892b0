"""The pull request of a green commit: adopted, opened, or not needed; its body, renewed after every push of ours."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import structlog

from shared.errors import Blocked, NotAllowed
from shared.git.mirror import Mirror
from shared.github.errors import NothingToPull, NotShown, Refused
from shared.github.ports import Pulls
from shared.github.pulls import ALREADY
from shared.github.replica_lag import PATIENCE_SECONDS
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from shared.models import Issue, PullRequest
from shared.newest import Newest
from shared.scheduling.agent_contract import Ended, Result
from shared.specification import read
from shared.workflow import Stage
from worker_agent import change_facts, comments, pull_request_body
from worker_agent.decide import HANDS_OVER, Action, Snapshot
from worker_agent.effects import Effects
from worker_agent.phase_tools import PhaseTools
from worker_agent.policy import Policy
from worker_agent.ports import Forge

log = structlog.get_logger()

DOUBT_SECONDS = 8.0
"""Seconds between two tries to open a pull request if GitHub's answers contradict git."""

FOLLOWED_BY = HANDS_OVER | {Action.ANSWER_REVIEW, Action.WAIT_FOR_CI, Action.RERUN_CI, Action.WAIT_FOR_BASE}
"""Steps that come after a push: the body itself shows whether it is up to date, so a crash loses nothing."""

MOST = 500
"""The most pull requests whose last update is remembered."""


class PullRequestClosed(Blocked):
    """A person closed the pull request of this very commit without merging it: reopen it to go on."""


@dataclass(frozen=True, slots=True)
class _Built:
    """The last commit that this lease made."""

    commit: str


class Opening:
    """The step from a green commit to its pull request; it can be repeated without harm."""

    def __init__(self, forge: Forge, effects: Effects, source: Mirror, policy: Policy) -> None:
        self._forge = forge
        self._effects = effects
        self._source = source
        self._policy = policy

    def note_built(self, held: Held) -> None:
        """Record that this lease just made the fence's commit: nobody can have opened or closed its pull request yet.

        That holds for one try to open it; if its reply is lost, the next try looks first.
        """
        held.memory.keep(_Built(held.fence.work_head))

    async def pull_request(
        self, held: Held, snapshot: Snapshot, body: str, labels: Collection[str]
    ) -> tuple[Issue, PullRequest] | Ended:
        """Return the open pull request of the work branch, or the end of an item whose work the base has already.

        The pull request gets `labels` and those of its issue's priority. The issue gets its stage and is returned, too.
        Raises `PullRequestClosed`, and `NotAllowed` with advice for a person.
        """
        try:
            opened = await self._find_or_open(held, snapshot, body)
        except NothingToPull as refused:
            return await self._finish(held, snapshot, refused)
        except Refused as refused:
            if refused.says(*ALREADY):
                await self._doubt(held)
            raise
        except NotAllowed as refused:
            refused.advice = (
                "Let this token open pull requests (`pull_requests: write`, and what the organisation allows); "
                "`/retry` then opens this one, and nothing is paid again."
            )
            raise
        issue = await self._effects.show_opened_labels(
            held, snapshot.issue, opened, {*labels, *self._priority_labels(snapshot.issue)}
        )
        await advance(held, FenceChange(pr=opened.number))
        await self._forge.status.show(held.fence.key.number, comments.waiting_for_ci(held.fence), held)
        return issue, opened

    def _priority_labels(self, issue: Issue) -> set[str]:
        """Return the priority labels of an issue: its review and its merge are as urgent as the issue."""
        known = {label.casefold() for label in self._policy.intake.priorities}
        return {label for label in issue.labels if label.casefold() in known}

    async def _find_or_open(self, held: Held, snapshot: Snapshot, body: str) -> PullRequest:
        """Return the pull request: adopted if it exists, opened if not."""
        branch = comments.branch(held.fence)
        new = held.memory.take(_Built) == _Built(held.fence.work_head)
        found = () if new else await self._forge.pulls.of_branch(branch)
        opened = next((pull for pull in found if pull.open), None)
        if opened is not None:
            return opened
        if any(not pull.merged and pull.head_sha == held.fence.work_head for pull in found):
            raise PullRequestClosed  # one with another head is of an earlier start, which a person has ended
        title = pull_request_body.title(self._policy.pulls.title, snapshot.issue, read(snapshot.issue.body).kind)
        return await self._forge.pulls.open(title, body, branch, self._policy.base_branch, held)

    async def _finish(self, held: Held, snapshot: Snapshot, refused: NothingToPull) -> Ended:
        """End the item: the very commit is on the base. Git is checked, too: a branch that was moved is not done.

        In the order of every end, because no agent looks at an open issue whose fence has ended.
        """
        base, work = self._policy.base_branch, held.fence.work_head
        tip = await self._source.refresh(f"refs/heads/{base}")
        if tip is None or not await self._source.is_ancestor(work, tip):
            await self._doubt(held)
            refused.advice = f"Put {work[:12]} back on `{comments.branch(held.fence)}`, if it is still wanted;"
            raise refused
        await self._effects.show_labels(held, snapshot.issue, None)  # its labels waited for a pull request
        told = comments.nothing_left(replace(held.fence, stage=Stage.DONE), base)
        await self._forge.status.show(held.fence.key.number, told, held)
        await self._forge.issues.close(snapshot.issue.number, held)
        await advance(held, FenceChange(stage=Stage.DONE))
        return Ended(Result.FINISHED, told.sentence)

    async def _doubt(self, held: Held) -> None:
        """Raise `NotShown` if git has our commit on its branch, and the push is so young that the API may not show it.

        The API may neither know its commits nor list the pull request that a lost reply was about.
        """
        age = (held.server_now() - held.fence.at).total_seconds()
        branch = comments.branch(held.fence)
        if age < PATIENCE_SECONDS and await self._source.refresh(f"refs/heads/{branch}") == held.fence.work_head:
            raise NotShown(f"what was made of `{branch}`", min(DOUBT_SECONDS, PATIENCE_SECONDS - age))


class BodyUpdates:
    """Updates the bodies of one repository's pull requests."""

    def __init__(self, pulls: Pulls, tools: PhaseTools) -> None:
        self._pulls = pulls
        self._tools = tools
        self._written: Newest[int, str] = Newest(MOST)
        """The heads as last written, so that a stale reading does not cause a second write."""

    async def follow(self, action: Action, held: Held, seen: Snapshot) -> bool:
        """Write the proof of the head into a body that shows another one; return whether it was written.

        Text that people have written around it stays, and a body without a proof is left alone. Raises `Transient`.
        """
        pull_request, head = seen.pull_request, held.fence.work_head
        if action not in FOLLOWED_BY or pull_request is None or pull_request.head_sha != head:
            return False
        number = pull_request.number
        if pull_request_body.shown_head(pull_request.body) in {"", head} or self._written.get(number) == head:
            return False
        change = await change_facts.described(self._tools, held, seen.issue)
        text = pull_request_body.renewed(pull_request.body, change) if change is not None else None
        if text is None:
            return False
        held.check()
        try:
            await self._pulls.edit(number, body=text, permit=held)
        except Blocked as error:
            log.warning("description_not_renewed", outcome="skipped", number=number, error=str(error))
        self._written[number] = head
        return True
