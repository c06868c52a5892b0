"""Times of a status board."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

AT = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)

UNTIL = AT + timedelta(minutes=30)
