"""Fences in git: read linearizably by fetch, advanced by one atomic push together with what they guard."""

from __future__ import annotations

from collections.abc import Sequence

from shared.git.command import Identity, Signature
from shared.git.mirror import Mirror
from shared.lock.port import RefUpdate


class Fences:
    """The fences of one repository; satisfies `shared.lock.gateway.FenceStore`."""

    def __init__(self, mirror: Mirror, identity: Identity) -> None:
        self._mirror = mirror
        self._identity = identity

    async def read(self, ref: str) -> tuple[str, str] | None:
        """The fence (commit id, message) as the server has it now; None when there is none."""
        oid = await self._mirror.refresh(ref)
        return None if oid is None else (oid, await self._mirror.message(oid))

    async def read_all(self, prefix: str = "refs/ack/") -> dict[str, tuple[str, str]]:
        """All fences below `prefix` with one fetch: ref -> (commit id, message)."""
        return await self._mirror.refresh_all(prefix)

    async def advance(
        self, ref: str, message: str, expected: str | None, parents: Sequence[str], updates: Sequence[RefUpdate]
    ) -> str | None:
        """Move the fence from `expected` (None: it must not exist) to a new commit, with `updates`, all or nothing.

        The new commit id; None when the server refused because a ref had another value. `message`
        must be unlike any other (it has a nonce): git skips a push of what is there already.
        Parents and updates must be in the mirror (`Mirror.adopt`). Errors as `Git.push`.
        """
        git = self._mirror.git
        tree = (await git.run("hash-object", "-w", "-t", "tree", "--stdin")).text
        oid = await git.commit(tree, parents, message, Signature(self._identity))
        moved = await git.push(self._mirror.url, (RefUpdate(ref, expected, oid), *updates))
        return oid if moved else None

    async def remove(self, ref: str, expected: str) -> bool:
        """Delete a fence that is no longer needed; False when it is not at `expected`. Errors as `Git.push`."""
        return await self._mirror.git.push(self._mirror.url, (RefUpdate(ref, expected, ""),))
