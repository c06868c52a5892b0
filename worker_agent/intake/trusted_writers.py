"""The accounts whose labels and reviews count for the worker."""

from __future__ import annotations

from collections.abc import Collection

from shared.github.ports import People
from shared.models import Account


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
