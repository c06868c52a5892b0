"""Forwards the model requests of one run: checked, with the real key added, byte for byte, and metered."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import aiohttp
from aiohttp import web
from yarl import URL

from shared.clock import Clock
from shared.llm.proxy.account import Account
from shared.llm.proxy.metering import Meter
from shared.llm.proxy.resets import resets_at
from shared.llm.proxy.vendors import LOOPBACK, OUT_OF_BUDGET, PATHS, Upstream, Vendor, worded

LARGEST_BODY = 64 * 2**20
"""Bytes of one request; vendors take 32 MB."""

MOST_AT_ONCE = 8
"""Open requests of one run: what each may still cost is known only when it has ended."""

LARGEST_ERROR = 2**20
"""Bytes of an error that are passed on."""

_HOP_BY_HOP = frozenset({"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "expect"})
_OURS_ALONE = frozenset(
    {"host", "authorization", "x-api-key", "cookie", "content-length", "accept-encoding", "forwarded", "origin"}
)
_NOT_BACK = _HOP_BY_HOP | {"set-cookie", "server"}


@dataclass(slots=True)
class Relay:
    """The requests of one run, which carry `token`."""

    upstreams: Mapping[Vendor, Upstream]
    account: Account
    session: aiohttp.ClientSession
    clock: Clock
    token: str = field(repr=False)

    def application(self) -> web.Application:
        """What is served; every other path is refused."""
        app = web.Application(client_max_size=LARGEST_BODY)
        app.router.add_route("HEAD", "/", _alive)
        app.router.add_route("*", "/{tail:.*}", self._relay)
        return app

    async def _relay(self, request: web.Request) -> web.StreamResponse:
        vendor, costs = PATHS.get(request.path, (Vendor.ANTHROPIC, False))
        upstream = self.upstreams.get(vendor)
        if not self._may(request):
            return _error(vendor, 401, "authentication_error", "This token is not, or no longer, known here.")
        if request.path not in PATHS or request.method != "POST" or upstream is None:
            return _error(vendor, 404, "not_found_error", f"{request.method} {request.path} is not forwarded.")
        try:
            body = await request.read()
        except web.HTTPRequestEntityTooLarge:
            return _error(vendor, 413, "request_too_large", f"A request may have {LARGEST_BODY:,} bytes.")
        if not costs:
            return await self._forward(request, upstream, body, None)
        asked = _asked(body)
        barred = self._barred(vendor, asked)
        if asked is None or barred is not None:
            return barred or _error(vendor, 400, "invalid_request_error", "The request is not a JSON object.")
        meter = self.account.opened(str(asked.get("model", "")), len(body))
        return await self._forward(request, upstream, body, meter)

    def _barred(self, vendor: Vendor, asked: Mapping[str, Any] | None) -> web.Response | None:
        """Why a request that costs money is not sent. A background answer would go on, and cost, after the run."""
        if self.account.used_up:
            self.account.refused = True
            status, kind = OUT_OF_BUDGET[vendor]
            spent = f"The budget of this run (${self.account.budget_usd:.2f}) is used up."
            return _error(vendor, status, kind, spent)
        if self.account.under_way >= MOST_AT_ONCE:
            return _error(vendor, 429, "rate_limit_error", "Too many requests at once.")
        if vendor is Vendor.OPENAI and asked and asked.get("background"):
            return _error(vendor, 400, "invalid_request_error", "Background answers are not forwarded.")
        return None

    def _may(self, request: web.Request) -> bool:
        """Whether it is our run that asks, and us that it means to ask."""
        host = _host(request.headers.get("host", ""))
        given = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        return host in LOOPBACK and hmac.compare_digest(given.encode(), self.token.encode())

    async def _forward(
        self, request: web.Request, upstream: Upstream, body: bytes, meter: Meter | None
    ) -> web.StreamResponse:
        charged = True
        response: web.StreamResponse | None = None
        try:
            async with self._post(request, upstream, body) as answer:
                charged = answer.status == 200
                if meter is not None:
                    self.account.retry_at = resets_at(answer.status, _lower(answer.headers), self._now())
                if 300 <= answer.status < 400 or "content-encoding" in answer.headers:
                    return _error(upstream.vendor, 502, "api_error", "The model server gave an answer for nobody here.")
                if not charged:
                    return await _refused(answer, upstream.key)
                response = web.StreamResponse(status=answer.status, headers=_back(answer.headers))
                await response.prepare(request)
                passed = await self._pass_on(answer, response, meter)
                return response if passed else _cut(request, response, upstream.vendor)
        except aiohttp.ClientConnectorError as error:
            charged = False
            return _error(upstream.vendor, 502, "api_error", f"The model server cannot be reached: {error.strerror}.")
        except (aiohttp.ClientError, TimeoutError, ConnectionError):
            return _cut(request, response, upstream.vendor)
        finally:
            if meter is not None:
                self.account.closed(meter, charged=charged)

    async def _pass_on(self, answer: aiohttp.ClientResponse, response: web.StreamResponse, meter: Meter | None) -> bool:
        """Pass an answer on as it comes; False when the budget was used up before its end."""
        async for chunk in answer.content.iter_any():
            if meter is not None:
                meter.feed(chunk)
                if self.account.used_up and not meter.whole:
                    self.account.refused = True
                    return False
            await response.write(chunk)
        await response.write_eof()
        return True

    def _post(self, request: web.Request, upstream: Upstream, body: bytes) -> aiohttp.client._RequestContextManager:
        query = request.rel_url.raw_query_string
        url = URL(f"{upstream.url}{request.path}{'?' if query else ''}{query}", encoded=True)
        kept = {name: value for name, value in _lower(request.headers).items() if _passes(name)}
        headers = {**kept, **upstream.authorization, "accept-encoding": "identity"}
        return self.session.post(url, data=body, headers=headers, allow_redirects=False, proxy=upstream.through)

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now(), UTC)


def _host(host: str) -> str:
    """The name in a `Host` header, without the port."""
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


def _cut(request: web.Request, response: web.StreamResponse | None, vendor: Vendor) -> web.StreamResponse:
    """The vendor's answer broke off, or is cut: so does ours, that nobody takes it for a whole one."""
    if response is None:
        return _error(vendor, 502, "api_error", "The model server did not answer.")
    if request.transport is not None:
        request.transport.abort()
    return response


async def _refused(answer: aiohttp.ClientResponse, key: str) -> web.Response:
    """An error as the vendor words it; one that repeats the key does not pass on that part."""
    body = await answer.content.read(LARGEST_ERROR)
    headers = {name: value for name, value in _back(answer.headers).items() if name.lower() != "content-length"}
    return web.Response(status=answer.status, body=body.replace(key.encode(), b"***"), headers=headers)


def _passes(name: str) -> bool:
    return name not in _HOP_BY_HOP | _OURS_ALONE and not name.startswith(("proxy-", "x-forwarded-"))


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _back(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _NOT_BACK}


def _asked(body: bytes) -> dict[str, Any] | None:
    """The request; None when it cannot be read, so that nobody could say what it costs."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _error(vendor: Vendor, status: int, kind: str, message: str) -> web.Response:
    return web.json_response(worded(vendor, kind, message), status=status)


async def _alive(request: web.Request) -> web.Response:
    """What Claude Code asks before anything else."""
    return web.Response()
