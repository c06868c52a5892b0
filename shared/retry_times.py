"""Retry times named by others, parsed leniently and never further away than a week (pure).

GitHub, a model's vendor and its program each name such times. A wrong one must neither crash an agent nor keep it
waiting for good: an unreadable one counts as none, and one too far away is asked for again after a week.
https://docs.anthropic.com/en/api/rate-limits https://platform.openai.com/docs/guides/rate-limits
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
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


LIMITING = frozenset({429, 503, 529})
"""Statuses that ask for a later try."""

LONGEST_RESET = timedelta(days=31)
"""Resets that are further away are rejected."""

_SPAN = re.compile(
    r"(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?"
)


def resets_at(status: int, headers: Mapping[str, str], now: datetime) -> datetime | None:
    """Return the time from which a refused request may be tried again; None if the answer names none.

    `headers` have lower-case names; `now` is our clock, for answers without a `Date`. `retry-after`
    counts first; without it, of the limits that are used up, the one that lasts longest.
    """
    if status not in LIMITING:
        return None
    served = http_date(headers.get("date", "")) or now
    found = _after(headers.get("retry-after", ""), served)
    if found is None:
        found = max((at for at in _limits(headers, served) if at is not None), default=None)
    return found if found is not None and timedelta(0) < found - served <= LONGEST_RESET else None


def _limits(headers: Mapping[str, str], served: datetime) -> list[datetime | None]:
    used_up = [name for name, left in headers.items() if "ratelimit" in name and "remaining" in name and left == "0"]
    names = {name.replace("remaining", "reset") for name in used_up}
    if not names:
        names = {name for name in headers if "ratelimit" in name and "reset" in name}
    return [_after(headers.get(name, ""), served) for name in names]


def _after(text: str, served: datetime) -> datetime | None:
    """Parse a number of seconds, a span as `6m0s`, a Unix time, an RFC 3339 time or an HTTP date."""
    text = text.strip()
    if re.fullmatch(r"\d{1,13}(?:\.\d+)?", text):
        seconds = float(text)
        return since_1970(seconds) if seconds > 1e9 and seconds < 1e11 else _later(served, seconds)
    span = _SPAN.fullmatch(text)
    if text and span:
        days, hours, minutes, seconds, millis = (float(part or 0) for part in span.groups())
        return _later(served, ((days * 24 + hours) * 60 + minutes) * 60 + seconds + millis / 1000)
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return http_date(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _later(served: datetime, seconds: float) -> datetime | None:
    try:
        return served + timedelta(seconds=seconds)
    except OverflowError:
        return None
