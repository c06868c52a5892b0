"""The secondary limit on creating content, where the lab is told to keep one."""

from __future__ import annotations

from collections import defaultdict, deque

CONTENT_PER_MINUTE = 80
"""GitHub's own limit: issues, comments, reviews and pull requests that one account may make in a minute."""

_WINDOW_SECONDS = 60


class Pace:
    """Counts what each account created within the last minute; `limit` None counts nothing."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self._created: defaultdict[str, deque[int]] = defaultdict(deque)

    def step(self, login: str, now: int) -> bool:
        """Count one creation at `now` (seconds since the epoch), or False when it would be one too many."""
        if self.limit is None:
            return True
        recent = self._created[login]
        while recent and recent[0] <= now - _WINDOW_SECONDS:
            recent.popleft()
        if len(recent) >= self.limit:
            return False
        recent.append(now)
        return True
