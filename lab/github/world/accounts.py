"""Accounts, their tokens and remaining requests; GitHub Apps and their installations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.github.world.records import Numbering

LEVELS = ("none", "read", "write", "admin")
"""Permission levels in ascending order."""

HOUR = 3600

CORE, GRAPHQL = "core", "graphql"
"""GitHub's names of the two hourly limits that are counted here: REST's, and GraphQL's own."""

HOURLY_LIMIT = 5000
"""Charged requests per account and hour, of each."""


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


@dataclass(frozen=True, slots=True)
class AppRecord:
    """One GitHub App; `public_key` (PEM) verifies its JSON web tokens, `owner` is a login."""

    id: int
    slug: str
    owner: str
    public_key: str
    permissions: Mapping[str, str]
    created_at: int

    @property
    def bot(self) -> str:
        """The login under which the App writes."""
        return f"{self.slug}[bot]"

    @property
    def client_id(self) -> str:
        """Client id, which may stand for the id as the issuer of a JSON web token."""
        return f"Iv23li{self.id:014d}"


@dataclass(frozen=True, slots=True)
class InstallationRecord:
    """An App in some repositories (by id) of one account."""

    id: int
    app_id: int
    account: str
    repositories: tuple[int, ...]
    permissions: Mapping[str, str]
    created_at: int


class Apps:
    """Every App and every installation."""

    def __init__(self, registrar: Numbering) -> None:
        self._registrar = registrar
        self.records: dict[int, AppRecord] = {}
        self.installations: dict[int, InstallationRecord] = {}

    def register(self, owner: str, slug: str, public_key: str, permissions: Mapping[str, str]) -> AppRecord:
        """A new App; `metadata: read` comes with every App."""
        granted = {"metadata": "read", **permissions}
        app = AppRecord(self._registrar.new_id(), slug, owner, public_key, granted, self._registrar.now())
        self.records[app.id] = app
        return app

    def install(self, app: AppRecord, account: str, repositories: tuple[int, ...]) -> InstallationRecord:
        """The App works in these repositories with the permissions it has now."""
        new_id, now = self._registrar.new_id(), self._registrar.now()
        record = InstallationRecord(new_id, app.id, account, repositories, app.permissions, now)
        self.installations[record.id] = record
        return record

    def issuer(self, name: str) -> AppRecord | None:
        """The App whose id or client id a JSON web token names."""
        return next((app for app in self.records.values() if name in {str(app.id), app.client_id}), None)

    def written_by(self, login: str) -> AppRecord | None:
        """The App whose bot has that login."""
        return next((app for app in self.records.values() if app.bot == login), None)

    def installation_in(self, app: AppRecord, repository_id: int) -> InstallationRecord | None:
        """Return the App's installation that reaches a repository, or None."""
        of_app = (one for one in self.installations.values() if one.app_id == app.id)
        return next((one for one in of_app if repository_id in one.repositories), None)
