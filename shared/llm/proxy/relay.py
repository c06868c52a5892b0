"""The relay of one run's model requests: checked, with the real key added, byte for byte, and metered."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Callable, Mapping, Set
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO

import aiohttp
import anyio.to_thread
from aiohttp import web
from yarl import URL

from shared.clock import Clock
from shared.github.address import LOOPBACK
from shared.llm.proxy import allowed
from shared.llm.proxy.api_protocols import OUT_OF_BUDGET, PATHS, ApiProtocol, RequestRefused, Upstream, worded
from shared.llm.proxy.metering import RequestBound, UsageMeter
from shared.llm.proxy.run_meter import RunMeter
from shared.llm.proxy.vendor_tools import VendorTool
from shared.retry_times import resets_at

LARGEST_BODY = 32 * 2**20
"""Bytes of one request; vendors take no more."""

LARGEST_HELD = 64 * 2**20
"""Bytes of all requests of one run that are in memory at a time."""

MOST_AT_ONCE = 8
"""Requests of one run at a time, including those that are being read."""

MOST_COUNTS = 2_000
"""Requests of one run that cost nothing, `count_tokens`."""

BODY_SECONDS = 60.0
"""Timeout, in seconds, for a request to arrive."""

STALLED_SECONDS = 120.0
"""Timeout, in seconds, for the program to read a piece of an answer."""

PATIENCE_SECONDS = 60.0
"""A longer wait that the vendor names ends the run: Codex would wait for it in silence, Claude Code not at all."""

LONG: Mapping[ApiProtocol, Mapping[str, str]] = {
    ApiProtocol.ANTHROPIC: {"retry-after": "3600"},
    ApiProtocol.OPENAI: {},
    ApiProtocol.COMPATIBLE: {},
}
"""Headers with which each protocol's program gives up at once after a 429: a time that is too long, or none."""

FINAL = 400
"""Status for a program of a compatible server instead of any other, which it would repeat for minutes."""

_REPEATED = frozenset({408, 409, 425, 429})
"""Statuses below 500 that it repeats."""

LARGEST_ERROR = 2**20
"""Bytes of an error that are passed on."""

_INLINE = 2**18
"""Bytes above which a request is parsed outside of the event loop."""

_NOT_BACK = frozenset(
    {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "expect", "set-cookie", "server"}
)


@dataclass(slots=True)
class Relay:
    """The requests of one run, which carry `token`; `model` is the one that the run asked for, if any.

    `tools` are those of the vendor that are allowed. `known` is told each connection that has shown the token.
    """

    upstreams: Mapping[ApiProtocol, Upstream]
    run_meter: RunMeter
    session: aiohttp.ClientSession
    clock: Clock
    known: Callable[[asyncio.BaseTransport | None], None]
    token: str = field(repr=False)
    model: str | None = None
    tools: Set[VendorTool] = frozenset()
    _open: int = 0
    _held: int = 0
    _counts: int = 0

    def application(self) -> web.Application:
        """Return the application to serve; it refuses every other path."""
        app = web.Application(client_max_size=LARGEST_BODY)
        app.router.add_route("HEAD", "/", _alive)
        app.router.add_route("*", "/{tail:.*}", self._relay)
        return app

    async def _relay(self, request: web.Request) -> web.StreamResponse:
        path, _, query = request.raw_path.partition("?")  # as it was sent: nothing is decoded or resolved
        protocol, costs = PATHS.get(path, (ApiProtocol.ANTHROPIC, False))
        upstream = self.upstreams.get(protocol)
        if not self._is_authorized(request):
            return _error(protocol, 401, "authentication_error", "This token is not, or no longer, known here.")
        self.known(request.transport)
        if path not in PATHS or request.method != "POST" or upstream is None or query not in allowed.QUERIES:
            return _error(protocol, 404, "not_found_error", f"{request.method} {request.path} is not forwarded.")
        barred = self._refuse_unread(protocol, costs=costs)
        if barred is not None:
            return barred
        self._open += 1
        try:
            passed = allowed.headers(_lower(request.headers), self.tools)  # before the body, so that none is unpacked
            headers = {**passed, **upstream.authorization, "accept-encoding": "identity"}
            async with self._body(request) as body:
                return await self._check_and_forward(request, upstream, body, headers, costs=costs)
        except RequestRefused as refused:
            self.run_meter.barred = str(refused)
            return _error(protocol, 400, "invalid_request_error", str(refused))
        except web.HTTPException as error:
            kind = {413: "request_too_large", 429: "rate_limit_error"}.get(error.status, "invalid_request_error")
            return _error(protocol, error.status, kind, error.text or "")
        finally:
            self._open -= 1

    def _refuse_unread(self, protocol: ApiProtocol, *, costs: bool) -> web.Response | None:
        """Return the error with which a request is refused before it is read; None if it may be read."""
        if self.run_meter.used_up:
            self.run_meter.refused = True
            status, kind = OUT_OF_BUDGET[protocol]
            spent = f"The budget of this run (${self.run_meter.budget_usd:.2f}) is used up."
            return _error(protocol, status, kind, spent)
        if protocol is ApiProtocol.COMPATIBLE and self.run_meter.gave_up is not None:
            return _error(protocol, FINAL, "given_up", "The model server has failed too often in this run.")
        if costs and self._waits_long:
            return web.json_response(
                worded(protocol, "rate_limit_error", "A limit lasts on."), status=429, headers=LONG[protocol]
            )
        if self._open >= MOST_AT_ONCE:
            return _error(protocol, 429, "rate_limit_error", "Too many requests at once.")
        self._counts += not costs
        if not costs and self._counts > MOST_COUNTS:
            return _error(protocol, 400, "invalid_request_error", "This run has counted tokens often enough.")
        return None

    @asynccontextmanager
    async def _body(self, request: web.Request) -> AsyncIterator[bytes]:
        """Yield the whole request, which counts to the run's memory while the block lasts."""
        held = 0
        if (request.content_length or 0) > LARGEST_BODY:
            raise _too_large()
        try:
            chunks: list[bytes] = []
            async with asyncio.timeout(BODY_SECONDS):
                async for chunk in request.content.iter_any():
                    held += len(chunk)
                    self._held += len(chunk)
                    if held > LARGEST_BODY:
                        raise _too_large()
                    if self._held > LARGEST_HELD:
                        raise web.HTTPTooManyRequests(text="Too much is asked at once.")
                    chunks.append(chunk)
            body = b"".join(chunks)
            chunks.clear()
            yield body
        except TimeoutError:
            raise web.HTTPRequestTimeout(text="The request did not arrive in time.") from None
        except web.RequestPayloadError:
            raise RequestRefused("The request did not arrive whole.") from None
        finally:
            self._held -= held

    async def _check_and_forward(
        self, request: web.Request, upstream: Upstream, body: bytes, headers: Mapping[str, str], *, costs: bool
    ) -> web.StreamResponse:
        """Forward an allowed request; raise `RequestRefused` for others."""
        if request.content_type != "application/json":
            raise RequestRefused("The request is not JSON.")
        request_bound, body = await self._read_bound(upstream.protocol, body)
        if not costs:
            return await self._forward(request, upstream, body, headers, None)
        barred = self._refuse_unread(upstream.protocol, costs=True) if self.run_meter.used_up else None
        if barred is not None:
            return barred
        if not self.run_meter.has_room:
            waits = "The requests under way may use up the budget of this run: wait for them."
            return _error(upstream.protocol, 429, "rate_limit_error", waits)
        return await self._forward(request, upstream, body, headers, self.run_meter.opened(request_bound))

    async def _read_bound(self, protocol: ApiProtocol, body: bytes) -> tuple[RequestBound, bytes]:
        """Return the most that is asked for, and the body to send."""

        def knows(model: str) -> bool:
            return model == self.model or self.run_meter.prices.knows(model)

        def read() -> tuple[RequestBound, bytes]:
            found = allowed.parsed(body)
            request_bound = allowed.checked(protocol, found, len(body), knows, self.tools)
            return request_bound, allowed.completed(protocol, found, body, request_bound)

        return read() if len(body) < _INLINE else await anyio.to_thread.run_sync(read)

    def _is_authorized(self, request: web.Request) -> bool:
        """Return whether the request comes from our run, and is meant for us."""
        host = _host(request.headers.get("host", ""))
        given = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        return host in LOOPBACK and hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    async def _forward(
        self,
        request: web.Request,
        upstream: Upstream,
        body: bytes,
        headers: Mapping[str, str],
        meter: UsageMeter | None,
    ) -> web.StreamResponse:
        charged, cut_here = True, False
        response: web.StreamResponse | None = None
        try:
            async with self._post(request, upstream, body, headers) as answer:
                charged = answer.status == 200
                self._note(answer, meter)
                if 300 <= answer.status < 400 or "content-encoding" in answer.headers:
                    return _error(
                        upstream.protocol, 502, "api_error", "The model server gave an answer for nobody here."
                    )
                if not charged:
                    return await _pass_error_on(
                        answer, upstream, long=self._waits_long, final=self._is_final(upstream, answer.status)
                    )
                response = web.StreamResponse(status=answer.status, headers=_answer_headers(answer.headers))
                await response.prepare(request)
                passed = await self._pass_on(answer, response, meter)
                cut_here = not passed
                return response if passed else _break_off(request, response, upstream.protocol)
        except aiohttp.ClientConnectorError as error:
            charged = False
            status = FINAL if self._is_final(upstream, 502) else 502
            said = f"The model server cannot be reached: {error.strerror}."
            return _error(upstream.protocol, status, "api_error", said)
        except (aiohttp.ClientError, TimeoutError, ConnectionError):
            status = FINAL if self._is_final(upstream, 502) else 502
            return _break_off(request, response, upstream.protocol, status)
        finally:
            if meter is not None:
                self.run_meter.closed(meter, charged=charged, cut_here=cut_here)
                if charged and not cut_here and upstream.protocol is ApiProtocol.COMPATIBLE:
                    self.run_meter.ended(finished=meter.finished)

    def _is_final(self, upstream: Upstream, status: int) -> bool:
        """Note a failure; return whether the program is told that it is final."""
        repeated = upstream.protocol is ApiProtocol.COMPATIBLE and (status >= 500 or status in _REPEATED)
        return repeated and self.run_meter.failed(status, at_once=self._waits_long)

    def _note(self, answer: aiohttp.ClientResponse, meter: UsageMeter | None) -> None:
        """Note the vendor's status and limits: they, and not the program's word, show that a run has met a limit."""
        if answer.status != 200:
            self.run_meter.answers.add(answer.status)
        if meter is not None:
            self.run_meter.retry_at = resets_at(answer.status, _lower(answer.headers), self._now())

    async def _pass_on(
        self, answer: aiohttp.ClientResponse, response: web.StreamResponse, meter: UsageMeter | None
    ) -> bool:
        """Pass an answer on as it comes; return False if the budget was used up before its end."""
        async for chunk in answer.content.iter_any():
            if meter is not None:
                meter.feed(chunk)
                if self.run_meter.used_up and meter.worth_cutting:
                    self.run_meter.refused = True
                    return False
            async with asyncio.timeout(STALLED_SECONDS):
                await response.write(chunk)
        await response.write_eof()
        return True

    def _post(
        self, request: web.Request, upstream: Upstream, body: bytes, headers: Mapping[str, str]
    ) -> aiohttp.client._RequestContextManager:
        query = request.rel_url.raw_query_string
        url = URL(f"{upstream.address(request.path)}{'?' if query else ''}{query}", encoded=True)
        sent = BytesIO(body) if len(body) > _INLINE else body
        return self.session.post(url, data=sent, headers=headers, allow_redirects=False, proxy=upstream.through)

    @property
    def _waits_long(self) -> bool:
        """True if the vendor names a time too far for a program to wait for: its run ends, and the item waits."""
        until = self.run_meter.retry_at
        return until is not None and (until - self._now()).total_seconds() > PATIENCE_SECONDS

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now(), UTC)


def _too_large() -> web.HTTPException:
    return web.HTTPRequestEntityTooLarge(LARGEST_BODY, 0, text=f"A request may have {LARGEST_BODY:,} bytes.")


def _host(host: str) -> str:
    """Return the name in a `Host` header, without the port."""
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


def _break_off(
    request: web.Request, response: web.StreamResponse | None, protocol: ApiProtocol, status: int = 502
) -> web.StreamResponse:
    """Break our answer off if the vendor's broke off or is cut, so that it is not taken for a whole one."""
    if response is None:
        return _error(protocol, status, "api_error", "The model server did not answer.")
    if request.transport is not None:
        request.transport.abort()
    return response


async def _pass_error_on(
    answer: aiohttp.ClientResponse, upstream: Upstream, *, long: bool, final: bool
) -> web.Response:
    """Return an error in the vendor's words, with the key replaced.

    If it asks for a `long` wait, or is `final`, it is changed so that the program gives up at once.
    """
    body = (await answer.content.read(LARGEST_ERROR)).replace(upstream.key.encode(), b"***")
    left_out = {"content-length", *(("retry-after", "retry-after-ms") if long or final else ())}
    headers = {name: value for name, value in _answer_headers(answer.headers).items() if name.lower() not in left_out}
    if final:
        return web.Response(status=FINAL, body=body, headers=headers)
    if long:
        return web.Response(status=429, body=body, headers={**headers, **LONG[upstream.protocol]})
    return web.Response(status=answer.status, body=body, headers=headers)


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _answer_headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _NOT_BACK}


def _error(protocol: ApiProtocol, status: int, kind: str, message: str) -> web.Response:
    return web.json_response(worded(protocol, kind, message), status=status)


async def _alive(request: web.Request) -> web.Response:
    """Answer Claude Code's first request."""
    return web.Response()
