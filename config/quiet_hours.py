"""Quiet hours: spans of hours, by the clocks of a time zone, in which no new work begins."""

from __future__ import annotations

import re
from datetime import time
from typing import Annotated, Literal, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator

from config.section import Section, Text
from shared.scheduling.quiet_hours import QuietHours

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

_DAYS: tuple[Day, ...] = get_args(Day)


def _time_of_day(value: object) -> object:
    """YAML reads an unquoted 22:00 as the number 1320."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 24 * 60:
        value = f"{value // 60:02}:{value % 60:02}"
    if not isinstance(value, str) or not re.fullmatch(r"([01]?\d|2[0-3]):[0-5]\d", value):
        raise ValueError("is no time of the day; write it as in 22:00")
    return value.zfill(5)


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError) as error:
        raise ValueError("is no time zone that this machine knows; write it as in Europe/Berlin") from error
    return name


TimeOfDay = Annotated[str, BeforeValidator(_time_of_day)]


class QuietHoursSettings(Section):
    """Hours in which no new work begins; running work goes on."""

    start: TimeOfDay
    """Their beginning, as in `22:00`."""
    end: TimeOfDay
    """Their end; if not after `start`, on the next day."""
    days: tuple[Day, ...] = _DAYS
    """Days on which they begin."""
    timezone: Annotated[Text, AfterValidator(_zone)] = "UTC"
    """Time zone, as in `Europe/Berlin`."""

    def span(self) -> QuietHours:
        """Return the span in the form that agents use."""
        days = frozenset(_DAYS.index(day) for day in self.days)
        start, end = time.fromisoformat(self.start), time.fromisoformat(self.end)
        return QuietHours(start, end, ZoneInfo(self.timezone), days)
