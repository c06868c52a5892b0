"""Whose labels and reviews count for the worker."""

from __future__ import annotations

from collections.abc import Collection

from shared.models import Account
from worker_agent.ports import People


class Writers:
    """Our own accounts, and everybody who may write in the repository."""

    def __init__(self, people: People, accounts: Collection[int]) -> None:
        self._people = people
        self._accounts = accounts

    async def include(self, account: Account) -> bool:
        """Whether the word of `account` counts; raises `Transient` when GitHub does not say."""
        # Of ourselves it is known, and of an App GitHub would not say it.
        return account.id in self._accounts or (await self._people.permission(account.login)).may_write
