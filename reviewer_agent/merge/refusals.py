"""What follows when GitHub refuses a merge: its base is merged in, or it is tried again; it never ends an item."""

from __future__ import annotations

import structlog

from reviewer_agent.actions import Actions
from reviewer_agent.decide import Snapshot
from reviewer_agent.observe import Observer
from reviewer_agent.ports import Forge
from shared.errors import Blocked
from shared.github.errors import Refused
from shared.items import Step
from shared.lock.hold import Held

log = structlog.get_logger()

_OF_BASE = ("not mergeable", "merge conflict", "out of date", "not up to date", "status checks are expected")
"""Words with which GitHub refuses a merge because of the base; of a branch that is behind it says the last."""


class Refusals:
    """Refused merges of one repository."""

    def __init__(self, forge: Forge, observer: Observer, handover: Actions) -> None:
        self._forge = forge
        self._observer = observer
        self._handover = handover

    async def handle(self, held: Held, seen: Snapshot, refused: Blocked) -> Step:
        """Give it back to have its base merged in where that is the reason, else wait. Raises `Transient`."""
        said = refused.message if isinstance(refused, Refused) else str(refused)
        log.warning("merge_refused", outcome="retrying", error=str(refused))
        now = await self._forge.pulls.pull_request(seen.pull_request.number)
        of_base = now.out_of_step or (isinstance(refused, Refused) and refused.says(*_OF_BASE))
        if of_base and not seen.sent_to_base and await self._observer.is_repairable(now):
            return await self._handover.send_to_base(held, seen)
        return await self._handover.refused(held, seen, said)
