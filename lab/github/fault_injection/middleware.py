"""The middleware that makes planned faults happen, to API calls and to git alike.

Answers that GitHub gives on bad days: errors, limits, web pages and JSON that is not what it should be. No I/O.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from lab.github.clock import LabClock
from lab.github.fault_injection import connection
from lab.github.fault_injection.faults import Fault, FaultKind, Faults, FaultTarget, is_git
from lab.github.fault_injection.sudden_changes import SuddenChanges
from lab.github.http.refusals import Refusal
from lab.github.http.request_checks import CREDENTIALS
from lab.github.repositories.git_http import git_token

FAULTS: web.RequestKey[list[Fault]] = web.RequestKey("faults", list)
"""The faults that hit a request, for the handlers behind the middleware."""

_NEVER_SPOILED = ("/_lab/", "/_logs/")

_REPEATED = frozenset({FaultKind.TWICE, FaultKind.LATE})
"""Kinds that need the whole request in hand."""

_REPLACED = frozenset({FaultKind.ERROR_AFTER, FaultKind.HTML, FaultKind.EMPTY})
"""Kinds that answer something else after git has already spoken."""


@dataclass(frozen=True, slots=True)
class _Put:
    """A request that is carried out once `due` (lab time) has come."""

    due: float
    fault: Fault
    request: web.Request
    handler: Handler


class FaultMiddleware:
    """Spoils the requests of one lab as `faults` says.

    Postponed requests are carried out when their time has come by `clock`, before the next request of anybody.
    """

    def __init__(self, faults: Faults, clock: LabClock, mishaps: SuddenChanges) -> None:
        self._faults = faults
        self._clock = clock
        self._mishaps = mishaps
        self._put_off: deque[_Put] = deque()

    @web.middleware
    async def spoil(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Apply the faults to a request. Belongs around everything that is served."""
        await self._catch_up()
        hits = [] if request.path.startswith(_NEVER_SPOILED) else self._faults.take(self._target(request))
        request[FAULTS] = hits
        if is_git(request.path) and any(fault.kind in _REPEATED for fault in hits):
            await connection.hold(request)
        for fault in hits:
            early = await self._apply_before(fault, request, handler)
            if early is not None:
                return for_git(early) if is_git(request.path) and early.body else early
        try:
            response = await self._carry_out(hits, request, handler)
        except web.HTTPException as refused:
            for fault in hits:
                await self._apply_after(fault, request, handler, refused)
            raise
        for fault in hits:
            response = await self._apply_after(fault, request, handler, response)
        return response

    def _target(self, request: web.Request) -> FaultTarget:
        login = self._mishaps.login(token_of(request))
        return FaultTarget(request.method, request.path, login, self._clock.now())

    async def _apply_before(self, fault: Fault, request: web.Request, handler: Handler) -> web.Response | None:
        """Apply the fault before the request is carried out; an answer means that it is not carried out (now)."""
        match fault.kind:
            case FaultKind.DELAY:
                await self._clock.sleep(fault.seconds)
            case FaultKind.LOST_REQUEST:
                connection.hang_up(request)
                return web.Response(status=500)
            case FaultKind.LATE:
                self._put(fault, request, handler)
                connection.hang_up(request)
                return web.Response(status=500)
            case FaultKind.ERROR_BEFORE:
                return error(fault)
            case FaultKind.PRIMARY_LIMIT:
                return used_up(fault, self._clock.now())
            case FaultKind.SECONDARY_LIMIT:
                return slowed(fault)
            case _:
                await self._prepare(fault, request)
        return None

    async def _prepare(self, fault: Fault, request: web.Request) -> None:
        """Prepare faults that show in the answer."""
        git = is_git(request.path)
        match fault.kind:
            case FaultKind.TOKEN_REVOKED:
                self._mishaps.revoke(token_of(request))
            case FaultKind.LABEL_DELETED:
                self._mishaps.delete_labels(request.path, fault.names)
            case FaultKind.TRANSFERRED:
                self._mishaps.transfer(request.path, fault.to)
            case FaultKind.LOST_REPLY:
                connection.mute(request)
            case FaultKind.RESET if git:
                connection.cut(request, fault.after_bytes)
            case kind if git and kind in _REPLACED:
                connection.mute(request)
            case _:
                pass  # the answer is spoiled when it is there, see `_apply_after` and `staleness`

    async def _carry_out(self, hits: list[Fault], request: web.Request, handler: Handler) -> web.StreamResponse:
        ahead = sum(fault.seconds for fault in hits if fault.kind is FaultKind.CLOCK_OFFSET)
        if not ahead:
            return await handler(request)
        with self._clock.shifted(ahead):
            response = await handler(request)
            response.headers["Date"] = formatdate(self._clock.now(), usegmt=True)
        return response

    async def _apply_after(
        self, fault: Fault, request: web.Request, handler: Handler, response: web.StreamResponse
    ) -> web.StreamResponse:
        """The answer as the fault leaves it."""
        match fault.kind:
            case FaultKind.TWICE:
                self._put(fault, request, handler)
                await self._catch_up()
            case FaultKind.LOST_REPLY:
                connection.hang_up(request)  # a muted connection must not be waited on
            case FaultKind.RESET:
                _reset(fault, request, response)
            case kind if is_git(request.path) and kind in _REPLACED:
                connection.speak(request, instead(fault))
            case FaultKind.ERROR_AFTER | FaultKind.HTML:
                return instead(fault)
            case _:
                return spoiled(fault, response)
        return response

    def _put(self, fault: Fault, request: web.Request, handler: Handler) -> None:
        fault.waiting += 1
        self._put_off.append(_Put(self._clock.now() + fault.seconds, fault, request, handler))

    async def _catch_up(self) -> None:
        """Carry out the requests that are due, in the order of their arrival; their answers reach nobody."""
        while put := next((put for put in self._put_off if put.due <= self._clock.now()), None):
            self._put_off.remove(put)
            with suppress(web.HTTPException), connection.unheard(put.request):
                await put.handler(put.request)
            put.fault.waiting -= 1


def token_of(request: web.Request) -> str:
    """The token that a request carries, be it the API's or git's; empty for none."""
    given = request.headers.get("Authorization", "")
    found = CREDENTIALS.fullmatch(given)
    return found[1] if found else git_token(given) or ""


def _reset(fault: Fault, request: web.Request, response: web.StreamResponse) -> None:
    """Let a part of the body through; an answer without one, or one too short to be cut, is lost."""
    body = response.body if isinstance(response, web.Response) else None
    if not response.prepared and isinstance(body, bytes) and body:
        connection.cut(request, min(fault.after_bytes, len(body) - 1))
    else:
        connection.hang_up(request)


_PAGE = b"<!DOCTYPE html><html><head><title>Unicorn!</title></head><body>We had issues.</body></html>"

_MESSAGES = {
    401: "Bad credentials",
    403: "Resource not accessible by personal access token",
    404: "Not Found",
    409: "Conflict",
    410: "Gone",
    422: "Validation Failed",
}
"""GitHub's message for a status; every other status has "Server Error"."""


def error(fault: Fault) -> web.Response:
    """Return an answer that does not tell whether the request was carried out."""
    status = fault.status or 502
    return _refuse(fault, Refusal(status, _MESSAGES.get(status, "Server Error")))


def used_up(fault: Fault, now: float) -> web.Response:
    """The primary limit: nothing remains until the reset."""
    answer = _refuse(fault, Refusal(fault.status or 403, "API rate limit exceeded for user ID 1."))
    reset = int(now + (fault.seconds or 3600))
    limits = {"limit": 5000, "used": 5000, "remaining": 0, "reset": reset, "resource": "core"}
    answer.headers.update({f"x-ratelimit-{name}": str(value) for name, value in limits.items()})
    return answer


def slowed(fault: Fault) -> web.Response:
    """A secondary limit: too much at once."""
    sentence = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    return _refuse(fault, Refusal(fault.status or 403, sentence))


def instead(fault: Fault) -> web.Response:
    """Return the answer of the fault, which replaces the real one."""
    match fault.kind:
        case FaultKind.HTML:
            return web.Response(body=_PAGE, content_type="text/html", charset="utf-8")
        case FaultKind.EMPTY:
            return web.Response(body=b"", content_type="application/octet-stream")
        case _:
            return error(fault)


def spoiled(fault: Fault, answer: web.StreamResponse) -> web.StreamResponse:
    """A finished answer as the fault leaves it; streamed answers stay as they are."""
    if not isinstance(answer, web.Response) or not isinstance(answer.body, bytes):
        return answer
    match fault.kind:
        case FaultKind.TRUNCATED:
            answer.body = answer.body[: len(answer.body) // 2]
        case FaultKind.EMPTY:
            answer.body = b""
        case FaultKind.WRONG_TYPE:
            answer.headers["Content-Type"] = "text/plain; charset=utf-8"
        case FaultKind.NULL_FIELDS:
            answer.body = json.dumps(_without(json.loads(answer.body), fault.names)).encode()
            answer.headers.popall("ETag", None)  # the tag is the body's, and this is another body
        case _:
            pass  # the others break something else
    return answer


def _without(value: Any, names: Collection[str]) -> Any:
    """The JSON value with null for each field of these names, at any depth."""
    if isinstance(value, list):
        return [_without(one, names) for one in value]
    if isinstance(value, dict):
        return {name: None if name in names else _without(one, names) for name, one in value.items()}
    return value


def for_git(answer: web.Response) -> web.Response:
    """A refusal in the form in which git shows it to people: plain text."""
    message = json.loads(answer.body if isinstance(answer.body, bytes) else b"{}").get("message", "")
    headers = {name: value for name, value in answer.headers.items() if not name.startswith("Content-")}
    return web.Response(text=f"{message}\n", status=answer.status, headers=headers)


def _refuse(fault: Fault, refusal: Refusal) -> web.Response:
    headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
    return web.json_response(refusal.body, status=refusal.status, headers=headers)
