"""Between bytes and JSON: reading request bodies, writing answers with their ETags and headers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any

from aiohttp import web

from lab.github.http.call import Operation, Reply
from lab.github.http.media import rendered
from lab.github.http.refusals import Refusal
from lab.github.world.accounts import Allowance, TokenRecord

_CACHING = "private, max-age=60, s-maxage=60"


def parsed(body: bytes) -> Any:
    """The body's JSON; None for no body. 400 for what is no JSON, and for half characters and NUL in it."""
    if not body:
        return None
    try:
        value = json.loads(body)
        if b"\\u" in body:
            _check_texts(value)
    except (ValueError, RecursionError):
        raise Refusal(400, "Problems parsing JSON") from None
    return value


def answered(request: web.Request, reply: Reply) -> web.Response:
    """An operation's reply; 304 when the client has it already."""
    content = reply.content
    if content is None:
        body = rendered(reply.body, request.headers.get("Accept", ""))
        content = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
    headers = dict(reply.headers)
    if request.method in {"GET", "HEAD"} and reply.status == 200:
        tag = _tag(request, content)
        changed = _last_modified(reply.body)
        if tag in request.headers.get("If-None-Match", "") or _is_unmodified(request, changed):
            return web.Response(status=304, headers={"ETag": tag})
        headers |= {"ETag": f"W/{tag}", "Cache-Control": _CACHING, **changed}
    if content or reply.status in {200, 302}:
        headers["Content-Type"] = reply.content_type
    return web.Response(status=reply.status, body=content, headers=headers)


def refused(refusal: Refusal) -> web.Response:
    """A refusal as GitHub words it."""
    return web.json_response(refusal.body, status=refusal.status, headers=refusal.headers)


def limits(allowance: Allowance) -> dict[str, str]:
    """The headers that say what is left of the hour."""
    return {
        "x-ratelimit-limit": str(allowance.limit),
        "x-ratelimit-remaining": str(allowance.remaining),
        "x-ratelimit-used": str(allowance.used),
        "x-ratelimit-reset": str(allowance.reset),
        "x-ratelimit-resource": "core",
    }


def about_token(operation: Operation, token: TokenRecord) -> dict[str, str]:
    """The headers that say which permissions would do, and until when the token works."""
    accepted = "; ".join(f"{name}={operation.level}" for name in operation.permissions)
    headers = {"x-accepted-github-permissions": accepted} if accepted else {}
    if token.expires_at is not None:
        until = datetime.fromtimestamp(token.expires_at, UTC)
        headers["github-authentication-token-expiration"] = f"{until:%Y-%m-%d %H:%M:%S} UTC"
    return headers


def _last_modified(body: Any) -> dict[str, str]:
    """When what is shown alone was changed; lists have no such header."""
    changed = body.get("updated_at") if isinstance(body, dict) else None
    if not isinstance(changed, str):
        return {}
    return {"Last-Modified": format_datetime(datetime.fromisoformat(changed), usegmt=True)}


def _is_unmodified(request: web.Request, changed: Mapping[str, str]) -> bool:
    """By its time alone, which counts only where no tag was sent."""
    since = request.if_modified_since
    if since is None or not changed or "If-None-Match" in request.headers:
        return False
    return parsedate_to_datetime(changed["Last-Modified"]) <= since


def _check_texts(value: Any) -> None:
    match value:
        case str():
            if b"\0" in value.encode():
                raise ValueError("NUL in a text")
        case list():
            for one in value:
                _check_texts(one)
        case dict():
            for one in (*value.keys(), *value.values()):
                _check_texts(one)
        case _:
            return  # numbers, booleans and null


def _tag(request: web.Request, content: bytes) -> str:
    """Bound to the token and to `Accept`, as GitHub's is: another token never gets a 304."""
    who = f"{request.headers.get('Accept', '')}:{request.headers.get('Authorization', '')}:"
    return f'"{hashlib.sha256(who.encode() + content).hexdigest()}"'
