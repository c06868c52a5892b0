"""A lookup for work branches on GitHub when an item is put away: people delete branches, and early there is none."""

from __future__ import annotations

import structlog

from shared.errors import Transient
from shared.git.ports import Mirror
from shared.lock.record import Fence
from worker_agent.comments import branch

log = structlog.get_logger()


class BranchExistence:
    """Looks up the work branches of one repository."""

    def __init__(self, source: Mirror) -> None:
        self._source = source

    async def of(self, fence: Fence) -> bool | None:
        """Return whether the branch exists now; None if the git server does not answer."""
        try:
            return await self._source.refresh(f"refs/heads/{branch(fence)}") is not None
        except Transient as error:
            log.info("branch_not_looked_up", outcome="skipped", error=str(error))
            return None
