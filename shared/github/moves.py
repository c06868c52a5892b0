"""Renames and transfers: the meaning of a redirection to `/repositories/<id>/...`.

A renamed repository keeps its id and is followed; anything with another id is never acted on.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import structlog

from shared.github.errors import Moved

_SOURCE = re.compile(r"/repos/[^/?#]+/[^/?#]+")
_TARGET = re.compile(r"/repositories/(\d+)(?=[/?#]|$)")

_log = structlog.get_logger(__name__)


class Moves:
    """The renames that were met; later requests go straight to the repository's id."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def rewritten(self, path: str) -> str:
        """Return `path`, under the repository's id once a rename was met."""
        source = _SOURCE.match(path)
        if source is None or source.group().casefold() not in self._ids:
            return path
        return f"/repositories/{self._ids[source.group().casefold()]}{path[source.end() :]}"

    async def learn(self, sent: str, target: str, id_of: Callable[[str], Awaitable[int | None]]) -> None:
        """Learn from a redirection by GitHub of the path `sent` to the path `target`.

        `id_of` reads the present id of a repository's path (`/repos/owner/name`). Raises `Moved` if
        the answer would come from another repository: an issue was transferred.
        """
        source, moved_to = _SOURCE.match(sent), repository_id(target)
        if source is None or moved_to is None:
            raise Moved(f"GitHub says that {sent} has moved to {target}.")
        root = source.group()
        if sent != root and await id_of(root) != moved_to:
            raise Moved(f"{sent} was transferred to another repository.")
        self._ids[root.casefold()] = moved_to
        _log.warning("repository_renamed", repository=root.removeprefix("/repos/"), repository_id=moved_to)


def repository_id(path: str) -> int | None:
    """Return the repository id in a path, or None."""
    found = _TARGET.match(path)
    return int(found[1]) if found else None
