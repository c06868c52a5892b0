"""Accounts, their tokens, and their remaining requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

LEVELS = ("none", "read", "write", "admin")
"""Permission levels in ascending order."""

HOUR = 3600


@dataclass(frozen=True, slots=True)
class AccountRecord:
    """A person, a machine user or (with `bot`) an App; `email` is known of few, in lower case."""

    id: int
    login: str
    bot: bool
    created_at: int
    email: str = ""


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """A fine-grained token: its account, its level for each permission, its expiry and its repositories.

    `repositories` are ids; None means every repository that the account reaches.
    """

    value: str
    login: str
    permissions: Mapping[str, str] = field(default_factory=dict)
    expires_at: int | None = None
    repositories: tuple[int, ...] | None = None

    def may(self, permission: str, level: str) -> bool:
        """Return whether this token reaches `level`; `metadata: read` comes with every token."""
        held = self.permissions.get(permission, "read" if permission == "metadata" else "none")
        return LEVELS.index(held) >= LEVELS.index(level)

    def covers(self, repository_id: int) -> bool:
        """Return whether this token was given for a repository."""
        return self.repositories is None or repository_id in self.repositories


@dataclass(frozen=True, slots=True)
class Allowance:
    """Values of the `x-ratelimit-*` headers."""

    limit: int
    used: int
    reset: int

    @property
    def remaining(self) -> int:
        """Requests left until `reset` (seconds since the epoch)."""
        return max(0, self.limit - self.used)


class RequestQuota:
    """Counts charged requests per account and hour, over all tokens of that account."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._windows: dict[str, Allowance] = {}

    def allowance(self, login: str, now: int) -> Allowance:
        """The account's present window."""
        window = self._windows.get(login)
        if window is None or window.reset <= now:
            window = Allowance(self.limit, 0, now + HOUR)
            self._windows[login] = window
        return window

    def charge(self, login: str, now: int) -> Allowance:
        """Count one request."""
        window = self.allowance(login, now)
        self._windows[login] = Allowance(self.limit, window.used + 1, window.reset)
        return self._windows[login]
