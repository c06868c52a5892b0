"""One request, one answer: gidgethub's protocol over one aiohttp session. Retries are decided above.

gidgethub's `_make_request` hides the answer's headers, which the conditional cache, the limits and
the server's time are read from, so `exchange` joins the same sans-I/O parts itself.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import aiohttp
from aiohttp import ClientHandlerType, ClientRequest, ClientResponse
from gidgethub import HTTPException, sansio
from yarl import URL

from shared.clock import Clock
from shared.errors import Misconfigured, Transient, Unauthorized, UnknownOutcome
from shared.github.errors import NeverSent
from shared.github.limits import RateLimits
from shared.github.server_time import ServerTime
from shared.github.token_refusals import TokenRefusals
from shared.outgoing.outbound_filter import Outgoing

TokenSource = Callable[[], Awaitable[str]]
"""Returns the token to use now; asked before each request, because tokens of Apps rotate."""


@runtime_checkable
class Renewable(Protocol):
    """A `TokenSource` that may have another token if one is refused, or know why to try the same one again."""

    async def __call__(self) -> str: ...

    async def renew(self, refused: str) -> bool:
        """Return whether to send a request again whose token was refused, after a moment if need be; not for ever."""
        ...


JSON = "application/vnd.github+json"
"""The media type of all reads and writes that carry JSON."""

API_VERSION = "2022-11-28"
"""The REST API version whose fields `wire` reads."""

REQUEST_SECONDS = 10.0
"""Seconds for one request: GitHub itself ends requests after 10 s."""

CONNECT_SECONDS = 5.0
"""Seconds to wait for a connection; until then nothing was sent."""

DOWNLOAD_SECONDS = 120.0
"""Longest download of a log or diff in seconds; each read of it has `REQUEST_SECONDS`."""

_DOWNLOAD = aiohttp.ClientTimeout(total=DOWNLOAD_SECONDS, connect=CONNECT_SECONDS, sock_read=REQUEST_SECONDS)

TEXT_CAP = 2 * 2**20
"""Bytes kept of a log or diff: its end, where failures are told."""


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request. `etag` makes a read conditional; `payload` is the JSON value of a write, `ack` marks a lock's."""

    method: str
    url: str
    accept: str = JSON
    etag: str | None = None
    payload: Any = None
    ack: bool = False


@dataclass(frozen=True, slots=True)
class Response:
    """One answer: status, headers by any case, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def decode(self) -> Any:
        """Return the JSON value of a success; raises gidgethub's `HTTPException`, or `Transient` if unreadable."""
        try:
            value, _, _ = sansio.decipher_response(self.status, self.headers, self.body)
        except HTTPException:
            raise
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise Transient(f"GitHub's answer ({self.status}) cannot be read: {type(error).__name__}") from error
        if self.status != 204 and (not self.body or isinstance(value, str)):
            raise Transient(f"GitHub's answer ({self.status}) is not JSON")
        return value

    @property
    def next(self) -> str | None:
        """The next page's URL."""
        return sansio._next_link(self.headers.get("link"))


class Transport:
    """The only place where a request leaves the process: through the outbound filter, which learns each used token."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        *,
        token: TokenSource,
        api_url: str,
        clock: Clock,
        server: ServerTime,
        outgoing: Outgoing,
    ) -> None:
        self.requester, self.base_url = "workflow-engine", api_url
        self._session, self._token, self._outgoing = session, token, outgoing
        self.clock = clock
        self.timeout = aiohttp.ClientTimeout(total=REQUEST_SECONDS, connect=CONNECT_SECONDS)
        self.server = server
        self.limits = RateLimits(self.server)
        self.scopes: frozenset[str] | None = None
        self.token_refusals = TokenRefusals(clock)

    async def exchange(self, call: ApiRequest, admit: Callable[[], None]) -> Response:
        """Send `call` once and return the answer, whatever its status.

        `admit` is called right before sending and stops it by raising. Raises `NeverSent` if no
        connection could be made; if the answer was lost, `Transient` for a GET and else `UnknownOutcome`.
        """

        async def send(headers: dict[str, str]) -> Response:
            fit = self._outgoing.payload(call.payload, ack=call.ack)
            body = b"" if fit is None else json.dumps(fit).encode()
            admit()
            async with self._open_request(call.method, call.url, headers, patience=self.timeout, body=body) as response:
                self._note(response.headers)
                return Response(response.status, response.headers, await response.read())

        return await self._send_signed(call, send)

    async def download(self, call: ApiRequest, admit: Callable[[], None]) -> Response:
        """Send as `exchange` for a text of any size; return the last `TEXT_CAP` bytes."""

        async def send(headers: dict[str, str]) -> Response:
            admit()
            async with self._open_request(call.method, call.url, headers, patience=_DOWNLOAD) as response:
                self._note(response.headers)
                return Response(response.status, response.headers, await _tail(response))

        return await self._send_signed(call, send)

    async def download_elsewhere(self, url: str) -> Response:
        """Read a signed URL that GitHub handed out, without showing it our token."""
        headers = {"user-agent": self.requester}
        async with self._open_request("GET", url, headers, patience=_DOWNLOAD) as response:
            return Response(response.status, response.headers, await _tail(response))

    async def beginning_elsewhere(self, url: str, most_bytes: int) -> Response:
        """Read an address without showing it our token: no redirection is followed.

        Of a body longer than `most_bytes` one byte more comes back, which shows that it was longer.
        """
        async with self._open_request("GET", url, {"user-agent": self.requester}, patience=_DOWNLOAD) as response:
            return Response(response.status, response.headers, await _head(response, most_bytes + 1))

    async def _send_signed(self, call: ApiRequest, send: Callable[[dict[str, str]], Awaitable[Response]]) -> Response:
        """Send with the token; again if it is refused and its source sees hope: a 401 has done nothing.

        Raises `Unauthorized`, without sending anything while the token is known to be refused.
        """
        self.token_refusals.admit(call.method)
        try:
            token = await self._token()
            answer = await send(self._headers(call, token))
            while answer.status == 401 and isinstance(self._token, Renewable) and await self._token.renew(token):
                token = await self._token()
                answer = await send(self._headers(call, token))
        except (Unauthorized, Misconfigured) as error:  # there is no token to be had
            raise self.token_refusals.refused(error) from error
        if answer.status == 401:
            raise self.token_refusals.refused(self._refusal(call, answer))
        if answer.status < 400:
            self.token_refusals.accepted()
        return answer

    def _refusal(self, call: ApiRequest, answer: Response) -> Unauthorized:
        """Return GitHub's refusal of the token, or the note that a proxy answered in its place."""
        try:
            message = str(answer.decode())
        except (HTTPException, Transient) as error:
            message = str(error)
        name = f"{call.method} {call.url.removeprefix(self.base_url)}"
        return Unauthorized(f"GitHub does not accept the token ({name}): {message}")

    def _headers(self, call: ApiRequest, token: str) -> dict[str, str]:
        self._outgoing.learn(token)
        # As a bearer token, because GitHub takes every kind of token so, and an App's proof in no other way.
        headers = sansio.create_headers(self.requester, accept=call.accept, jwt=token)
        headers["x-github-api-version"] = API_VERSION
        if call.etag is not None:
            headers["if-none-match"] = call.etag
        if call.payload is not None:
            headers["content-type"] = "application/json; charset=utf-8"
        return headers

    def _note(self, headers: Mapping[str, str]) -> None:
        self.server.note(headers)
        self.limits.note(headers)
        if "x-oauth-scopes" in headers:
            self.scopes = frozenset(word.strip() for word in headers["x-oauth-scopes"].split(",") if word.strip())

    @asynccontextmanager
    async def _open_request(
        self, method: str, url: str, headers: Mapping[str, str], *, patience: aiohttp.ClientTimeout, body: bytes = b""
    ) -> AsyncIterator[ClientResponse]:
        try:
            async with self._session.request(
                method,
                URL(url, encoded=True),
                headers=headers,
                data=body or None,
                timeout=patience,
                allow_redirects=False,
                middlewares=(_send_once,),
            ) as response:
                yield response
        except (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError, aiohttp.ConnectionTimeoutError) as error:
            raise NeverSent(_unreachable(error)) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _broken(method, error) from error


async def _send_once(request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
    """Stop aiohttp from sending a PUT or DELETE again if the connection broke after the first."""
    try:
        return await handler(request)
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise _broken(request.method, error) from error


async def _tail(response: ClientResponse) -> bytes:
    kept = bytearray()
    async for chunk in response.content.iter_chunked(2**16):
        kept += chunk
        if len(kept) > 2 * TEXT_CAP:
            del kept[:-TEXT_CAP]
    return bytes(kept[-TEXT_CAP:])


async def _head(response: ClientResponse, most_bytes: int) -> bytes:
    kept = bytearray()
    async for chunk in response.content.iter_chunked(2**16):
        kept += chunk
        if len(kept) >= most_bytes:
            break
    return bytes(kept[:most_bytes])


def _unreachable(error: Exception) -> str:
    """Return why no connection could be made. The proxy's address is left out: it may hold a password."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            reason = str(error.certificate_error).partition("] ")[2] or str(error.certificate_error)
            return (
                f"The certificate of {error.host} is not trusted: {reason}. If your network signs traffic with an "
                "authority of its own, name its certificate file in SSL_CERT_FILE."
            )
        case aiohttp.ClientProxyConnectionError():
            return f"The proxy {error.host}:{error.port} cannot be reached: {error.os_error}"
        case aiohttp.ClientHttpProxyError():
            return f"The proxy refused to connect to GitHub: {error.status} {error.message}"
        case _:
            return f"GitHub cannot be reached: {error}"


def _broken(method: str, error: Exception) -> Transient:
    """Return the error for a lost answer: a read can be repeated, a write may have happened."""
    lost = Transient if method == "GET" else UnknownOutcome
    return lost(f"The connection to GitHub broke during a {method}: {type(error).__name__}")
