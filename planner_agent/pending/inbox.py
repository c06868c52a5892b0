"""The planner's lists, which after each look let the next pending test get its issue."""

from __future__ import annotations

from collections.abc import Mapping

import structlog

from planner_agent.pending.opening import Opening
from planner_agent.ports import Inbox
from shared.errors import EngineError
from shared.models import Issue
from shared.process import CommandFailed

log = structlog.get_logger()


class PendingInbox:
    """Passes everything on; what goes wrong with pending tests keeps nobody from stories."""

    def __init__(self, inbox: Inbox, opening: Opening) -> None:
        self._inbox = inbox
        self._opening = opening

    @property
    def known(self) -> Mapping[int, Issue]:
        """The open items."""
        return self._inbox.known

    @property
    def orphans(self) -> Mapping[int, Issue]:
        """Items that no list shows."""
        return self._inbox.orphans

    async def look(self) -> Mapping[int, Issue]:
        """The open items as they are now."""
        known = await self._inbox.look()
        try:
            await self._opening.look(known)
        except (EngineError, CommandFailed) as error:
            log.warning("pending_tests_put_off", outcome="retrying", error=str(error))
        return known

    def dismiss(self, number: int) -> None:
        """An item that has ended."""
        self._inbox.dismiss(number)
