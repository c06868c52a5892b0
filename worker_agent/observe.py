"""What the worker sees of a held item: raw facts folded into one snapshot, once."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from shared.ci.verdict import Verdict, fold
from shared.lock.codec import Fence
from shared.lock.hold import Held
from shared.models import Issue, PullRequest
from shared.specification import read
from shared.workflow import Stage
from worker_agent.decide import Bounds, Head, Snapshot
from worker_agent.policy import Policy
from worker_agent.ports import Forge


class History(Protocol):
    """What git knows of a work branch."""

    async def relation(self, ours: str, head_sha: str) -> Head:
        """How a pull request's head relates to our commit."""
        ...

    async def fixes(self, fence: Fence) -> int:
        """How many CI repairs the current round has committed."""
        ...


class Observer:
    """Looks at a held item through GitHub and git."""

    def __init__(self, forge: Forge, history: History, policy: Policy) -> None:
        self._forge = forge
        self._history = history
        self._policy = policy

    async def look(self, held: Held) -> Snapshot:
        """The item as it is now; raises `Transient` or `Gone`."""
        fence = held.fence
        issue = await self._forge.issues.issue(fence.key.number)
        pull_request = await self._forge.pulls.pull_request(fence.pr) if fence.pr else None
        snapshot = Snapshot(fence, issue, pull_request, bounds=self._bounds(issue))
        if fence.stage is not Stage.TESTING or pull_request is None:
            return snapshot
        return replace(
            snapshot,
            checks=await self._verdict(fence),
            head=await self._head(fence, pull_request),
            ci_fixes=await self._history.fixes(fence),
        )

    async def _verdict(self, fence: Fence) -> Verdict:
        return fold(await self._forge.checks.of(fence.work_head))

    async def _head(self, fence: Fence, pull_request: PullRequest) -> Head:
        if pull_request.head_sha == fence.work_head:
            return Head.OURS
        return await self._history.relation(fence.work_head, pull_request.head_sha)

    def _bounds(self, issue: Issue) -> Bounds:
        """The configuration's bounds, with what the specification asks for itself."""
        wanted = read(issue.body).settings.max_attempts
        return replace(self._policy.bounds, attempts=wanted) if wanted else self._policy.bounds
