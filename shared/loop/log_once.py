"""What only a person can change is said once in the log, not at every tick."""

from __future__ import annotations

import structlog

from shared.errors import EngineError, Transient, Unauthorized

log = structlog.get_logger()


class LogOnce:
    """The standing complaint of one loop."""

    def __init__(self) -> None:
        self._standing = ""

    def hear(self, error: EngineError) -> None:
        """A tick failed. A passing failure is logged each time; what was said last, or elsewhere, is not repeated."""
        if isinstance(error, Transient):
            log.warning("tick_failed", outcome="retrying", error=str(error))
            return
        told = str(error) == self._standing or (isinstance(error, Unauthorized) and error.told)
        self._standing = str(error)
        if not told:
            log.error("tick_failed", outcome="retrying", error=str(error))

    def settled(self) -> None:
        """A tick went well: whatever comes next is news."""
        self._standing = ""
