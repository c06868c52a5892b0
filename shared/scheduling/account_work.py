"""The number of items that one account has in work over all repositories of a process, counted by their locks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Count = Callable[[], Awaitable[int]]
"""Counts the items that the account has in work in one repository; asks the repository's git server."""

KNOWN_SECONDS = 600.0
"""Seconds for which a count of another repository is used while there is room; as long as between two sweeps."""


@dataclass(slots=True)
class _Counted:
    items: int
    until: float


class AccountWork:
    """Item counts of one account's repositories; a repository counts its own whenever it is about to begin an item."""

    def __init__(self, boot: Callable[[], float]) -> None:
        """`boot` is the boot clock in seconds."""
        self._boot = boot
        self._repositories: dict[str, Count] = {}
        self._counted: dict[str, _Counted] = {}

    def join(self, repository: str, count: Count) -> None:
        """Add a repository in which the account works, with the function that counts its items."""
        self._repositories[repository] = count

    async def items_in_work(self, repository: str, count: int, most: int) -> int:
        """Return the number of items in work in all repositories; `count` is that of `repository`. Raises `Transient`.

        If it reaches `most`, repositories that have some are counted again, because their items may have ended.
        """
        self._note(repository, count)
        others = [name for name in self._repositories if name != repository]
        for name in others:
            known = self._counted.get(name)
            if known is None or known.until <= self._boot():
                await self._ask(name)
        if self._total(others) + count >= most:
            for name in [name for name in others if self._counted[name].items]:
                await self._ask(name)
        return self._total(others) + count

    async def _ask(self, name: str) -> None:
        self._note(name, await self._repositories[name]())

    def _note(self, name: str, items: int) -> None:
        self._counted[name] = _Counted(items, self._boot() + KNOWN_SECONDS)

    def _total(self, names: list[str]) -> int:
        return sum(self._counted[name].items for name in names)
