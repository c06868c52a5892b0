"""Requests for a review by people who may ask: every review is paid for, and anybody can push to a fork."""

from __future__ import annotations

from collections.abc import Collection

from reviewer_agent import links
from reviewer_agent.ports import Forge
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.lock.port import Port, ReadFence
from shared.models import Account, LabelEvent, PullRequest
from shared.workflow import Role, Stage
from shared.workflow.labels import Labels


class ReviewRequest:
    """Reads from GitHub who set the label, and from the worker's fence whose commit the head is."""

    def __init__(
        self, forge: Forge, port: Port, accounts: Collection[int], names: Labels, other_accounts: Collection[int] = ()
    ) -> None:
        """Use the engine's `accounts`; what `other_accounts`, those of its other agents, ask for is in their fences."""
        self._forge = forge
        self._port = port
        self._accounts = accounts
        self._names = names
        self._other_accounts = other_accounts

    async def first(self, pull_request: PullRequest, fence: Fence | None) -> bool:
        """Return whether somebody with write access set the label that a claim would begin with, for this review.

        A label that is left over from an earlier review asks for nothing. Raises `Transient`.
        """
        reviewing = Stage.REVIEWING in self._names.read(pull_request.labels).stages
        if reviewing and await self._handed_over(pull_request, fence):
            return True
        event = await self._newest(pull_request.number, Stage.REVIEWING if reviewing else Stage.IN_REVIEW)
        if event is None or not await self._may_ask(event.actor):
            return False
        if fence is None or event.at > fence.at:
            return True
        # Setting `reviewing` may be the very order after which the old review was withdrawn.
        withdrawn = reviewing and fence.stage is Stage.WITHDRAWN
        return withdrawn or await self.by_worker(pull_request) is not None

    async def again(self, pull_request: PullRequest, fence: Fence) -> bool:
        """Return whether a head that is not the fence's is our worker's, or was asked for by label since the fence."""
        return await self.by_worker(pull_request) is not None or await self.since(pull_request, fence)

    async def since(self, pull_request: PullRequest, fence: Fence) -> bool:
        """Return whether somebody who may ask has set `reviewing` since the fence. Raises `Transient`."""
        event = await self._newest(pull_request.number, Stage.REVIEWING)
        return event is not None and event.at > fence.at and await self._may_ask(event.actor)

    async def _newest(self, number: int, stage: Stage) -> LabelEvent | None:
        """Return the label's last setting, unless a person has removed it since; we remove it ourselves to begin."""
        name = self._names.of(stage).casefold()
        events = [e for e in await self._forge.issues.label_events(number) if e.label.casefold() == name]
        newest = next((e for e in reversed(events) if e.added or e.actor.id not in self._accounts), None)
        return newest if newest is not None and newest.added else None

    async def trusts(self, account: Account) -> bool:
        """Return whether only people with write access can have changed what `account` wrote. Raises `Transient`."""
        return account.id in self._accounts or await self._may_ask(account)

    async def _may_ask(self, account: Account) -> bool:
        if account.id in self._accounts and account.id not in self._other_accounts:
            return True  # ours, so that it may write is known
        return (await self._forge.people.permission(account.login)).may_write

    async def _handed_over(self, pull_request: PullRequest, since: Fence | None) -> bool:
        """Return whether our worker asks: its fence, which nobody without write moves, rests with this commit."""
        fence = await self.by_worker(pull_request)
        if fence is None or fence.stage is not Stage.REVIEWING:
            return False
        return since is None or fence.at > since.at

    async def by_worker(self, pull_request: PullRequest) -> Fence | None:
        """Return the worker's fence, if it names this pull request and its head."""
        fence = await self.of_worker(pull_request)
        return fence if fence is not None and fence.work_head == pull_request.head_sha else None

    async def of_worker(self, pull_request: PullRequest) -> Fence | None:
        """Return the worker's fence, if it names this pull request, whatever its head. Raises `Transient`."""
        issue = links.issue_of(pull_request)
        if issue is None:
            return None
        fence = (await self._port.request(ReadFence(ItemKey(Role.WORKER, issue)))).value
        return fence if fence is not None and fence.pr == pull_request.number else None
