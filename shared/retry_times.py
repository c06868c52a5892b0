"""Times that somebody else names for a next try: read whatever is said, and never further away than a week (pure).

GitHub, a model's vendor and its program each name such times. A wrong one must neither end an agent nor keep it waiting
for good: what cannot be read names no time, and what lies too far away is asked again after a week.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

LONGEST = timedelta(days=7)
"""The longest wait that is believed of anybody else: then it is tried, and asked, again."""

LAST_YEAR = 9000
"""A date after it is none: nothing could be added to it."""

_LATEST = datetime.max.replace(tzinfo=UTC)


def bounded(at: datetime, now: datetime) -> datetime:
    """`at`, or the end of the longest wait if that is earlier."""
    return min(at, later(now, LONGEST.total_seconds()) or _LATEST)


def later(now: datetime, seconds: float) -> datetime | None:
    """So many seconds after `now`, at most `LONGEST`; None for a number that is none, or is negative."""
    if math.isnan(seconds) or seconds < 0:
        return None
    try:
        return now + timedelta(seconds=min(seconds, LONGEST.total_seconds()))
    except OverflowError:
        return _LATEST


def since_1970(seconds: float) -> datetime | None:
    """A Unix time; None for one that no calendar has."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def http_date(text: str) -> datetime | None:
    """An HTTP date in UTC, or None when it is not one."""
    try:
        date = parsedate_to_datetime(text)
        date = date.astimezone(UTC) if date.tzinfo else date.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return date if date.year <= LAST_YEAR else None
