"""The worker's view of a held item: raw facts folded into one snapshot, once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from shared.ci.ci_round import CiObservation
from shared.ci.verdict import CiVerdict
from shared.github.listing import brief
from shared.lock.fence import Fence
from shared.lock.hold import Held
from shared.models import Issue, PullRequest
from shared.specification import read
from shared.workflow import Stage
from worker_agent.branch.history import History
from worker_agent.ci.ci_reader import CiReader
from worker_agent.decide import WORKING, Action, Bounds, Head, Snapshot, decide, is_edited
from worker_agent.intake.trusted_accounts import TrustedWriters
from worker_agent.policy import Policy
from worker_agent.ports import Forge

_Versions = tuple[datetime | None, datetime | None]
"""Times of the last change of the issue and its pull request, from the change list."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """The complete last reading of an item that waits for CI; without versions if it had just been opened."""

    versions: _Versions | None
    snapshot: Snapshot


class Observer:
    """Looks at a held item through GitHub and git."""

    def __init__(
        self, forge: Forge, history: History, ci_reader: CiReader, writers: TrustedWriters, policy: Policy
    ) -> None:
        self._forge = forge
        self._history = history
        self._ci_reader = ci_reader
        self._writers = writers
        self._policy = policy

    def expect(self, held: Held, issue: Issue, opened: PullRequest) -> None:
        """Record that the pull request has just been opened: this is the snapshot until its checks report something."""
        if opened.head_sha == held.fence.work_head:
            seen = Snapshot(held.fence, issue, opened, bounds=self._bounds(issue))
            held.memory.keep(_Waiting(None, seen))
            self._ci_reader.expect(held.fence)

    def forget(self, held: Held) -> None:
        """Discard the cached reading, so that the next look reads everything."""
        held.memory.take(_Waiting)

    async def look(self, held: Held, seen: Issue | None = None) -> Snapshot:
        """Return the item as it is now; raise `Transient` or `Gone`. `seen` is the issue if it was read just now.

        While it waits for CI, only its checks are read anew as long as the change list shows neither the issue nor the
        pull request as changed: two free requests per poll instead of four.
        """
        fence = held.fence
        number = fence.key.number
        if fence.stage is not Stage.TESTING or not fence.pr:
            self.forget(held)
            issue = seen or await self._forge.issues.issue(number)
            pull_request = await self._forge.pulls.pull_request(fence.pr) if fence.pr else None
            rewritten = await self._is_rewritten(fence, issue)
            return Snapshot(fence, issue, pull_request, rewritten=rewritten, bounds=self._bounds(issue))
        versions = (self._forge.inbox.version(number), self._forge.inbox.version(fence.pr))
        reading, fresh = await self._ci_reader.glance(fence)
        last = held.memory.get(_Waiting)
        if (
            last is not None
            and None not in versions
            and (last.versions == versions or (last.versions is None and self._is_listed(last.snapshot.issue)))
            and _still_waits(last.snapshot, reading, held)
        ):
            held.memory.keep(_Waiting(versions, last.snapshot))
            return replace(last.snapshot, checks=reading.verdict)
        snapshot = await self._whole(fence, reading if fresh else await self._ci_reader.read(fence))
        return held.memory.keep(_Waiting(versions, snapshot)).snapshot

    async def _whole(self, fence: Fence, reading: CiObservation) -> Snapshot:
        issue = await self._forge.issues.issue(fence.key.number)
        pull_request = await self._forge.pulls.pull_request(fence.pr)
        await self._policy.base.note_target(pull_request.base_branch)
        head = await self._head(fence, pull_request)
        unknown = head is Head.OURS and pull_request.open and pull_request.mergeable is None
        return Snapshot(
            fence,
            issue,
            pull_request,
            checks=reading.verdict,
            ci=await self._ci_reader.diagnosed(fence, reading) if head is Head.OURS else reading,
            head=head,
            collides=unknown and await self._history.collides(fence, pull_request.base_branch),
            rewritten=await self._is_rewritten(fence, issue),
            ci_fixes=await self._history.fixes(fence),
            bounds=self._bounds(issue),
        )

    async def _head(self, fence: Fence, pull_request: PullRequest) -> Head:
        if pull_request.head_sha == fence.work_head:
            return Head.OURS
        return await self._history.relation(fence, pull_request.head_sha)

    async def _is_rewritten(self, fence: Fence, issue: Issue) -> bool:
        """Return whether only people with write access can have edited the issue: nobody else may edit their text."""
        if fence.stage not in WORKING or not is_edited(fence, issue):
            return False
        return self._writers.is_engine(issue.author) or await self._writers.may_order(issue.author)

    def _is_listed(self, issue: Issue) -> bool:
        """Return whether the change list shows the issue as it was read, except for the time of its last change."""
        listed = self._forge.inbox.known.get(issue.number)
        return listed is not None and replace(listed, updated_at=issue.updated_at) == brief(issue)

    def _bounds(self, issue: Issue) -> Bounds:
        """Return the configured bounds, lowered to the limits that the specification sets."""
        return self._policy.bounds.lowered(read(issue.body).settings.max_attempts)


def _still_waits(snapshot: Snapshot, reading: CiObservation, held: Held) -> bool:
    """Return whether nothing follows yet; before any action and before a red CI is judged, everything is read."""
    if snapshot.fence != held.fence or (reading.verdict is CiVerdict.RED and reading.checks != snapshot.ci.checks):
        return False
    snapshot = replace(snapshot, checks=reading.verdict, ci=replace(snapshot.ci, no_ci=reading.no_ci))
    return decide(snapshot, now=held.server_now()) is Action.WAIT_FOR_CI
