"""Hours in which nothing new is begun: what is in work goes on (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From `start` to `end` by the clocks of `zone`, on the days (0 is Monday) on which such a span begins.

    An `end` that is not after `start` is on the next day.
    """

    start: time
    end: time
    zone: ZoneInfo
    days: frozenset[int] = frozenset(range(7))

    def until(self, now: datetime) -> datetime | None:
        """When the span ends in which `now` (aware) lies; None when it lies in none."""
        local = now.astimezone(self.zone)
        for day in (local.date() - timedelta(days=1), local.date()):
            begins = datetime.combine(day, self.start, self.zone)
            ends = datetime.combine(day + timedelta(days=self.end <= self.start), self.end, self.zone)
            if day.weekday() in self.days and begins <= local < ends:
                return ends
        return None


def quiet(spans: Iterable[QuietHours], now: datetime) -> str:
    """Why nothing new is begun at `now`, in one sentence; empty outside of all spans."""
    ends = [end for span in spans if (end := span.until(now)) is not None]
    return f"quiet hours until {max(ends):%Y-%m-%d %H:%M %Z}: nothing new is begun" if ends else ""
