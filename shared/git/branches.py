"""Branches of the server, moved by lease."""

from __future__ import annotations

from shared.git.mirror import Mirror
from shared.lock.hold import Held
from shared.lock.port import RefUpdate


class Branches:
    """The branches of one repository."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror

    async def delete_branch(self, branch: str, sha: str, held: Held) -> None:
        """Delete a branch that is still at `sha`; one that moved or is gone is left as it is. Errors as `Git.push`."""
        held.check()
        await self._mirror.git.push(self._mirror.url, (RefUpdate(f"refs/heads/{branch}", sha, ""),))
