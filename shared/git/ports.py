"""What is asked of a repository's refs and objects; a mirror and its fences answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from shared.lock.port import RefUpdate


class Heads(Protocol):
    """Brings refs of the server here."""

    async def refresh(self, ref: str) -> str | None: ...


class Files(Heads, Protocol):
    """Tells the paths of a commit as well."""

    async def paths(self, commit: str) -> tuple[str, ...]: ...


class Branches(Heads, Protocol):
    """Brings all refs that begin with a prefix as well: ref -> (commit id, message)."""

    async def refresh_all(self, prefix: str) -> Mapping[str, tuple[str, str]]: ...


class Refs(Protocol):
    """Refs of the engine's own on the git server, moved by compare-and-swap."""

    async def read(self, ref: str) -> tuple[str, str] | None:
        """Commit id and message as the server has them now; None when there is none."""
        ...

    async def advance(
        self, ref: str, message: str, expected: str | None, parents: Sequence[str], updates: Sequence[RefUpdate]
    ) -> str | None:
        """Move it to a new commit; None when it was not at `expected`."""
        ...
