"""The REST client: reads that never mistake a failure for an empty answer, writes that are sent once.

Every other file of this room asks GitHub through `GitHub`; nothing outside the room does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from datetime import datetime
from typing import Any, TypeVar

import aiohttp
from gidgethub import HTTPException

from shared.clock import Clock
from shared.errors import Misconfigured, Transient, UnknownOutcome
from shared.github import item_versions, wire
from shared.github.address import GRAPHQL, ApiRoot, query, segment
from shared.github.calls import MOVED, Calls
from shared.github.errors import NeverSent, NotShown, Refused
from shared.github.global_ids import GlobalIds
from shared.github.item_versions import ItemVersions
from shared.github.kept_answers import KeptAnswers
from shared.github.limits import Pacing, RateLimit
from shared.github.paging import entries
from shared.github.reading import BACKOFF_SECONDS, TEXTS_BESIDE_FILE, Reads
from shared.github.replica_lag import AT_ONCE_SECONDS, KNOWN_SECONDS, Thing
from shared.github.server_time import DOUBT_SECONDS, LOOPBACK_DOUBT_SECONDS, ServerTime
from shared.github.transport import ApiRequest, Response, TokenSource, Transport
from shared.lock.write_permit import ACK, Notice, WritePermit
from shared.newest import Newest
from shared.outgoing.outbound_filter import Outgoing

__all__ = ["GitHub", "TokenSource"]

T = TypeVar("T")

EMPTY_SECONDS = 5.0
"""Seconds for which a list counts as empty that the answer to a write of our own has just shown to be empty."""

MOST_EMPTY = 100
"""Most such lists that are remembered."""


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

        `outgoing` is the filter that every write passes; without one, it knows the token alone.
        """
        root = ApiRoot(api_url)
        if not root.loopback and (pacing.off or not root.encrypted):
            raise Misconfigured(f"{api_url}: https and a write interval above 0 are needed except against loopback.")
        self.clock = clock
        self._root, self._pacing = root, pacing
        doubt = LOOPBACK_DOUBT_SECONDS if root.loopback else DOUBT_SECONDS
        server, gate = ServerTime(clock, doubt), outgoing or Outgoing()
        self._transport = Transport(session, token=token, api_url=root.root, server=server, clock=clock, outgoing=gate)
        self._versions = ItemVersions()
        self.ids = GlobalIds()
        self._empty: Newest[str, float] = Newest(MOST_EMPTY)
        self._calls = Calls(self._transport, root, pacing.points)
        self.points = pacing.points
        self._reads = Reads(self._transport, root, self._calls, self._versions, self.ids)
        self._returned: dict[str, tuple[Any, ...]] = {}

    def name_agent(self, agent: str) -> None:
        """Name the agent in the header User-Agent of each request, for whoever reads the server's logs.

        Of several agents in one process, which share this client, it is the first.
        """
        self._transport.requester = f"workflow-engine ({agent})"

    def remember(self, kept: KeptAnswers, texts: int = TEXTS_BESIDE_FILE) -> None:
        """Keep answers beyond this process; earlier ones are confirmed instead of being read anew.

        Memory holds the `texts` answers used last, the others are read from `kept`. Call it before the first read.
        """
        self._reads.remember(kept, texts)

    def second_reader(self) -> GitHub:
        """Return another reader of the same connection: token, limits, pace, answers are shared, news are its own."""
        other = copy(self)
        other._returned = {}
        return other

    @property
    def sure_of_time(self) -> bool:
        """True if nothing speaks against `server_time`; otherwise no lock is taken from anybody."""
        return self._transport.server.sure

    @property
    def server_time(self) -> datetime:
        """GitHub's time now (UTC), by its last answer; raises `Transient` before the first."""
        return self._transport.server.now()

    @property
    def rate_limit(self) -> RateLimit | None:
        """The hourly limit of requests as the last answer stated it; None before the first."""
        return self._transport.limits.primary

    @property
    def scopes(self) -> frozenset[str] | None:
        """The scopes of a classic token, by GitHub's last answer; None for every other kind of token."""
        return self._transport.scopes

    @property
    def site(self) -> str:
        """The root of the server's web pages, without a final slash."""
        return self._root.site

    async def get(self, path: str, **params: object) -> Any:
        """Return the JSON value of one resource, the caller's own copy; unchanged ones are not charged."""
        entry = await self._until_shown(lambda: self._reads.entry(path + query(params), urgent=True))
        return entry.decode()

    async def item(self, path: str) -> Any:
        """Read an issue or a pull request as `get`, but not older than the state just seen or written."""
        for pause in AT_ONCE_SECONDS:
            value = await self.get(path)
            if not self._versions.behind(path, value, self.clock.boot()):
                with suppress(NotShown):
                    return await self._newest(path, value)
            await self.clock.sleep(pause)
        return await self._newest(path, await self.get(path))

    async def _newest(self, path: str, value: Any) -> Any:
        """Return the item with our own last labels; raises `NotShown` if it is certainly an older state."""
        boot = self.clock.boot()
        if self._versions.backwards(path, value, boot):
            raise NotShown(f"the newest state of {path}", AT_ONCE_SECONDS[0])
        written = self._versions.older(path, value, boot)
        if written is None:
            return value
        events = await self.pages(f"{path.replace('/pulls/', '/issues/')}/events")
        undone_at = item_versions.undone_at(written, events)
        if undone_at is None:
            return item_versions.applied(written, value)
        if undone_at > item_versions.updated_at(value):
            raise NotShown(f"the newest state of {path}", AT_ONCE_SECONDS[0])
        return value

    async def pages(self, path: str, **params: object) -> list[Any]:
        """Return all items of a list, over all its pages, in GitHub's order.

        A list inside an object, such as `check_runs` beside `total_count`, is found; being shorter
        than that count raises `Transient`, and a list without an entry that was just put there raises `NotShown`.
        """
        return await self._until_shown(lambda: self._pages_once(path, params))

    async def _pages_once(self, path: str, params: Mapping[str, object]) -> list[Any]:
        items: list[Any] = []
        total = 0
        async for entry in self._reads.walk(path, params):
            items += entries(path, entry.decode())
            total = entry.extent.total or 0
        if len(items) < total:
            raise Transient(f"GitHub listed {len(items)} of {total} items of {path}")
        since = params.get("since")  # what is older is not in the list, however new it is to us
        if since is not None and not isinstance(since, datetime):
            return items
        if (lacks := self._calls.replica_lag.lacking(path, items, since)) is not None:
            raise lacks
        return items

    def expects_entry_in(self, path: str) -> bool:
        """Return whether a list has to show something that was put there just now."""
        return self._calls.replica_lag.lacking(path, ()) is not None

    def note_count(self, path: str, count: int) -> None:
        """Note how many entries the answer to a write of our own has just shown a list to have."""
        self._empty.pop(path.casefold(), None)
        if not count:
            self._empty[path.casefold()] = self.clock.boot()

    def shows_empty(self, path: str) -> bool:
        """Return whether a list was shown to be empty just now, and nothing of ours has been put there since."""
        at = self._empty.get(path.casefold())
        return at is not None and self.clock.boot() - at < EMPTY_SECONDS and not self.expects_entry_in(path)

    async def listed(self, path: str, convert: Callable[[Any], tuple[T, ...]], **params: object) -> list[T]:
        """Return a long list as values of `convert`, over all its pages, in GitHub's order.

        The values of a page are kept instead of its text, so that an unchanged page costs neither
        a charged request nor a conversion. `convert` makes frozen values, and is always the same function.
        """
        return [item async for entry in self._reads.walk(path, params, convert) for item in entry.items]

    async def changed(
        self, path: str, convert: Callable[[Any], tuple[T, ...]], max_age: float = 0.0, **params: object
    ) -> tuple[T, ...] | None:
        """Return one page as values of `convert`, or None if this reader was last told the same.

        A page that another agent of the token has read no more than `max_age` seconds ago will do.
        """
        url = path + query(params)
        entry = await self._reads.entry(url, urgent=False, convert=convert, max_age=max_age)
        if self._returned.get(url) is entry.items:
            return None
        self._returned[url] = entry.items
        return entry.items

    async def _until_shown(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask again after a moment or two; what takes longer is left to the next tick."""
        for pause in AT_ONCE_SECONDS:
            try:
                return await ask()
            except NotShown as late:
                if late.seconds > pause:
                    raise
            await self.clock.sleep(pause)
        return await ask()

    async def text(self, path: str, *, accept: str) -> str:
        """Return a log, diff or raw file; of more than 2 MiB only the end.

        Follows one redirection to a download, without showing it the token.
        """
        return await self._reads.text(path, accept)

    async def get_elsewhere(self, url: str, most_bytes: int) -> Response:
        """Return the answer of an address outside of the API, also a redirection; shows no token. Raises `Transient`.

        Of a body longer than `most_bytes` one byte more comes back. The caller decides if the address may be asked.
        """
        return await self._transport.beginning_elsewhere(url, most_bytes)

    async def write(self, method: str, path: str, body: Any, permit: WritePermit, *, urgent: bool = False) -> Any:
        """Send one change and return GitHub's reply (None for 204).

        Waits for pacing, then asks `permit` right before sending. `urgent` (releases, heartbeats,
        merges) may use the reserves. Raises `UnknownOutcome` if the change may have been made;
        every other error means that it was not. A POST is repeated only if GitHub refused it because it does
        not show yet what the call names. Other methods are repeated once, and only if nothing was sent.
        """
        reply = await self._until_shown(lambda: self._write(method, path, body, permit, urgent))
        self.ids.learn(path, reply)
        self._versions.note(method, path, body, at=self.server_time, boot=self.clock.boot())
        return reply

    async def graphql(self, name: str, document: str, variables: Mapping[str, Any], permit: WritePermit) -> Any:
        """Return the whole reply to the GraphQL operation `name`, for what REST has not.

        Raises `Refused` with GitHub's errors, which come with a 200, `GraphqlUsedUp`, and what `write` raises.
        """
        self._transport.limits.admit_graphql()
        body = {"operationName": name, "query": document, "variables": dict(variables)}
        reply = await self.write("POST", GRAPHQL, body, permit)
        if errors := wire.reply(_graphql_errors, reply):
            raise Refused(f"GraphQL {name}", 422, errors[0], errors[1:])
        return reply

    async def _write(self, method: str, path: str, body: Any, permit: WritePermit, urgent: bool) -> Any:
        await self._pacing.wait(urgent=urgent)
        try:
            return await self._write_once(method, path, body, permit, urgent)
        except NeverSent:
            if method == "POST":
                raise
        await self.clock.sleep(BACKOFF_SECONDS)
        return await self._write_once(method, path, body, permit, urgent)

    async def _write_once(self, method: str, path: str, body: Any, permit: WritePermit, urgent: bool) -> Any:
        ack = isinstance(permit, Notice) and permit.purpose == ACK
        call = ApiRequest(method, self._calls.address(path), payload=body, ack=ack)

        def admit() -> None:
            self._calls.admit(call, urgent=urgent)
            permit.check()

        try:
            answer = await self._transport.exchange(call, admit)
        finally:  # also if its answer was lost
            self._reads.note_write(path)
        if answer.status in MOVED:
            await self._calls.learn(call, answer)
            raise Transient(f"{self._calls.name(call)} was redirected; the repository's new address is known now")
        if answer.status >= 500 or answer.status == 408:
            raise UnknownOutcome(f"GitHub answered {answer.status} to {self._calls.name(call)}")
        return self._reply(call, answer)

    def _reply(self, call: ApiRequest, answer: Response) -> Any:
        try:
            value = answer.decode()
        except HTTPException as error:
            raise self._calls.refusal(call, answer, error) from error
        except Transient as error:
            raise UnknownOutcome(f"The reply to {self._calls.name(call)} is lost: {error}") from error
        if call.url == self._root.url(GRAPHQL):
            errors = "\n".join(wire.reply(_graphql_errors, value))
            if (limited := self._transport.limits.refusal_by_graphql(answer.headers, errors)) is not None:
                raise limited
        self._reads.wrote(call, answer, value)
        return value

    def is_renamed(self, root: str) -> bool:
        """Return whether the repository at `root` was found under another name than that."""
        return self._calls.is_renamed(root)

    def note_write(self, root: str) -> None:
        """Note that a request that names no repository was sent to change something in the one at `root`."""
        self._reads.note_write(f"{root}/")

    def note_labels(self, item: str, on: Sequence[str], off: Sequence[str]) -> None:
        """Note that labels of the item at this path were changed, by no request that names them."""
        changes: list[tuple[str, str, Any]] = [("DELETE", f"{item}/labels/{segment(name)}", None) for name in off]
        changes += [("POST", f"{item}/labels", {"labels": list(on)})] if on else []
        for method, path, body in changes:
            self._calls.replica_lag.answered(method, self._root.path(self._calls.address(path)), body, None)
            self._versions.note(method, path, body, at=self.server_time, boot=self.clock.boot())

    def expect(self, root: str, kind: str, name: object, seconds: float = KNOWN_SECONDS) -> None:
        """Note that something exists in the repository at `root`; GitHub may show it late, see `replica_lag`."""
        now = self._root.path(self._calls.address(f"{root}/")).rstrip("/")
        self._calls.replica_lag.expect(Thing(now.casefold(), kind, str(name)), seconds)


def _graphql_errors(value: Any) -> tuple[str, ...]:
    return tuple(str(one["message"]) for one in value.get("errors") or ())
