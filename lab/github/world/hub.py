"""The whole world of the lab: accounts, tokens and repositories.

The secondary limit on creating content, where the lab is told to keep one.
"""

from __future__ import annotations

import secrets
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import replace

from lab.github.http.refusals import Refusal
from lab.github.world.accounts import (
    CORE,
    GRAPHQL,
    HOURLY_LIMIT,
    AccountRecord,
    Apps,
    RequestQuota,
    TokenRecord,
)
from lab.github.world.records import Numbering
from lab.github.world.repository import RepositoryRecord


class World:
    """Everything that the lab's GitHub knows."""

    def __init__(self, registrar: Numbering, *, limit: int = HOURLY_LIMIT) -> None:
        self.registrar = registrar
        self.quotas = {CORE: RequestQuota(limit), GRAPHQL: RequestQuota(HOURLY_LIMIT)}
        self.accounts: dict[str, AccountRecord] = {}
        self.tokens: dict[str, TokenRecord] = {}
        self.repositories: dict[int, RepositoryRecord] = {}
        self.former_names: dict[str, int] = {}
        self.apps = Apps(registrar)
        self.pace = Pace()
        self.secret = secrets.token_bytes(16)

    def account(self, login: str, *, bot: bool = False, email: str = "") -> AccountRecord:
        """The account of that login, made if it does not exist; with `email`, that is its address from now on."""
        found = self.find_account(login)
        if found is None:
            found = AccountRecord(self.registrar.new_id(), login, bot, self.registrar.now())
        if email:
            found = replace(found, email=email.lower())
        self.accounts[login.lower()] = found
        return found

    def find_account(self, login: str) -> AccountRecord | None:
        """The account of that login, or None."""
        return self.accounts.get(login.lower())

    def token(
        self,
        login: str,
        permissions: Mapping[str, str],
        *,
        expires_at: int | None = None,
        repositories: tuple[int, ...] | None = None,
    ) -> str:
        """A new token of an account; permissions as GitHub names them, for example `issues: write`."""
        prefix = "ghs" if self.account(login).bot else "github_pat"
        value = f"{prefix}_lab{self.registrar.new_id():x}{secrets.token_hex(16)}"  # as long as GitHub's, as secret
        owner = self.account(login).login
        self.tokens[value] = TokenRecord(value, owner, dict(permissions), expires_at, repositories)
        return value

    def authenticate(self, value: str) -> TokenRecord:
        """The token of that value, or 401."""
        token = self._valid(value)
        if token is None or self.find_account(token.login) is None:
            raise Refusal(401, "Bad credentials")
        return token

    def repository(self, full_name: str) -> RepositoryRecord | None:
        """The repository that bears this name now, or None; case does not count."""
        wanted = full_name.lower()
        return next((r for r in self.repositories.values() if r.full_name.lower() == wanted), None)

    def moved(self, full_name: str) -> RepositoryRecord | None:
        """The repository that bore this name before it was renamed, or None."""
        repository_id = self.former_names.get(full_name.lower())
        return None if repository_id is None else self.repositories[repository_id]

    def repository_of_git(self, full_name: str) -> RepositoryRecord | None:
        """The repository that git is served under a name, which may be a former one; None if there is none."""
        return self.repository(full_name) or self.moved(full_name)

    def authorise_git(self, value: str, full_name: str, writes: bool) -> str | None:
        """The login behind a token that may fetch from (or push to) a repository; None when it may not.

        401 for a token that is none, 403 for a push to a repository that is archived.
        """
        token, repository = self._valid(value), self.repository_of_git(full_name)
        if token is None:
            raise Refusal(401, "Invalid username or token")
        if repository is None or not token.covers(repository.facts.id):
            return None
        level = "write" if writes else "read"
        if writes and repository.facts.archived:
            raise Refusal(403, "This repository was archived so it is read-only")
        granted = token.may("contents", level) or not (writes or repository.facts.private)
        return token.login if granted and repository.facts.reaches(token.login, level) else None

    def _valid(self, value: str) -> TokenRecord | None:
        token = self.tokens.get(value)
        expired = token is not None and token.expires_at is not None and token.expires_at <= self.registrar.now()
        return None if expired else token


_WINDOW_SECONDS = 60


class Pace:
    """Counts what each account created within the last minute; `limit` None counts nothing."""

    def __init__(self) -> None:
        self.limit: int | None = None
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
