"""GitHub's time: the `Date` of its last answer, carried on by the boot clock. Decisions use no other time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import structlog

from shared.clock import Clock
from shared.errors import Transient
from shared.retry_times import http_date

log = structlog.get_logger()

APART_SECONDS = 30.0
"""Seconds of difference from which the local clock is reported: logs and certificates need it, no decision does."""


AGREES_SECONDS = 30.0
"""Largest difference in seconds between a `Date` and the known time that agree."""

DOUBT_SECONDS = 600.0
"""Seconds after which a second answer that agrees with a doubted time makes it believed."""

LOOPBACK_DOUBT_SECONDS = 0.0
"""The same for a server on this machine, a lab whose clock is moved by hand: the next answer that agrees is enough."""

WITNESS_SECONDS = 120.0
"""Largest difference in seconds to this machine's clock at which a first answer is believed: there is no other yet."""

AGREEING = 2
"""Answers in a row that have to agree before anything is claimed, or taken from anybody, by this time."""


class ServerTime:
    """The time on the server. One wrong `Date`, of a proxy or a replica, changes nothing."""

    def __init__(self, clock: Clock, doubt_seconds: float = DOUBT_SECONDS) -> None:
        self._clock, self._doubt_seconds = clock, doubt_seconds
        self._read: tuple[datetime, float] | None = None
        self._doubted: tuple[datetime, float] | None = None
        self._agreed = 0
        self._since = 0.0
        self._confirmed = False
        self._apart = False

    def note(self, headers: Mapping[str, str]) -> None:
        """Take over the `Date` of an answer that has just arrived; one that cannot be read is ignored."""
        date = http_date(headers.get("date", ""))
        if date is None:
            return
        boot, ahead = self._clock.boot(), self._clock.now() - date.timestamp()
        is_witnessed = abs(ahead) <= WITNESS_SECONDS
        if self._read is not None and _agrees(self._read, date, boot):
            self._read, self._doubted, self._agreed = (date, boot), None, self._agreed + 1
            self._confirmed |= is_witnessed or boot - self._since >= self._doubt_seconds
            self._compare(ahead)
        elif self._read is None or (is_witnessed and not self._confirmed):
            self._read, self._doubted, self._agreed = (date, boot), None, 1
            self._since, self._confirmed = boot, is_witnessed
            self._compare(ahead)
        elif self._doubted is None or not _agrees(self._doubted, date, boot):
            self._doubted, self._agreed = (date, boot), 0
        elif boot - self._doubted[1] >= self._doubt_seconds:
            self._read, self._doubted, self._agreed, self._confirmed = (date, boot), None, 1, True
        else:
            self._agreed = 0

    @property
    def sure(self) -> bool:
        """True if the last answers agreed with each other, and none of another time has come since.

        Those of a process that has just started agree with this machine's clock too, or have agreed for long enough:
        it may have been started while a proxy dates all answers wrong.
        """
        return self._confirmed and self._agreed >= AGREEING

    def now(self) -> datetime:
        """Return server time, aware, in UTC; raises `Transient` before the first answer."""
        if self._read is None:
            raise Transient("GitHub has not answered yet, so its time is not known.")
        date, boot = self._read
        return date + timedelta(seconds=self._clock.boot() - boot)

    def _compare(self, ahead_seconds: float) -> None:
        """Log once that the local clock and the server's differ, and once that they agree again."""
        apart = abs(ahead_seconds) > APART_SECONDS
        if apart and not self._apart:
            log.warning("clock_apart", ahead_seconds=round(ahead_seconds), hint="Let a time service set this clock.")
        elif self._apart and not apart:
            log.info("clock_agrees", ahead_seconds=round(ahead_seconds))
        self._apart = apart


def _agrees(before: tuple[datetime, float], date: datetime, boot: float) -> bool:
    at, then = before
    return abs((date - at).total_seconds() - (boot - then)) <= AGREES_SECONDS
