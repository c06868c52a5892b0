"""From an HTTP request to an operation and back, for every operation of the API.

Between bytes and JSON: reading request bodies, writing answers with their ETags and headers.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime, formatdate, parsedate_to_datetime
from itertools import product
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler
from markdown_it import MarkdownIt

from lab.github.fault_injection.faults import is_git, staleness
from lab.github.fault_injection.middleware import FAULTS
from lab.github.http.call import REPOSITORY, ApiCall, Operation, Reply
from lab.github.http.exchanges import Exchange, Exchanges
from lab.github.http.refusals import Moved, Refusal, not_found, redirected
from lab.github.http.request_checks import ENTERPRISE, Admission, Caller, came_to, inside
from lab.github.http.storage import ATTACHMENTS
from lab.github.repositories.bare import called_by
from lab.github.wire.site import ServedRoot
from lab.github.world.accounts import TokenRecord

_UNLISTED = "/{tail:(?s:.*)}"
"""Catches every path that no operation has."""

_NUMBERED = "/repositories/{repository_id}"
"""The other beginning of a path inside a repository: it survives a renaming."""

GREEDY = {**dict.fromkeys(("ref", "branch", "basehead", "name", "sha"), "(?s:.+)"), "path": "(?s:.*)"}
"""Path parameters that may contain slashes; the path of a file may be empty: the root."""

_ONE_PART = "[^/]+"
"""Every other path parameter; aiohttp's own pattern would not take braces."""


class Service:
    """Answers the operations of one site."""

    def __init__(self, site: ServedRoot, exchanges: Exchanges) -> None:
        self.site = site
        self._admission = Admission(site)
        self._exchanges = exchanges
        self.unlisted: list[str] = []
        self._serial = 0

    def mount(self, router: web.UrlDispatcher, operations: list[Operation]) -> None:
        """Route every operation, by the repository's name and by its id, as github.com and as Enterprise."""
        for operation in operations:
            handler, template = self._handler(operation), operation.template
            templates = dict.fromkeys((template, template.replace(REPOSITORY, _NUMBERED, 1)))
            for root, same in product(("", ENTERPRISE), templates):
                path = root + re.sub(r"{(\w+)}", _pattern, same)
                for method in (operation.method, *(("HEAD",) if operation.method == "GET" else ())):
                    router.add_route(method, path, handler)
        router.add_route("*", _UNLISTED, self._unlisted)

    @web.middleware
    async def record(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """The outermost middleware of API calls: GitHub's common headers, and the exchange."""
        body = b"" if is_git(request.path) else await request.read()
        response = await handler(request)
        if response.prepared or not isinstance(response, web.Response):
            return response
        self._serial += 1
        response.headers.setdefault("Date", formatdate(self.site.world.registrar.precise(), usegmt=True))
        response.headers["x-github-request-id"] = f"LAB:{self._serial:08X}"
        response.headers["x-github-media-type"] = "github.v3; format=json"
        beside = request.path.startswith(("/_", ATTACHMENTS))  # the site's, and our own
        told = request.method != "HEAD" and not beside  # no description has HEAD
        if told and not is_git(request.path):
            self._exchanges.add(_exchange(request, body, response))
        return response

    def _handler(self, operation: Operation) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            caller: Caller | None = None
            try:
                caller = self._admission.caller(operation, request)
                self._admission.admit(operation, caller)
                response = _answer(request, await self._reply(operation, request, caller))
            except Refusal as refusal:
                response = _refuse(refusal)
            if caller is not None:
                charge = operation.charged and response.status != 304
                response.headers.update(self._limits(operation.resource, caller.account.login, charge=charge))
                response.headers.update(_token_headers(operation, caller.token))
            return response

        return handle

    async def _unlisted(self, request: web.Request) -> web.StreamResponse:
        self.unlisted.append(f"{request.method} {request.path}")
        return _refuse(not_found())

    async def _reply(self, operation: Operation, request: web.Request, caller: Caller) -> Reply:
        actor = called_by.set(caller.account.login)
        try:
            return await operation.function(await self._call(operation, request, caller))
        except Moved as moved:
            raise redirected(request.method, self._new_address(moved, request)) from None
        finally:
            called_by.reset(actor)

    async def _call(self, operation: Operation, request: web.Request, caller: Caller) -> ApiCall:
        home = self._admission.home(request)
        self._admission.permit(operation, home, caller)
        return ApiCall(
            site=replace(self.site, root=came_to(request, self.site.root), own=self.site.root),
            account=caller.account,
            app=caller.app,
            home=home,
            path=inside(request.rel_url.raw_path),
            match=_check_readable(request.match_info),
            query=dict(request.query),
            body=_parse(await request.read()),
            accept=request.headers.get("Accept", ""),
            stale=staleness(request[FAULTS]),
        )

    def _new_address(self, moved: Moved, request: web.Request) -> str:
        """Return the address of a transferred issue, with the rest of the path."""
        rest = re.sub(r"^/\w+/\d+", "", inside(request.rel_url.raw_path_qs))
        return f"{came_to(request, self.site.root)}{moved.path}{rest}"

    def _limits(self, resource: str, login: str, *, charge: bool) -> dict[str, str]:
        """Return the headers with the remaining requests of the hour."""
        world = self.site.world
        quota = world.quotas[resource]
        count = quota.charge if charge else quota.allowance
        allowance = count(login, world.registrar.now())
        return {
            "x-ratelimit-limit": str(allowance.limit),
            "x-ratelimit-remaining": str(allowance.remaining),
            "x-ratelimit-used": str(allowance.used),
            "x-ratelimit-reset": str(allowance.reset),
            "x-ratelimit-resource": resource,
        }


def _pattern(parameter: re.Match[str]) -> str:
    name = parameter[1]
    return f"{{{name}:{GREEDY.get(name, _ONE_PART)}}}"


def _check_readable(match: Mapping[str, str]) -> Mapping[str, str]:
    """The path's parameters; 404 for those with control characters: nothing can be called so."""
    if any(mark < " " for value in match.values() for mark in value):
        raise not_found()
    return match


def _exchange(request: web.Request, body: bytes, response: web.Response) -> Exchange:
    return Exchange(
        method=request.method,
        template=_template(request),
        path=request.path.removeprefix(ENTERPRISE),
        query=request.query_string,
        request_headers=request.headers.copy(),
        request_body=body,
        status=response.status,
        response_headers=response.headers.copy(),
        response_body=response.body if isinstance(response.body, bytes) else b"",
        fault=", ".join(fault.kind for fault in request.get(FAULTS, ())),
    )


def _template(request: web.Request) -> str | None:
    """The operation's path as the API description writes it."""
    resource = request.match_info.route.resource
    canonical = "/{tail}" if resource is None else resource.canonical
    return None if canonical == "/{tail}" else canonical.removeprefix(ENTERPRISE).replace(_NUMBERED, REPOSITORY, 1)


_CACHING = "private, max-age=60, s-maxage=60"


def _parse(body: bytes) -> Any:
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


def _answer(request: web.Request, reply: Reply) -> web.Response:
    """An operation's reply; 304 when the client has it already."""
    content = reply.content
    if content is None:
        body = render(reply.body, request.headers.get("Accept", ""))
        content = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
    headers = dict(reply.headers)
    if request.method in {"GET", "HEAD"} and reply.status == 200:
        tag = _tag(request, content)
        changed = _last_modified(reply.body)
        if tag in request.headers.get("If-None-Match", "") or _is_unmodified(request, changed):
            return web.Response(status=304, headers={"ETag": tag})
        headers |= {"ETag": f"W/{tag}", "Cache-Control": _CACHING, **changed}
    elif content and _is_tagged(request, reply.status):
        # GitHub's answer to a write has the tag that a reading of the same JSON would have.
        headers["ETag"] = _tag(request, content) if reply.status == 201 else f"W/{_tag(request, content)}"
    if content or reply.status in {200, 302}:
        headers["Content-Type"] = reply.content_type
    return web.Response(status=reply.status, body=content, headers=headers)


def _refuse(refusal: Refusal) -> web.Response:
    """A refusal as GitHub words it."""
    return web.json_response(refusal.body, status=refusal.status, headers=refusal.headers)


def _token_headers(operation: Operation, token: TokenRecord) -> dict[str, str]:
    """Return the headers with the sufficient permissions, and with the token's expiry."""
    accepted = "; ".join(f"{name}={operation.level}" for name in operation.permissions)
    headers = {"x-accepted-github-permissions": accepted} if accepted else {}
    if token.expires_at is not None:
        until = datetime.fromtimestamp(token.expires_at, UTC)
        headers["github-authentication-token-expiration"] = f"{until:%Y-%m-%d %H:%M:%S} UTC"
    return headers


def _last_modified(body: Any) -> dict[str, str]:
    """Return the header with the last change of a single record; lists have no such header."""
    changed = body.get("updated_at") if isinstance(body, dict) else None
    if not isinstance(changed, str):
        return {}
    return {"Last-Modified": format_datetime(datetime.fromisoformat(changed), usegmt=True)}


def _is_unmodified(request: web.Request, changed: Mapping[str, str]) -> bool:
    """Return whether the client's copy is current by its time alone, which counts only where no tag was sent."""
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


def _is_tagged(request: web.Request, status: int) -> bool:
    """Return whether an answer to a write has an ETag: those of REST do, those of GraphQL do not."""
    return request.method not in {"GET", "HEAD"} and status in {200, 201} and not request.path.endswith("/graphql")


def _tag(request: web.Request, content: bytes) -> str:
    """Bound to the token and to `Accept`, as GitHub's is: another token never gets a 304."""
    who = f"{request.headers.get('Accept', '')}:{request.headers.get('Authorization', '')}:"
    return f'"{hashlib.sha256(who.encode() + content).hexdigest()}"'


_MEDIA = re.compile(r"application/vnd\.github(?:\.v3)?\.(text|html|full)\+json")
_TAG = re.compile(r"<[^>]+>")


def render(value: Any, accept: str) -> Any:
    """`value` with the bodies of all that somebody wrote in it as `accept` asks; itself for every other media type."""
    asked = _MEDIA.search(accept)
    return value if asked is None else _with_bodies(value, asked[1])


def _with_bodies(value: Any, media: str) -> Any:
    match value:
        case list():
            return [_with_bodies(one, media) for one in value]
        case {"body": str() | None as body, "user": _, **rest}:
            others = {name: _with_bodies(one, media) for name, one in rest.items()}
            return {"user": value["user"], **others, **_bodies(body, media)}
        case dict():
            return {name: _with_bodies(one, media) for name, one in value.items()}
        case _:
            return value


def _bodies(body: str | None, media: str) -> dict[str, str | None]:
    markup = None if body is None else MarkdownIt("commonmark", {"html": False}).render(body)
    text = None if markup is None else html.unescape(_TAG.sub("", markup)).strip()
    every = {"body": body, "body_html": markup, "body_text": text}
    return every if media == "full" else {f"body_{media}": every[f"body_{media}"]}
