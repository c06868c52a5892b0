"""A reverse proxy on loopback that passes everything through to the lab and notes what was asked."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import aiohttp
from aiohttp import ClientConnectionResetError, web
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from benchmarks.request_counts import Exchange, Tally, tally, wait_asked
from lab.github.http.host import Host

_OWN_OF_A_HOP = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "expect", "host", "content-length"}
)
"""Headers that each connection sets for itself; aiohttp has already inflated and joined what they describe."""

TOKENS_END = 8
"""Characters of a token that are kept: enough to tell accounts apart."""

_AGENT = re.compile(r"workflow-engine \(([a-z0-9-]+)\)")
"""The User-Agent by which an agent names itself."""

_ADDRESSES = ("link", "location")
"""Answer headers that hold absolute URLs of the server."""


class Proxy:
    """Records everything asked through `url`, in order; made by `recording`."""

    def __init__(self, host: Host, target: str, session: aiohttp.ClientSession) -> None:
        self.url = host.url
        self.exchanges: list[Exchange] = []
        self._target = target
        self._session = session

    @property
    def polls(self) -> int:
        """Number of the polls among the exchanges."""
        return sum(exchange.change_list for exchange in self.exchanges)

    def tally(self, since: int = 0) -> Tally:
        """Return the counts from the exchange with that index on."""
        return tally(self.exchanges[since:])

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Pass one request on and its answer back."""
        body = request.content if request.body_exists else None
        url = URL(self._target + request.raw_path, encoded=True)
        headers = _end_to_end(request.headers, "content-encoding" if ".git/" in request.path else "")
        sent = self._session.request(request.method, url, headers=headers, data=body, allow_redirects=False)
        now = asyncio.get_running_loop().time
        asked = now()
        async with sent as answer:
            token = request.headers.get("Authorization", "")[-TOKENS_END:]
            wait = wait_asked(answer.headers)
            named = _AGENT.fullmatch(request.headers.get("User-Agent", ""))
            agent = named[1] if named else ""
            times = (asked, now(), wait)
            self.exchanges.append(Exchange(request.method, request.raw_path, answer.status, token, *times, agent))
            back = self._back(answer)
            if ".git/" not in request.path:
                return web.Response(status=answer.status, headers=back, body=await answer.read())
            response = web.StreamResponse(status=answer.status, headers=back)
            with suppress(ClientConnectionResetError):  # the agent was stopped meanwhile
                await response.prepare(request)
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
                await response.write_eof()
            return response

    def _back(self, answer: aiohttp.ClientResponse) -> CIMultiDict[str]:
        headers = _end_to_end(answer.headers)
        for name in _ADDRESSES:
            if name in headers:
                headers[name] = headers[name].replace(self._target, self.url)
        return headers


Answers = Callable[[web.Request], web.Response | None]
"""Returns a proxy's own answer to a request; None to pass the request on."""


@asynccontextmanager
async def recording(
    target: str, *, unix_socket: Path | None = None, instead: Answers = lambda request: None
) -> AsyncIterator[Proxy]:
    """Run a proxy in front of the server at `target` (a root URL without a final slash)."""
    host = Host(0, unix_socket)
    skipped = ("Accept", "Accept-Encoding", "User-Agent", "Content-Type")
    async with aiohttp.ClientSession(
        auto_decompress=False,
        skip_auto_headers=skipped,
        timeout=aiohttp.ClientTimeout(total=None),
        connector=aiohttp.TCPConnector(limit=0),
    ) as session:
        proxy = Proxy(host, target, session)

        async def serve(request: web.Request) -> web.StreamResponse:
            return instead(request) or await proxy.serve(request)

        app = web.Application(client_max_size=0)
        app.router.add_route("*", "/{tail:.*}", serve)
        await host.start(app)
        try:
            yield proxy
        finally:
            await host.stop()


def _end_to_end(headers: CIMultiDictProxy[str], also: str = "") -> CIMultiDict[str]:
    dropped = _OWN_OF_A_HOP | {also}
    return CIMultiDict((name, value) for name, value in headers.items() if name.casefold() not in dropped)
