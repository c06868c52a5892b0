"""GitHub's time: the `Date` of its last answer, carried on by the boot clock. The only time that decides."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import structlog

from shared.clock import Clock
from shared.errors import Transient
from shared.named_times import http_date

log = structlog.get_logger()

APART_SECONDS = 30.0
"""A local clock that is further away deserves a word: logs and certificates need it, no decision does."""


class ServerTime:
    """What time it is on the server."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._read: tuple[datetime, float] | None = None
        self._apart = False

    def note(self, headers: Mapping[str, str]) -> None:
        """Take over the `Date` of an answer that has just arrived; one that cannot be read is ignored."""
        date = http_date(headers.get("date", ""))
        if date is not None:
            self._read = date, self._clock.boot()
            self._compare(self._clock.now() - date.timestamp())

    def now(self) -> datetime:
        """Server time, aware, in UTC; raises `Transient` before the first answer."""
        if self._read is None:
            raise Transient("GitHub has not answered yet, so its time is not known.")
        date, boot = self._read
        return date + timedelta(seconds=self._clock.boot() - boot)

    def _compare(self, ahead_seconds: float) -> None:
        """Say once when the local clock and the server's come apart, and once when they agree again."""
        apart = abs(ahead_seconds) > APART_SECONDS
        if apart and not self._apart:
            log.warning("clock_apart", ahead_seconds=round(ahead_seconds), hint="Let a time service set this clock.")
        elif self._apart and not apart:
            log.info("clock_agrees", ahead_seconds=round(ahead_seconds))
        self._apart = apart
