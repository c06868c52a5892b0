"""Fences in git: read linearizably by fetch, advanced by one atomic push together with what they guard."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from shared.errors import EngineError, Transient, UnknownOutcome
from shared.git import history
from shared.git.command import Identity, Signature
from shared.git.history import RefTip
from shared.git.mirror import Mirror
from shared.lock.codec import FENCE_NAMESPACE
from shared.lock.port import RefUpdate
from shared.lock.write_permit import WritePermit

_ACCOUNT = re.compile(r"<([1-9][0-9]{0,18})\+[^@\s]*@")
"""The account's id in the address that GitHub gives it, which every commit of an agent has."""

_AGENT, _AT = re.compile(r"^Agent: (\S+)$", re.MULTILINE), re.compile(r"^At: (\S+)$", re.MULTILINE)


SCRATCH = f"{FENCE_NAMESPACE}/doctor/breaker"
"""Namespace of probes' refs; no fence is ever there, because no kind of agent has this name."""


@dataclass(frozen=True, slots=True)
class AgentSeen:
    """The newest move of one fence: the agent that it names, the account that made it, its server time."""

    agent: str
    account: int
    at: datetime


class Fences:
    """The fences of one repository; satisfies `shared.lock.gateway.FenceStore`."""

    def __init__(self, mirror: Mirror, identity: Identity) -> None:
        self._mirror = mirror
        self._identity = identity

    async def read(self, ref: str) -> tuple[str, str] | None:
        """Return the fence (commit id, message) as the server has it now; None if there is none."""
        oid = await self._mirror.refresh(ref)
        return None if oid is None else (oid, await self._mirror.message(oid))

    async def read_all(self, prefix: str = "refs/ack/") -> dict[str, tuple[str, str]]:
        """Return all fences below `prefix` with one fetch: ref -> (commit id, message)."""
        return await self._mirror.refresh_all(prefix)

    async def traces(self) -> tuple[AgentSeen, ...]:
        """Return the agents that moved the fences fetched last, with the times; sends no request."""
        return tuple(_traces(await history.tips_below(self._mirror.git, f"{FENCE_NAMESPACE}/")))

    async def advance(
        self, ref: str, message: str, expected: str | None, parents: Sequence[str], updates: Sequence[RefUpdate]
    ) -> str | None:
        """Move the fence from `expected` (None: it must not exist) to a new commit, with `updates`, all or nothing.

        Returns the new commit id; None if the server refused because a ref had another value. `message`
        must be unlike any other (it has a nonce): git skips a push of a commit that is there already.
        Parents and updates must be in the mirror (`Mirror.adopt`). Errors as `Git.push`.
        """
        oid = await self.commit(message, parents)
        self._mirror.forget_told([ref, *(update.ref for update in updates)])
        if await self._mirror.git.push(self._mirror.url, (RefUpdate(ref, expected, oid), *updates)):
            if updates:  # a fence itself is never believed without asking
                await self._mirror.note(updates)
            return oid
        return oid if await self._is_at(ref, oid) else None

    async def commit(self, message: str, parents: Sequence[str]) -> str:
        """Write a fence's commit and return its id; no ref moves."""
        git = self._mirror.git
        tree = await git.store("tree", b"")
        return await git.commit(tree, parents, message, Signature(self._identity))

    async def _is_at(self, ref: str, oid: str) -> bool:
        """Return whether a refused push has happened: curl repeats a request if its connection breaks unanswered."""
        try:
            return await self._mirror.refresh(ref) == oid
        except Transient as error:
            raise UnknownOutcome(f"The git server refused a push and cannot be asked why: {error}") from error

    async def probe(self) -> None:
        """Create, move and delete a ref of no other use below `SCRATCH`; errors as `Git.push`, the first of the three.

        A created ref is removed as far as that is allowed, also if moving it was refused.
        """
        ref = f"{SCRATCH}/{secrets.token_hex(8)}"
        first, second = [await self.commit(f"A probe of the git server: {name}\n", ()) for name in ("first", "second")]
        await self._expect_move(RefUpdate(ref, None, first))
        try:
            await self._expect_move(RefUpdate(ref, first, second))
        except EngineError:
            with suppress(EngineError):
                await self._expect_move(RefUpdate(ref, first, ""))
            raise
        await self._expect_move(RefUpdate(ref, second, ""))

    async def _expect_move(self, move: RefUpdate) -> None:
        if not await self._mirror.git.push(self._mirror.url, (move,)):
            raise Transient(f"The git server says that {move.ref} is not what was pushed just now.")

    async def remove(self, ref: str, expected: str, permit: WritePermit) -> bool:
        """Delete a fence that is no longer needed; False if it is not at `expected`. Errors as `Git.push`."""
        permit.check()
        self._mirror.forget_told([ref])
        return await self._mirror.git.push(self._mirror.url, (RefUpdate(ref, expected, ""),))


def _traces(tips: Iterable[RefTip]) -> Iterator[AgentSeen]:
    """Yield the newest move of each ref that names its agent; others, such as the ledger, do not."""
    for tip in tips:
        account, agent, at = _ACCOUNT.search(tip.author), _AGENT.search(tip.message), _AT.search(tip.message)
        with suppress(ValueError):
            if account is not None and agent is not None and at is not None:
                moved = datetime.fromisoformat(at[1])
                if moved.tzinfo is not None:
                    yield AgentSeen(agent[1], int(account[1]), moved)
