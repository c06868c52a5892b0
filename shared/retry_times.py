"""Retry times named by others, parsed leniently and never further away than a week (pure).

GitHub, a model's vendor and its program each name such times. A wrong one must neither crash an agent nor keep it
waiting for good: an unreadable one counts as none, and one too far away is asked for again after a week.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

LONGEST = timedelta(days=7)
"""The longest wait that is accepted from anybody else: after it the request is tried again."""

LAST_YEAR = 9000
"""Dates after this year are rejected: nothing could be added to them."""

_LATEST = datetime.max.replace(tzinfo=UTC)


def bounded(at: datetime, now: datetime) -> datetime:
    """Return `at`, or the end of the longest wait if that is earlier."""
    return min(at, later(now, LONGEST.total_seconds()) or _LATEST)


def later(now: datetime, seconds: float) -> datetime | None:
    """Return the time `seconds` after `now`, at most `LONGEST` away; None if `seconds` is NaN or negative."""
    if math.isnan(seconds) or seconds < 0:
        return None
    try:
        return now + timedelta(seconds=min(seconds, LONGEST.total_seconds()))
    except OverflowError:
        return _LATEST


def since_1970(seconds: float) -> datetime | None:
    """Return the UTC time of a Unix time; None if it is outside the calendar."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def http_date(text: str) -> datetime | None:
    """Parse an HTTP date into UTC; None if it is not one."""
    try:
        date = parsedate_to_datetime(text)
        date = date.astimezone(UTC) if date.tzinfo else date.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return date if date.year <= LAST_YEAR else None
