"""The middleware that makes planned faults happen, to API calls and to git alike."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from lab.faults import Fault, FaultKind, Faults
from lab.refusals import Refusal
from shared.clock import Clock

FAULTS: web.RequestKey[list[Fault]] = web.RequestKey("faults", list)
"""The faults that hit a request, for those behind the middleware."""

_PAGE = b"<!DOCTYPE html><html><head><title>Unicorn!</title></head><body>We had issues.</body></html>"

_NEVER_SPOILED = ("/_lab/", "/_logs/")


def spoiler(faults: Faults, clock: Clock) -> Middleware:
    """A middleware for `faults`."""

    @web.middleware
    async def spoil(request: web.Request, handler: Handler) -> web.StreamResponse:
        hits = [] if request.path.startswith(_NEVER_SPOILED) else faults.take(request.method, request.path)
        request[FAULTS] = hits
        for fault in hits:
            early = await _before(fault, request, clock)
            if early is not None:
                return early
        try:
            response = await handler(request)
        except web.HTTPException:
            if any(fault.kind is FaultKind.LOST_REPLY for fault in hits):
                _hang_up(request)  # a muted connection must not be waited on
            raise
        for fault in hits:
            response = _after(fault, request, response)
        return response

    return spoil


async def _before(fault: Fault, request: web.Request, clock: Clock) -> web.Response | None:
    match fault.kind:
        case FaultKind.DELAY:
            await clock.sleep(fault.seconds)
        case FaultKind.LOST_REQUEST:
            _hang_up(request)
            return web.Response(status=500)
        case FaultKind.LOST_REPLY:
            _mute(request)
        case FaultKind.ERROR_BEFORE:
            return _error(fault.status or 502)
        case FaultKind.PRIMARY_LIMIT:
            return _limited(fault, clock.now())
        case FaultKind.SECONDARY_LIMIT:
            return _slowed(fault)
        case _:
            return None  # the others spoil the answer, see `_after` and `staleness`
    return None


def _after(fault: Fault, request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    match fault.kind:
        case FaultKind.LOST_REPLY:
            _hang_up(request)
        case FaultKind.ERROR_AFTER:
            return _error(fault.status or 502)
        case FaultKind.HTML:
            return web.Response(body=_PAGE, content_type="text/html", charset="utf-8")
        case FaultKind.TRUNCATED if isinstance(response, web.Response) and isinstance(response.body, bytes):
            response.body = response.body[: len(response.body) // 2]
        case _:
            return response  # the others came before the answer
    return response


def _error(status: int) -> web.Response:
    return web.json_response({"message": "Server Error"}, status=status)


def _limited(fault: Fault, now: float) -> web.Response:
    refusal = Refusal(fault.status or 403, "API rate limit exceeded for user ID 1.")
    reset = int(now + (3600 if fault.retry_after is None else fault.retry_after))
    headers = {"x-ratelimit-limit": "5000", "x-ratelimit-used": "5000", "x-ratelimit-remaining": "0"}
    headers |= {"x-ratelimit-reset": str(reset), "x-ratelimit-resource": "core"}
    return web.json_response(refusal.body, status=refusal.status, headers=headers)


def _slowed(fault: Fault) -> web.Response:
    sentence = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    refusal = Refusal(fault.status or 403, sentence)
    headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
    return web.json_response(refusal.body, status=refusal.status, headers=headers)


class _Muted:
    """A transport that swallows what is written: git's answers are streamed while they are made."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def write(self, data: bytes) -> None:
        """Say nothing."""

    def writelines(self, data: Iterable[bytes]) -> None:
        """Say nothing."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def _mute(request: web.Request) -> None:
    protocol: Any = request.protocol
    protocol.transport = _Muted(protocol.transport)


def _hang_up(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
