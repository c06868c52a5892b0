"""Reads: conditional, retried, redirected only as far as is safe; a failed read is never an empty one."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_exponential

from shared.errors import Transient
from shared.github.address import ApiRoot
from shared.github.cache import Cache, CachedAnswer
from shared.github.calls import MOVED, Calls
from shared.github.errors import Limited, NotFound, NotShown
from shared.github.global_ids import GlobalIds
from shared.github.item_versions import ItemVersions
from shared.github.kept_answers import Confirmed, KeptAnswer, KeptAnswers
from shared.github.paging import PAGE, address, extent, may_go_on
from shared.github.transport import JSON, ApiRequest, Response, Transport

P = ParamSpec("P")
T = TypeVar("T")

TRIES = 3
"""Tries of a read before `Transient` reaches the caller."""

BACKOFF_SECONDS = 0.5
"""Pause in seconds before the second try; doubled for the third."""

TEXT_BYTES, TEXTS, TEXTS_BESIDE_FILE = 2**20, 1000, 400
"""Bytes and number of answers kept in memory as text, for items in work: fewer where a file keeps them all.

Those of ended items would only fill it.
"""

Converter = Callable[[Any], tuple[Any, ...]]
"""Makes frozen values of one page of a list; raises `Transient` if the page cannot be used."""

_REPOSITORY = r".*?/(?:repos/[^/?#]+/[^/?#]+|repositories/\d+)"

_IN_REPOSITORY = re.compile(rf"(?P<root>{_REPOSITORY})/.*")

_WHOLE_ITEM = re.compile(rf"{_REPOSITORY}(?P<rest>/(?:issues|pulls)(?:/comments)?/\d+)")
"""Addresses that a single issue, pull request or comment gives for itself."""


class Reads:
    """All requests that change nothing."""

    def __init__(
        self, transport: Transport, root: ApiRoot, calls: Calls, versions: ItemVersions, ids: GlobalIds
    ) -> None:
        self._kept: KeptAnswers | None = None
        self._transport, self._root, self._calls, self._versions, self._ids = transport, root, calls, versions, ids
        self._wrote_at: dict[str, float] = {}
        self._values, self._texts = Cache(), Cache(max_entries=TEXTS, max_bytes=TEXT_BYTES)

    def remember(self, kept: KeptAnswers, texts: int) -> None:
        """Keep answers in a file as well, and no more than `texts` as text in memory. Call it before the first read."""
        self._kept = kept
        self._texts = Cache(max_entries=texts, max_bytes=TEXT_BYTES)

    async def entry(
        self, path: str, *, urgent: bool, convert: Converter | None = None, max_age: float = 0.0
    ) -> CachedAnswer:
        """Return the answer to a JSON read; with `convert`, only its `items` are kept, the same ones while unchanged.

        An answer that cannot be converted is not remembered, so that the next read is a full one. One that another
        agent of the token was given, or had confirmed, within `max_age` seconds is taken as it is, unless this agent
        has written to the repository since.
        """
        if max_age > 0 and self._kept is not None and (shared := self._shared(path, convert, max_age)) is not None:
            return shared
        asked = self._now()
        entry = await self._retry(self._entry_once, path, urgent, convert)
        if max_age > 0 and self._kept is not None:
            self._kept.confirm(self._calls.address(path), Confirmed(entry.etag, entry.read), asked)
        return entry

    def _shared(self, path: str, convert: Converter | None, max_age: float) -> CachedAnswer | None:
        """Return the answer of another agent that is no older; None if there is none, or none that is known here."""
        url = self._calls.address(path)
        after = max(self._now() - max_age, self._wrote_at.get(_repository_of(url), 0.0))
        confirmed = self._kept.confirmed(url, after=after) if self._kept is not None else None
        if confirmed is None:
            return None
        cache, form = (self._texts, JSON) if convert is None else (self._values, convert.__qualname__)
        entry = self._entry_of_file(path, url, cache, convert) or cache.find(url, form)
        return entry if entry is not None and confirmed.names(entry.etag, entry.read) else None

    async def walk(
        self, path: str, params: Mapping[str, object], convert: Converter | None = None
    ) -> AsyncIterator[CachedAnswer]:
        """Yield the pages of a list; a full one is always followed by a look at the next, see `paging`."""
        asked: set[str] = set()
        listed, number, unnamed = 0, 1, ""
        following: str | None = address(path, params)
        while following is not None:
            if following in asked:
                raise Transient(f"GitHub's pages of {path} lead in a circle")
            asked.add(following)
            entry = await self.entry(following, urgent=False, convert=convert)
            if entry.etag and entry.etag == unnamed:
                return  # this server knows no pages of this list, and has given the same answer again
            yield entry
            listed, number = listed + entry.extent.listed, number + 1
            following, unnamed = (self._root.path(entry.next), "") if entry.next else (None, entry.etag)
            if following is None and may_go_on(entry.extent, listed, int(str(params.get("per_page", PAGE)))):
                following = address(path, params, number)

    async def text(self, path: str, accept: str) -> str:
        """Return the answer to a text read; its end if it is long."""
        return await self._retry(self._text_once, path, accept)

    def wrote(self, call: ApiRequest, answer: Response, reply: Any) -> None:
        """Note that a write was carried out, and keep its answer if that is a whole issue, pull request or comment.

        GitHub makes the ETag of the JSON: the next reading is confirmed by it if it would be the very same, else sent
        in full. Whatever anybody has changed meanwhile is seen.
        """
        self._calls.answered(call, reply)
        url, etag = _address_of(call.url, reply), answer.headers.get("etag", "")
        if url is None or not etag:
            return
        self._texts.keep(url, JSON, CachedAnswer(etag, answer.body, extent=extent(reply), read=self._now()))
        if self._kept is not None:
            self._kept.keep(url, KeptAnswer(etag, answer.body, None, self._now()))

    def note_write(self, path: str) -> None:
        """Note that a write to the repository of a path was sent: lists that others have read before will not do."""
        self._wrote_at[_repository_of(self._calls.address(path))] = self._now()

    async def _entry_once(self, path: str, urgent: bool, convert: Converter | None) -> CachedAnswer:
        url, form = self._calls.address(path), JSON if convert is None else convert.__qualname__
        cache = self._texts if convert is None else self._values
        cached = self._entry_of_file(path, url, cache, convert) or cache.find(url, form)
        call = ApiRequest("GET", url, etag=cached.etag if cached else None)
        await self._calls.may_read(call, urgent=urgent)
        answer = await self._transport.exchange(call, lambda: self._calls.admit(call, urgent=urgent))
        if answer.status == 304 and cached is not None:
            self._calls.answered(call)
            etag = answer.headers.get("etag", cached.etag)
            entry = cached if etag == cached.etag else replace(cached, etag=etag)
            if entry is not cached:
                cache.keep(url, form, entry)
            return entry
        if answer.status in MOVED:
            await self._calls.learn(call, answer)
            return await self._entry_once(path, urgent, convert)
        read = KeptAnswer(answer.headers.get("etag", ""), answer.body, answer.next, self._now())
        entry = self._entry_of(path, read, self._calls.value(call, answer), convert)
        cache.keep(url, form, entry)
        if self._kept is not None:
            self._kept.keep(url, read)
        return entry

    def _entry_of(self, path: str, read: KeptAnswer, value: Any, convert: Converter | None) -> CachedAnswer:
        """Return the cache entry of an answer whose body is `value`; ids and versions are learned from it."""
        self._ids.learn(path, value)
        self._versions.listed(path.partition("?")[0], value, self._transport.clock.boot())
        body, items = (read.body, ()) if convert is None else (b"", convert(value))
        return CachedAnswer(read.etag, body, read.next, items, extent(value), read=read.read)

    def _entry_of_file(self, path: str, url: str, cache: Cache, convert: Converter | None) -> CachedAnswer | None:
        """Return what the file knows and memory lacks, from before this process or read by another agent meanwhile.

        None if memory has the newest. GitHub is asked if it still holds.
        """
        form = JSON if convert is None else convert.__qualname__
        held = cache.find(url, form)
        etag, after = ("", 0.0) if held is None else (held.etag, held.read)
        read = self._kept.find(url, etag=etag, after=after) if self._kept is not None else None
        if read is None:
            return None
        try:
            entry = self._entry_of(path, read, json.loads(read.body) if read.body else None, convert)
        except (ValueError, Transient):  # another version has kept it
            return None
        cache.keep(url, form, entry)
        return entry

    def _now(self) -> float:
        return self._transport.clock.now()

    async def _text_once(self, path: str, accept: str) -> str:
        call = ApiRequest("GET", self._calls.address(path), accept)
        await self._calls.may_read(call, urgent=False)
        answer = await self._transport.download(call, lambda: self._calls.admit(call, urgent=False))
        if answer.status in MOVED:
            await self._calls.learn(call, answer)
            return await self._text_once(path, accept)
        if answer.status == 302:
            answer = await self._download(call, self._root.download(answer.headers.get("location", "")))
        elif answer.status != 200:
            self._calls.value(call, answer)
        if answer.headers.get("content-type", "").startswith("text/html"):
            raise Transient(f"GitHub answered {self._calls.name(call)} with a web page")
        return answer.body.decode("utf-8", "replace")

    async def _download(self, call: ApiRequest, url: str) -> Response:
        """Download a signed URL; its host is not GitHub's API and its limits are not ours."""
        answer = await self._transport.download_elsewhere(url)
        if answer.status in {404, 410}:
            raise NotFound(f"GitHub no longer keeps {self._calls.name(call)}")
        if answer.status != 200:
            raise Transient(f"The download of {self._calls.name(call)} was answered with {answer.status}")
        return answer

    async def _retry(self, read: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Retry a read that failed for a passing reason.

        `read` is an `async def`, not a lambda that returns its coroutine: tenacity would take that for the answer.
        """
        retrying = AsyncRetrying(
            sleep=self._transport.clock.sleep,
            stop=stop_after_attempt(TRIES),
            wait=wait_exponential(BACKOFF_SECONDS),
            retry=retry_if_exception(_passes),
            reraise=True,
        )
        return await retrying(read, *args, **kwargs)


def _address_of(sent: str, reply: Any) -> str | None:
    """Return where the item that a write's reply shows is read, below the repository as it was named in the request.

    None if the reply is something else. The reply may name the repository, and even the server, in other words.
    """
    named = reply.get("url") if isinstance(reply, dict) else None
    whole = _WHOLE_ITEM.fullmatch(named) if isinstance(named, str) else None
    place = _IN_REPOSITORY.fullmatch(sent)
    return None if whole is None or place is None else place["root"] + whole["rest"]


def _repository_of(url: str) -> str:
    """Return the root of the repository to which an address belongs; empty if to none."""
    place = _IN_REPOSITORY.fullmatch(url)
    return place["root"].casefold() if place is not None else ""


def _passes(error: BaseException) -> bool:
    """Return whether an error may be gone at once: a limit is not, nor is a thing that is not shown yet."""
    return isinstance(error, Transient) and not isinstance(error, Limited | NotShown)
