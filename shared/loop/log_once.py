"""Logging of errors that only a person can end: once, not at every tick."""

from __future__ import annotations

import structlog

from shared.errors import EngineError, Transient, Unauthorized

log = structlog.get_logger()


class LogOnce:
    """The error that one loop has logged and that still lasts."""

    def __init__(self) -> None:
        self._standing = ""

    def hear(self, error: EngineError) -> None:
        """Log a failed tick: a `Transient` one always, others unless they were logged just before or have been told."""
        if isinstance(error, Transient):
            log.warning("tick_failed", outcome="retrying", error=str(error))
            return
        told = str(error) == self._standing or (isinstance(error, Unauthorized) and error.logged)
        self._standing = str(error)
        if not told:
            log.error("tick_failed", outcome="retrying", error=str(error))

    def settled(self) -> None:
        """Note that a tick went well: the next error is logged again."""
        self._standing = ""
