"""How many items one account has in work over all repositories of a process, as their locks say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Count = Callable[[], Awaitable[int]]
"""How many items the account has in work in one repository, asked of its git server."""

KNOWN_SECONDS = 600.0
"""A count in another repository is believed for so long while there is room, as long as between two sweeps."""


@dataclass(slots=True)
class _Counted:
    items: int
    until: float


class AccountWork:
    """The counts of one account's repositories; each is asked for its own when it is about to begin something."""

    def __init__(self, boot: Callable[[], float]) -> None:
        """`boot` is the boot clock in seconds."""
        self._boot = boot
        self._repositories: dict[str, Count] = {}
        self._counted: dict[str, _Counted] = {}

    def join(self, repository: str, count: Count) -> None:
        """A repository in which the account works."""
        self._repositories[repository] = count

    async def beside(self, repository: str, own: int, most: int) -> int:
        """How many items are in work with the `own` ones that `repository` has by now. Raises `Transient`.

        Where that reaches `most`, repositories that have some are asked again, because those may have ended.
        """
        self._note(repository, own)
        others = [name for name in self._repositories if name != repository]
        for name in others:
            known = self._counted.get(name)
            if known is None or known.until <= self._boot():
                await self._ask(name)
        if self._total(others) + own >= most:
            for name in [name for name in others if self._counted[name].items]:
                await self._ask(name)
        return self._total(others) + own

    async def _ask(self, name: str) -> None:
        self._note(name, await self._repositories[name]())

    def _note(self, name: str, items: int) -> None:
        self._counted[name] = _Counted(items, self._boot() + KNOWN_SECONDS)

    def _total(self, names: list[str]) -> int:
        return sum(self._counted[name].items for name in names)
