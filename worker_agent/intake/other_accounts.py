"""Labels set by another account of the engine: they count only if that agent's fence agrees."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol, TypeVar

from shared.lock.codec import ItemKey
from shared.lock.port import Operation, ReadFence, Reply
from shared.lock.record import Fence
from shared.models import Account, Issue
from shared.specification import Provenance, authentic
from shared.specification.layout import trailer_of
from shared.text.comment_signatures import Keyring
from shared.workflow import Role, Stage
from worker_agent.intake.intents import Cause

T = TypeVar("T")


class Fences(Protocol):
    """Reads fences; every port of the lock does."""

    async def request(self, operation: Operation[T]) -> Reply[T]: ...


class OtherAccounts:
    """The engine's other accounts. GitHub confirms no App's write access; the right to move a fence proves it."""

    def __init__(self, port: Fences, accounts: Collection[int], keys: Keyring) -> None:
        """`accounts` are the ids that the engine's other agents sign in with."""
        self._port = port
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
        return (await self._port.request(ReadFence(ItemKey(role, number)))).value
