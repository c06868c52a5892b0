"""Answers that GitHub gives on bad days: errors, limits, web pages and JSON that is not what it should be. No I/O."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from aiohttp import web

from lab.github.fault_injection.faults import Fault, FaultKind
from lab.github.http.refusals import Refusal

_PAGE = b"<!DOCTYPE html><html><head><title>Unicorn!</title></head><body>We had issues.</body></html>"

_MESSAGES = {
    401: "Bad credentials",
    403: "Resource not accessible by personal access token",
    404: "Not Found",
    409: "Conflict",
    410: "Gone",
    422: "Validation Failed",
}
"""What GitHub says with a status; everything else is a "Server Error"."""


def error(fault: Fault) -> web.Response:
    """An answer that says nothing of what has happened."""
    status = fault.status or 502
    return _refused(fault, Refusal(status, _MESSAGES.get(status, "Server Error")))


def used_up(fault: Fault, now: float) -> web.Response:
    """The primary limit: nothing remains until the reset."""
    answer = _refused(fault, Refusal(fault.status or 403, "API rate limit exceeded for user ID 1."))
    reset = int(now + (fault.seconds or 3600))
    limits = {"limit": 5000, "used": 5000, "remaining": 0, "reset": reset, "resource": "core"}
    answer.headers.update({f"x-ratelimit-{name}": str(value) for name, value in limits.items()})
    return answer


def slowed(fault: Fault) -> web.Response:
    """A secondary limit: too much at once."""
    sentence = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    return _refused(fault, Refusal(fault.status or 403, sentence))


def instead(fault: Fault) -> web.Response:
    """What stands in the place of an answer that has nothing to do with it."""
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


def _refused(fault: Fault, refusal: Refusal) -> web.Response:
    headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
    return web.json_response(refusal.body, status=refusal.status, headers=headers)
