"""The branch that work starts from, by its present name: the configured one, else the repository's default branch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from shared.errors import Misconfigured
from shared.models import Repository
from shared.newest import Newest

log = structlog.get_logger()

Head = Callable[[str], Awaitable[str | None]]
"""Returns the newest commit of a branch, or None if there is no such branch."""

Ask = Callable[[], Awaitable[Repository]]
"""Reads the repository as it is now."""


class BaseBranch:
    """The name of the base branch. A default branch may be renamed while agents run; a configured one stays."""

    def __init__(self, name: str = "", *, default: str = "", ask: Ask | None = None) -> None:
        """`default` is the repository's default branch, `ask` reads the repository again; None for a fixed name."""
        self.name, self.default = name, default or name
        self._ask = ask
        self._others: Newest[str, None] = Newest()

    async def head(self, head: Head) -> str:
        """Return its newest commit by `head`. Raises `Misconfigured` if it does not exist, and `Transient`."""
        found = await self.head_or_none(head)
        if found is None:
            raise Misconfigured(f"The branch '{self.name}' does not exist: set base_branch to one that does.")
        return found

    async def head_or_none(self, head: Head) -> str | None:
        """Return its newest commit by `head`; if it does not exist, look its name up again. Raises `Transient`."""
        found = await head(self.name)
        return await head(self.name) if found is None and await self.renewed() else found

    async def renewed(self) -> bool:
        """Return whether the default branch has another name by now; from here on it is used. Raises `Transient`."""
        if self._ask is None:
            return False
        default = (await self._ask()).default_branch
        if default == self.name:
            return False
        log.warning("default_branch_changed", outcome="completed", before=self.name, now=default)
        self.name = self.default = default
        return True

    async def note_target(self, branch: str) -> None:
        """Note that a pull request of ours goes into `branch`, as after a renaming; each name is looked into once."""
        if branch == self.name or branch in self._others:
            return
        if not await self.renewed():
            self._others[branch] = None
