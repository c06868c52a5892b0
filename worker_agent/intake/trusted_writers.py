"""Whose labels and reviews count for the worker."""

from __future__ import annotations

from collections.abc import Collection

from shared.github.ports import People
from shared.models import Account


class TrustedWriters:
    """Our own account, everybody who may write in the repository, and for their marked texts the engine's others."""

    def __init__(self, people: People, accounts: Collection[int], siblings: Collection[int] = ()) -> None:
        """`accounts` are the engine's, `siblings` those of them that its other agents sign in with."""
        self._people = people
        self._accounts = accounts
        self._siblings = siblings

    def are(self, account: Account) -> bool:
        """Whether `account` is one of the engine's; GitHub is not asked."""
        return account.id in self._accounts

    async def include(self, account: Account) -> bool:
        """Whether the word of `account` counts by itself; raises `Transient` when GitHub does not say."""
        # Of ourselves it is known, and of an App GitHub would not say it.
        own = self.are(account) and account.id not in self._siblings
        return own or (await self._people.permission(account.login)).may_write
