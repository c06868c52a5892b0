"""Fences in git: read linearizably by fetch, advanced by one atomic push together with what they guard."""

from __future__ import annotations

from collections.abc import Sequence

from shared.errors import Transient, UnknownOutcome
from shared.git.command import Identity, Signature
from shared.git.mirror import Mirror
from shared.lock.port import RefUpdate
from shared.warrant import Warrant


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
        oid = await self.commit(message, parents)
        if await self._mirror.git.push(self._mirror.url, (RefUpdate(ref, expected, oid), *updates)):
            if updates:  # a fence itself is never believed without asking
                await self._mirror.note(updates)
            return oid
        return oid if await self._is_at(ref, oid) else None

    async def commit(self, message: str, parents: Sequence[str]) -> str:
        """Write a fence's commit and return its id; no ref moves."""
        git = self._mirror.git
        tree = (await git.run("hash-object", "-w", "-t", "tree", "--stdin")).text
        return await git.commit(tree, parents, message, Signature(self._identity))

    async def _is_at(self, ref: str, oid: str) -> bool:
        """Whether a refused push has happened: curl sends a request again when its connection breaks unanswered."""
        try:
            return await self._mirror.refresh(ref) == oid
        except Transient as error:
            raise UnknownOutcome(f"The git server refused a push and cannot be asked why: {error}") from error

    async def remove(self, ref: str, expected: str, warrant: Warrant) -> bool:
        """Delete a fence that is no longer needed; False when it is not at `expected`. Errors as `Git.push`."""
        warrant.check()
        return await self._mirror.git.push(self._mirror.url, (RefUpdate(ref, expected, ""),))
