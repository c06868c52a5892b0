"""The REST client: reads that never mistake a failure for an empty answer, writes that are sent once.

Every other file of this room asks GitHub through `GitHub`; nothing outside the room does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from copy import copy
from datetime import datetime
from typing import Any, TypeVar

import aiohttp
from gidgethub import HTTPException

from shared.clock import Clock
from shared.errors import Misconfigured, Transient, UnknownOutcome
from shared.github.address import ApiRoot, query
from shared.github.cache import Entry
from shared.github.errors import NeverSent
from shared.github.limits import Budget
from shared.github.pacing import Pacing
from shared.github.reading import BACKOFF_SECONDS, MOVED, Reads
from shared.github.transport import Answer, Call, TokenSource, Transport
from shared.outgoing.gate import Outgoing
from shared.warrant import ACK, Notice, Warrant

__all__ = ["GitHub", "TokenSource"]

T = TypeVar("T")


class GitHub:
    """One token's view of one GitHub server.

    `session` should keep idle connections longer than the poll interval. Paths begin with a slash
    and are relative to `api_url`; parameters are sent in the order in which they are given.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        *,
        token: TokenSource,
        api_url: str,
        clock: Clock,
        pacing: Pacing,
        outgoing: Outgoing | None = None,
    ) -> None:
        """Raises `Misconfigured` for plain http or unpaced writes against anything but loopback.

        `outgoing` is the gate that every write passes; without one, it knows the token alone.
        """
        root = ApiRoot(api_url)
        if not root.loopback and (pacing.off or not root.encrypted):
            raise Misconfigured(f"{api_url}: https and a write interval above 0 are needed except against loopback.")
        self.clock = clock
        self._root, self._pacing = root, pacing
        self._transport = Transport(
            session, token=token, api_url=root.root, clock=clock, outgoing=outgoing or Outgoing()
        )
        self._reads = Reads(self._transport, root)
        self._told: dict[str, tuple[Any, ...]] = {}

    def beside(self) -> GitHub:
        """Another reader of the same connection: token, limits, pace and answers are one, news are its own."""
        other = copy(self)
        other._told = {}
        return other

    @property
    def server_time(self) -> datetime:
        """GitHub's time now (UTC), by its last answer; raises `Transient` before the first."""
        return self._transport.server.now()

    @property
    def budget(self) -> Budget | None:
        """The hourly request budget as the last answer stated it; None before the first."""
        return self._transport.limits.budget

    @property
    def scopes(self) -> frozenset[str] | None:
        """The scopes of a classic token, by GitHub's last answer; None for every other kind of token."""
        return self._transport.scopes

    async def synchronise(self) -> None:
        """Learn the server's time and limits; not charged."""
        await self.get("/rate_limit")

    async def get(self, path: str, **params: object) -> Any:
        """The JSON value of one resource, the caller's own copy; unchanged ones are not charged."""
        entry = await self._reads.entry(path + query(params), urgent=True)
        return entry.decode()

    async def pages(self, path: str, **params: object) -> list[Any]:
        """All items of a list, over all its pages, in GitHub's order.

        A list inside an object, such as `check_runs` beside `total_count`, is found; being shorter
        than that count raises `Transient`.
        """
        items: list[Any] = []
        total = 0
        async for entry in self._walk(path, params):
            found, total = _items(path, entry.decode())
            items += found
        if len(items) < total:
            raise Transient(f"GitHub listed {len(items)} of {total} items of {path}")
        return items

    async def listed(self, path: str, convert: Callable[[Any], tuple[T, ...]], **params: object) -> list[T]:
        """What `convert` makes of a list, over all its pages, in GitHub's order: for lists that are long.

        What a page became is kept instead of its text, so that a page that has not changed costs neither
        a charged request nor a conversion. `convert` makes frozen values, and is always the same function.
        """
        return [item async for entry in self._walk(path, params, convert) for item in entry.items]

    async def changed(
        self, path: str, convert: Callable[[Any], tuple[T, ...]], **params: object
    ) -> tuple[T, ...] | None:
        """What `convert` makes of one page, or None when it is still what this reader was last told of it."""
        address = path + query(params)
        entry = await self._reads.entry(address, urgent=False, convert=convert)
        if self._told.get(address) is entry.items:
            return None
        self._told[address] = entry.items
        return entry.items

    async def _walk(
        self, path: str, params: Mapping[str, object], convert: Callable[[Any], tuple[Any, ...]] | None = None
    ) -> AsyncIterator[Entry]:
        seen: set[str] = set()
        following: str | None = path + query({"per_page": 100, **params})
        while following is not None:
            if following in seen:
                raise Transient(f"GitHub's pages of {path} lead in a circle")
            seen.add(following)
            entry = await self._reads.entry(following, urgent=False, convert=convert)
            yield entry
            following = self._root.path(entry.next) if entry.next else None

    async def text(self, path: str, *, accept: str) -> str:
        """A log, diff or raw file; of more than 2 MiB only the end.

        Follows one redirection to a download, without showing it the token.
        """
        return await self._reads.text(path, accept)

    async def write(self, method: str, path: str, body: Any, warrant: Warrant, *, urgent: bool = False) -> Any:
        """Send one change and return GitHub's reply (None for 204).

        Waits for pacing, then asks `warrant` right before sending. `urgent` (releases, heartbeats,
        merges) may use the reserves. Raises `UnknownOutcome` when the change may have been made;
        every other error means that it was not. A POST is never repeated; other methods once, and
        only if nothing was sent.
        """
        await self._pacing.wait(urgent=urgent)
        try:
            return await self._write_once(method, path, body, warrant, urgent)
        except NeverSent:
            if method == "POST":
                raise
        await self.clock.sleep(BACKOFF_SECONDS)
        return await self._write_once(method, path, body, warrant, urgent)

    async def _write_once(self, method: str, path: str, body: Any, warrant: Warrant, urgent: bool) -> Any:
        def admit() -> None:
            self._transport.limits.admit(urgent=urgent)
            warrant.check()

        ack = isinstance(warrant, Notice) and warrant.purpose == ACK
        call = Call(method, self._reads.address(path), payload=body, ack=ack)
        answer = await self._transport.exchange(call, admit)
        if answer.status in MOVED:
            await self._reads.learn(call, answer)
            raise Transient(f"{self._reads.name(call)} was redirected; the repository's new address is known now")
        if answer.status >= 500 or answer.status == 408:
            raise UnknownOutcome(f"GitHub answered {answer.status} to {self._reads.name(call)}")
        return self._reply(call, answer)

    def _reply(self, call: Call, answer: Answer) -> Any:
        try:
            value = answer.decode()
        except HTTPException as error:
            raise self._reads.refusal(call, answer, error) from error
        except Transient as error:
            raise UnknownOutcome(f"The reply to {self._reads.name(call)} is lost: {error}") from error
        self._transport.limits.succeeded()
        return value


def _items(path: str, value: Any) -> tuple[list[Any], int]:
    """The items of one page, and how many there are in all when the page says so."""
    if isinstance(value, list):
        return value, 0
    lists = [part for part in value.values() if isinstance(part, list)] if isinstance(value, dict) else []
    if len(lists) != 1:
        raise Transient(f"GitHub's answer to {path} is not a list")
    return lists[0], int(value.get("total_count") or 0)
