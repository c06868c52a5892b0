"""Our own account, this repository, and people's permissions in it."""

from __future__ import annotations

from typing import Any

from shared.errors import Invisible
from shared.github import wire
from shared.github.address import segment
from shared.github.client import GitHub
from shared.github.errors import NotFound
from shared.models import Account, Permission, Repository
from shared.newest import Newest

PERMISSION_SECONDS = 300.0
"""Seconds for which a person's permission is used as read."""

MAX_PEOPLE = 1000
"""Most permissions that are remembered."""


class People:
    """Accounts and permissions around one repository."""

    def __init__(self, github: GitHub, repository: str) -> None:
        self._github = github
        self._repository = repository
        self._known: Newest[str, tuple[Permission, float]] = Newest(MAX_PEOPLE)

    async def me(self) -> Account:
        """Return the account that the token belongs to."""
        return wire.read(wire.account, await self._github.get("/user"))

    async def repository(self) -> Repository:
        """Return the repository; raises `Invisible` if the token does not see one of this name."""
        try:
            return wire.read(wire.repository, await self._github.get(f"/repos/{self._repository}"))
        except NotFound as error:
            raise invisible(self._repository) from error

    async def permission(self, login: str) -> Permission:
        """Return a person's permission, at most five minutes old; strangers have `NONE`.

        A failed request raises and is not remembered: it is no answer, and nobody is trusted by it.
        """
        now, key = self._github.clock.boot(), login.casefold()
        known = self._known.get(key)
        if known is not None and now - known[1] < PERMISSION_SECONDS:
            return known[0]
        permission = await self._ask(login)
        self._known[key] = permission, now
        return permission

    async def _ask(self, login: str) -> Permission:
        path = f"/repos/{self._repository}/collaborators/{segment(login)}/permission"
        try:
            return wire.read(_permission, await self._github.get(path))
        except NotFound:
            return Permission.NONE


def invisible(repository: str) -> Invisible:
    """Return the error for a repository that this token does not see."""
    return Invisible(
        f"GitHub does not show the repository {repository} to this token: "
        "check the spelling, and that the token was given access to it."
    )


async def invisible_item(github: GitHub, repository: str, number: int) -> Invisible:
    """Return the error for an item that is not found, or for its repository if that is not seen."""
    try:
        await People(github, repository).repository()
    except Invisible as error:
        return error
    return Invisible(
        f"GitHub does not show {repository}#{number} to this token: check the number, and what kind of item it is."
    )


def _permission(value: Any) -> Permission:
    """Read a permission: GitHub reports `maintain` as write, `triage` as read, a custom role by its base role."""
    return Permission(value["permission"])
