"""One call to GitHub, whether it reads or writes: its address, whether it may be sent now, what its answer says."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote

import structlog
from gidgethub import HTTPException

from shared.errors import EngineError
from shared.github.address import ApiRoot
from shared.github.errors import Moved, NotFound, failure, words
from shared.github.points import Points
from shared.github.replica_lag import ReplicaLag
from shared.github.transport import ApiRequest, Response, Transport

MOVED = frozenset({301, 307, 308})
"""Statuses of redirections for a moved repository or issue; 302 leads to a download."""

_SOURCE = re.compile(r"/repos/[^/?#]+/[^/?#]+")
_TARGET = re.compile(r"/repositories/(\d+)(?=[/?#]|$)")
_BRANCH = re.compile(r"/rep(?:os/[^/]+/[^/]+|ositories/\d+)/branches/([^?#]+)")

_log = structlog.get_logger(__name__)


class Calls:
    """The rules that every call of one client keeps: renames, limits, and things that GitHub does not show yet."""

    def __init__(self, transport: Transport, root: ApiRoot, points: Points) -> None:
        self._transport, self._root, self._moves, self._points = transport, root, Moves(), points
        self.replica_lag = ReplicaLag(transport.clock)

    def address(self, path: str) -> str:
        """Return the present URL of a path, renames included."""
        return self._root.url(self._moves.rewritten(path))

    def is_renamed(self, path: str) -> bool:
        """Return whether the repository in a path is known to have another name by now."""
        return self._moves.rewritten(path) != path

    def name(self, call: ApiRequest) -> str:
        """Return a call in words, for errors."""
        return f"{call.method} {call.url.removeprefix(self._root.root)}"

    def admit(self, call: ApiRequest, *, urgent: bool) -> None:
        """Raise `Limited` or `NotShown` for a call that would only be refused now."""
        self._transport.limits.admit(urgent=urgent)
        self.replica_lag.admit(*self._call_facts(call))

    async def may_read(self, call: ApiRequest, *, urgent: bool) -> None:
        """Wait until GitHub's limit of a minute allows one more read; raises at once what `admit` does."""
        self.admit(call, urgent=urgent)
        await self._points.read(urgent=urgent)

    async def learn(self, call: ApiRequest, answer: Response) -> None:
        """Follow a rename that `answer` tells of; raises `Moved` for everything else."""
        target = self._root.path(answer.headers.get("location", ""))
        await self._moves.learn(self._root.path(call.url), target, self._id_of)

    def refusal(self, call: ApiRequest, answer: Response, error: HTTPException) -> EngineError:
        """Return the error of an answer that is no success; a limit is in force from now on."""
        limited = self._transport.limits.refusal(answer.status, answer.headers, words(error))
        if limited is not None:
            if call.method == "GET" and answer.headers.get("x-ratelimit-remaining") != "0":
                self._points.refused()
            return limited
        refusal = failure(self.name(call), error)
        return self.replica_lag.refused(*self._call_facts(call), answer.status, refusal) or refusal

    def answered(self, call: ApiRequest, reply: Any = None) -> None:
        """Note that a call was carried out."""
        self._points.limited = self._points.limited or self._transport.limits.primary is not None
        self._transport.limits.succeeded()
        self.replica_lag.answered(*self._call_facts(call), reply)

    def value(self, call: ApiRequest, answer: Response) -> Any:
        """Return the JSON value of the answer to a read; raises its `refusal`, and `Transient` if it is no JSON."""
        try:
            value = answer.decode()
        except HTTPException as error:
            raise self.refusal(call, answer, error) from error
        self.answered(call)
        return value

    async def _id_of(self, root: str) -> int | None:
        """Return the id of the repository at `/repos/owner/name`, itself renamed or not."""
        call = ApiRequest("GET", self._root.url(root))
        answer = await self._transport.exchange(call, lambda: self._transport.limits.admit(urgent=True))
        if answer.status in MOVED:
            return repository_id(self._root.path(answer.headers.get("location", "")))
        found = self.value(call, answer)
        return found.get("id") if isinstance(found, dict) else None

    def _call_facts(self, call: ApiRequest) -> tuple[str, str, Any]:
        return call.method, self._root.path(call.url), call.payload


class Moves:
    """The renames that were met; later requests go straight to the repository's id.

    A redirection to `/repositories/<id>/...` with another id is never acted on: it is not the same repository.
    """

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
        the answer would come from another repository: an issue was transferred. Raises `NotFound` for the former
        name of a branch, and of a default branch, which lead to another branch of the same repository.
        """
        if _branch(sent) != _branch(target):
            raise NotFound(f"GitHub has no branch at {sent}: it leads to {target}.")
        source, moved_to = _SOURCE.match(sent), repository_id(target)
        if source is None or moved_to is None:
            raise Moved(f"GitHub says that {sent} has moved to {target}.")
        root = source.group()
        if sent != root and await id_of(root) != moved_to:
            raise Moved(f"{sent} was transferred to another repository.")
        self._ids[root.casefold()] = moved_to
        _log.warning("repository_renamed", repository=root.removeprefix("/repos/"), repository_id=moved_to)


def _branch(path: str) -> str:
    """Return the branch that a path names, and what follows it; empty if none."""
    found = _BRANCH.match(path)
    return unquote(found[1]) if found else ""


def repository_id(path: str) -> int | None:
    """Return the repository id in a path, or None."""
    found = _TARGET.match(path)
    return int(found[1]) if found else None
