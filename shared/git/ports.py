"""The Protocols of git for agents, commands and registers: one for each adapter, with all of it that they use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from shared.git.fences import AgentSeen
from shared.git.history import Commit
from shared.lock.port import RefUpdate
from shared.lock.write_permit import WritePermit


class Mirror(Protocol):
    """The repository's refs and objects on this machine, as the server has them or as last fetched."""

    async def ensure(self) -> None:
        """Have a copy at all."""
        ...

    async def fetch(self, *refspecs: str) -> None:
        """Bring all branches, or these object ids."""
        ...

    async def refresh(self, ref: str) -> str | None:
        """The commit that a full ref names on the server now, brought here; None when there is none."""
        ...

    async def refresh_all(self, prefix: str) -> Mapping[str, tuple[str, str]]:
        """Bring all refs that begin with a prefix: ref -> (commit id, message)."""
        ...

    async def read_together(self, *refs: str) -> None:
        """Bring these with one fetch, so that `refresh` tells them without another one in this look."""
        ...

    async def sha(self, ref: str) -> str | None:
        """The commit that a full ref or object id names here; None when there is none."""
        ...

    async def tip(self, branch: str) -> str | None: ...

    async def paths(self, commit: str) -> tuple[str, ...]:
        """Every path at a commit."""
        ...

    async def show(self, commit: str, path: str) -> bytes | None:
        """A file at a commit; None when there is none."""
        ...

    async def contents(self, commit: str, paths: Sequence[str]) -> tuple[bytes | None, ...]: ...

    async def diff(self, base: str, head: str) -> str:
        """Return what `head` changed since it left `base`, as a unified diff."""
        ...

    async def log(self, ref: str, limit: int, *, without: str = "") -> Sequence[Commit]: ...


class FenceList(Protocol):
    """All fences of one repository; `ActiveAgents` is one as well, which notes who works there."""

    async def read_all(self, prefix: str = ...) -> Mapping[str, tuple[str, str]]: ...

    async def remove(self, ref: str, expected: str, permit: WritePermit) -> bool: ...


class Fences(FenceList, Protocol):
    """Refs of the engine's own on the git server, moved by compare-and-swap."""

    async def read(self, ref: str) -> tuple[str, str] | None:
        """Return commit id and message as the server has them now; None if there is none."""
        ...

    async def advance(
        self, ref: str, message: str, expected: str | None, parents: Sequence[str], updates: Sequence[RefUpdate]
    ) -> str | None:
        """Move it to a new commit; None if it was not at `expected`."""
        ...

    async def traces(self) -> tuple[AgentSeen, ...]: ...


class Notes(Protocol):
    """The notes in the repository's copy on this machine; a ref is full."""

    async def all(self, ref: str) -> Mapping[str, str]: ...
