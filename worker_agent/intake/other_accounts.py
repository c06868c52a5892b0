"""Labels that another account of the engine has set: they count as far as that agent's fence says the same."""

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
    """Where each agent is an App of its own, GitHub tells of none that it may write; who moves a fence may."""

    def __init__(self, port: Fences, accounts: Collection[int], keys: Keyring) -> None:
        """`accounts` are the ids that the engine's other agents sign in with."""
        self._port = port
        self._accounts = accounts
        self.keys = keys

    async def asks(self, account: Account, why: Cause, issue: Issue) -> bool:
        """Whether `account` is the engine's, and the fence of the agent whose label it is bears it out.

        Changes are the reviewer's to ask for, a specification of a plan that was approved the planner's to begin;
        nothing else is asked by one agent of another. Raises `Transient`.
        """
        if account.id not in self._accounts:
            return False
        if Stage.CHANGES_REQUESTED in why.stages:
            return await self.requested(why.number) is not None
        return Stage.READY in why.stages and await self._is_planned(issue)

    async def requested(self, number: int) -> Fence | None:
        """The reviewer's fence of a pull request which it has given back; its phase says what for.

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
