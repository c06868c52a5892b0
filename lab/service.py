"""From an HTTP request to an operation and back: tokens, permissions, ETags, limits, headers."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from email.utils import formatdate
from itertools import product
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from lab.call import REPOSITORY, Call, Operation, Reply
from lab.exchanges import Exchange, Exchanges
from lab.faults import staleness
from lab.refusals import Refusal, no_rights, not_accessible, not_found
from lab.spoil import FAULTS
from lab.wire.site import Site
from lab.world.accounts import AccountRecord, TokenRecord
from lab.world.repository import RepositoryRecord

_UNLISTED = "/{tail:.*}"
"""Catches every path that no operation has."""

_NUMBERED = "/repositories/{repository_id}"
"""The other beginning of a path inside a repository: it survives a renaming."""

ENTERPRISE = "/api/v3"
"""The beginning of every API path on a GitHub Enterprise Server: programs use it for any host but github.com."""

GREEDY = {**dict.fromkeys(("ref", "branch", "basehead", "name", "sha"), ".+"), "path": ".*"}
"""Path parameters that may contain slashes; the path of a file may be empty: the root."""

_TOKEN = re.compile(r"(?:bearer|token)\s+(\S+)", re.IGNORECASE)


class Service:
    """Answers the operations of one site."""

    def __init__(self, site: Site, exchanges: Exchanges) -> None:
        self.site = site
        self._exchanges = exchanges
        self.unlisted: list[str] = []
        self._serial = 0

    def mount(self, router: web.UrlDispatcher, operations: list[Operation]) -> None:
        """Route every operation, by the repository's name and by its id, as github.com and as Enterprise."""
        for operation in operations:
            path = re.sub(r"{(\w+)}", _pattern, operation.template)
            handler = self._handler(operation)
            paths = dict.fromkeys((path, path.replace(REPOSITORY, _NUMBERED, 1)))
            for root, same in product(("", ENTERPRISE), paths):
                router.add_route(operation.method, root + same, handler)
        router.add_route("*", _UNLISTED, self._unlisted)

    @web.middleware
    async def record(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """The outermost middleware of API calls: GitHub's common headers, and the exchange."""
        body = b"" if is_git(request.path) else await request.read()
        response = await handler(request)
        if response.prepared or not isinstance(response, web.Response):
            return response
        self._serial += 1
        response.headers["Date"] = formatdate(self.site.world.registrar.precise(), usegmt=True)
        response.headers["x-github-request-id"] = f"LAB:{self._serial:08X}"
        response.headers["x-github-media-type"] = "github.v3; format=json"
        if not is_git(request.path) and not request.path.startswith("/_"):
            self._exchanges.add(_exchange(request, body, response))
        return response

    def _handler(self, operation: Operation) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            token: TokenRecord | None = None
            try:
                token = self._token(request)
                self._admit(token)
                reply = await operation.function(await self._call(operation, request, token))
                response = _rendered(request, reply)
            except Refusal as refusal:
                response = _json(refusal.status, refusal.body, refusal.headers)
            if token is not None:
                charge = operation.charged and response.status != 304
                response.headers.update(self._limits(token.login, charge=charge))
            return response

        return handle

    async def _unlisted(self, request: web.Request) -> web.StreamResponse:
        self.unlisted.append(f"{request.method} {request.path}")
        return _json(404, not_found().body)

    def _token(self, request: web.Request) -> TokenRecord:
        found = _TOKEN.fullmatch(request.headers.get("Authorization", ""))
        if found is None:
            raise Refusal(401, "Requires authentication")
        return self.site.world.authenticate(found[1])

    def _admit(self, token: TokenRecord) -> None:
        world = self.site.world
        if world.meter.allowance(token.login, world.registrar.now()).remaining == 0:
            account = world.account(token.login)
            raise Refusal(403, f"API rate limit exceeded for user ID {account.id}.")

    async def _call(self, operation: Operation, request: web.Request, token: TokenRecord) -> Call:
        account = self.site.world.account(token.login)
        home = self._home(request)
        _permit(operation, home, account, token)
        return Call(
            site=self.site,
            account=account,
            home=home,
            path=_inside(request.rel_url.raw_path),
            match=request.match_info,
            query=dict(request.query),
            body=_parsed(await request.read()),
            accept=request.headers.get("Accept", ""),
            stale=staleness(request[FAULTS]),
        )

    def _home(self, request: web.Request) -> RepositoryRecord | None:
        match, world = request.match_info, self.site.world
        if "repository_id" in match:
            number = match["repository_id"]
            found = world.repositories.get(int(number)) if number.isdecimal() else None
        elif "repo" in match:
            name = f"{match['owner']}/{match['repo']}"
            found = world.repository(name)
            moved = world.moved(name)
            if found is None and moved is not None:
                raise self._moved(moved, request)
        else:
            return None
        if found is None:
            raise not_found()
        return found

    def _moved(self, repository: RepositoryRecord, request: web.Request) -> Refusal:
        location = f"{self.site.root}/repositories/{repository.facts.id}{_inside(request.rel_url.raw_path_qs)}"
        return Refusal(301, "Moved Permanently", headers={"Location": location})

    def _limits(self, login: str, *, charge: bool) -> dict[str, str]:
        world = self.site.world
        count = world.meter.charge if charge else world.meter.allowance
        allowance = count(login, world.registrar.now())
        return {
            "x-ratelimit-limit": str(allowance.limit),
            "x-ratelimit-remaining": str(allowance.remaining),
            "x-ratelimit-used": str(allowance.used),
            "x-ratelimit-reset": str(allowance.reset),
            "x-ratelimit-resource": "core",
        }


def _pattern(parameter: re.Match[str]) -> str:
    name = parameter[1]
    return f"{{{name}:{GREEDY[name]}}}" if name in GREEDY else parameter[0]


def is_git(path: str) -> bool:
    """Whether a path belongs to git's HTTP protocol."""
    return re.fullmatch(r"/[^/]+/[^/]+\.git/.*", path) is not None


def _permit(operation: Operation, home: RepositoryRecord | None, account: AccountRecord, token: TokenRecord) -> None:
    """404 for what may not be seen, 403 for what may not be done."""
    if home is None:
        return
    if not home.facts.reaches(account.login, "read"):
        raise not_found()
    free = operation.level == "read" and operation.role == "read" and not home.facts.private
    wanted = operation.permissions or ("metadata",)
    if not free and not any(token.may(permission, operation.level) for permission in wanted):
        raise not_accessible(bot=account.bot)
    if not home.facts.reaches(account.login, operation.role):
        raise no_rights()
    if operation.level == "write" and home.facts.archived:
        raise Refusal(403, "Repository was archived so is read-only.")


def _parsed(body: bytes) -> Any:
    if not body:
        return None
    try:
        return json.loads(body)
    except ValueError:
        raise Refusal(400, "Problems parsing JSON") from None


def _inside(raw_path: str) -> str:
    """What follows the repository in a raw path; other paths stay as they are."""
    return re.sub(rf"^({ENTERPRISE})?/(repos/[^/]+/[^/?]+|repositories/\d+)", "", raw_path)


def _json(status: int, body: Any, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.json_response(body, status=status, headers=headers)


def _rendered(request: web.Request, reply: Reply) -> web.Response:
    content = reply.content
    if content is None:
        content = b"" if reply.body is None else json.dumps(reply.body, separators=(",", ":")).encode()
    headers = dict(reply.headers)
    if request.method == "GET" and reply.status == 200:
        tag = _tag(request, content)
        if tag in request.headers.get("If-None-Match", ""):
            return web.Response(status=304, headers={"ETag": tag})
        headers |= {"ETag": f"W/{tag}", "Cache-Control": "private, max-age=60, s-maxage=60"}
    if content or reply.status == 200:
        headers["Content-Type"] = reply.content_type
    return web.Response(status=reply.status, body=content, headers=headers)


def _tag(request: web.Request, content: bytes) -> str:
    """Bound to the token and to `Accept`, as GitHub's is: another token never gets a 304."""
    who = f"{request.headers.get('Accept', '')}:{request.headers.get('Authorization', '')}:"
    return f'"{hashlib.sha256(who.encode() + content).hexdigest()}"'


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
