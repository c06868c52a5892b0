"""The accounts whose labels and reviews count: people's by their rights, the engine's own as its fences agree."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from shared.github.ports import People
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.lock.port import ReadFence, Reply
from shared.models import Account, Issue
from shared.specification import Provenance, authentic
from shared.specification.layout import trailer_of
from shared.text.comment_signatures import Keyring
from shared.workflow import Role, Stage
from worker_agent.intake.intents import Cause

ReadsFence = Callable[[ReadFence], Awaitable[Reply[Fence | None]]]
"""Reads a fence; `request` of every port of the lock does."""


class TrustedWriters:
    """Our own account, everybody with write access, and for their signed texts the engine's other accounts."""

    def __init__(self, people: People, accounts: Collection[int], other_accounts: Collection[int] = ()) -> None:
        """`accounts` are the engine's, `other_accounts` those among them that its other agents sign in with."""
        self._people = people
        self._accounts = accounts
        self._other_accounts = other_accounts

    def is_engine(self, account: Account) -> bool:
        """Return whether `account` is one of the engine's; does not ask GitHub."""
        return account.id in self._accounts

    async def may_order(self, account: Account) -> bool:
        """Return whether an order by `account` counts by itself; raise `Transient` if GitHub does not answer."""
        # Of ourselves it is known, and of an App GitHub would not say it.
        own = self.is_engine(account) and account.id not in self._other_accounts
        return own or (await self._people.permission(account.login)).may_write


class OtherAccounts:
    """The engine's other accounts. GitHub confirms no App's write access; the right to move a fence proves it."""

    def __init__(self, read_fence: ReadsFence, accounts: Collection[int], keys: Keyring) -> None:
        """`accounts` are the ids that the engine's other agents sign in with."""
        self._read_fence = read_fence
        self._accounts = accounts
        self.keys = keys

    async def asks(self, account: Account, label: Cause, issue: Issue) -> bool:
        """Return whether `account` is the engine's, and the fence of the label's agent agrees with the label.

        The reviewer may ask for changes, and the planner for a specification of an approved plan; no agent asks another
        one for anything else. Raises `Transient`.
        """
        if account.id not in self._accounts:
            return False
        if Stage.CHANGES_REQUESTED in label.stages:
            return await self.requested(label.number) is not None
        return Stage.READY in label.stages and await self._is_planned(issue)

    async def requested(self, number: int) -> Fence | None:
        """Return the reviewer's fence of a pull request that it gave back; its phase is the reason.

        Raises `Transient`.
        """
        fence = await self._fence(Role.REVIEWER, number)
        return fence if fence is not None and fence.stage is Stage.CHANGES_REQUESTED else None

    async def _is_planned(self, issue: Issue) -> bool:
        found = trailer_of(issue.body)
        if found is None or issue.author.id not in self._accounts:
            return False
        if authentic(issue.body, self.keys) is not Provenance.ENGINE:
            return False
        fence = await self._fence(Role.PLANNER, found[1].parent)
        return fence is not None and bool(fence.approved_by) and not fence.approved_by.startswith("/")

    async def _fence(self, role: Role, number: int) -> Fence | None:
        return (await self._read_fence(ReadFence(ItemKey(role, number)))).value
