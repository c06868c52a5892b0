"""Changes of the world at the arrival of a request: tokens, labels and issues that disappear."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lab.github.world.hub import World
from lab.github.world.repository import RepositoryRecord, transfer_issue

_INSIDE = re.compile(r"/(?:repos/(?P<name>[^/]+/[^/]+)|repositories/(?P<id>[0-9]{1,18}))(?P<rest>/.*)?$")
_NUMBERED = re.compile(r"/(?:issues|pulls)/([0-9]{1,18})(?:/|$)")


class SuddenChanges:
    """Does to the world what planned faults say; the path of the request tells where."""

    def __init__(self, world: World) -> None:
        self._world = world

    def login(self, token: str) -> str:
        """Return the login of a token; empty for nobody's."""
        found = self._world.tokens.get(token)
        return "" if found is None else found.login

    def revoke(self, token: str) -> None:
        """Forget the token."""
        self._world.tokens.pop(token, None)

    def delete_labels(self, path: str, names: Sequence[str]) -> None:
        """Remove these labels from the repository's definitions and all threads; unknown names are passed over."""
        repository, _ = self._place(path)
        for name in names:
            if repository.labels.find(name) is not None:
                repository.issues.label_renamed(repository.labels.remove(name).name, None)

    def transfer(self, path: str, to: str) -> None:
        """The issue named by the path moves to the repository `to`, by its owner's hand."""
        repository, rest = self._place(path)
        number, target = _NUMBERED.match(rest), self._world.repository(to)
        if number is None or target is None:
            raise ValueError(f"Nothing can be transferred from {path} to {to!r}.")
        transfer_issue(repository, int(number[1]), target, repository.facts.owner)

    def _place(self, path: str) -> tuple[RepositoryRecord, str]:
        """The repository that an API path is in, and what follows it."""
        match = _INSIDE.search(path)
        found = None
        if match is not None:
            found = self._world.repository(match["name"]) if match["name"] else None
            found = self._world.repositories.get(int(match["id"])) if match["id"] else found
        if match is None or found is None:
            raise ValueError(f"{path} is in no repository.")
        return found, match["rest"] or ""
