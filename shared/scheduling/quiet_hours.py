"""Hours in which nothing new begins, while items in work go on (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class QuietHours:
    """A daily span from `start` to `end` in the time zone `zone`, on the `days` (0 is Monday) on which it begins.

    An `end` that is not after `start` is on the next day.
    """

    start: time
    end: time
    zone: ZoneInfo
    days: frozenset[int] = frozenset(range(7))

    def until(self, now: datetime) -> datetime | None:
        """Return the end of the span that contains `now` (aware); None outside of a span."""
        local = now.astimezone(self.zone)
        for day in (local.date() - timedelta(days=1), local.date()):
            begins = datetime.combine(day, self.start, self.zone)
            ends = datetime.combine(day + timedelta(days=self.end <= self.start), self.end, self.zone)
            if day.weekday() in self.days and begins <= local < ends:
                return ends
        return None


def quiet(spans: Iterable[QuietHours], now: datetime) -> str:
    """Return why nothing new begins at `now`, as one sentence; empty outside of all spans."""
    ends = [end for span in spans if (end := span.until(now)) is not None]
    return f"quiet hours until {max(ends):%Y-%m-%d %H:%M %Z}: nothing new is begun" if ends else ""
