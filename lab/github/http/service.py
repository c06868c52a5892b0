"""From an HTTP request to an operation and back, for every operation of the API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from email.utils import formatdate
from itertools import product

from aiohttp import web
from aiohttp.typedefs import Handler

from lab.github.fault_injection.faults import is_git, staleness
from lab.github.fault_injection.middleware import FAULTS
from lab.github.http import rendering
from lab.github.http.attachments import PREFIX
from lab.github.http.base_address import ENTERPRISE, came_to
from lab.github.http.call import REPOSITORY, Call, Operation, Reply
from lab.github.http.exchanges import Exchange, Exchanges
from lab.github.http.refusals import Moved, Refusal, not_found, redirected
from lab.github.http.request_checks import Admission, Caller, inside
from lab.github.repositories.bare import called_by
from lab.github.wire.site import Site

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

    def __init__(self, site: Site, exchanges: Exchanges) -> None:
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
        beside = request.path.startswith(("/_", PREFIX))  # the site's, and our own
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
                response = rendering.answered(request, await self._reply(operation, request, caller))
            except Refusal as refusal:
                response = rendering.refused(refusal)
            if caller is not None:
                charge = operation.charged and response.status != 304
                response.headers.update(self._limits(caller.account.login, charge=charge))
                response.headers.update(rendering.about_token(operation, caller.token))
            return response

        return handle

    async def _unlisted(self, request: web.Request) -> web.StreamResponse:
        self.unlisted.append(f"{request.method} {request.path}")
        return rendering.refused(not_found())

    async def _reply(self, operation: Operation, request: web.Request, caller: Caller) -> Reply:
        actor = called_by.set(caller.account.login)
        try:
            return await operation.function(await self._call(operation, request, caller))
        except Moved as moved:
            raise redirected(request.method, self._new_address(moved, request)) from None
        finally:
            called_by.reset(actor)

    async def _call(self, operation: Operation, request: web.Request, caller: Caller) -> Call:
        home = self._admission.home(request)
        self._admission.permit(operation, home, caller)
        root = came_to(request, self.site.root)
        return Call(
            site=replace(self.site, root=root, own=self.site.root),
            account=caller.account,
            app=caller.app,
            home=home,
            path=inside(request.rel_url.raw_path),
            match=_readable(request.match_info),
            query=dict(request.query),
            body=rendering.parsed(await request.read()),
            accept=request.headers.get("Accept", ""),
            root=root,
            stale=staleness(request[FAULTS]),
        )

    def _new_address(self, moved: Moved, request: web.Request) -> str:
        """Where a transferred issue is, with what followed the issue in the path."""
        rest = re.sub(r"^/\w+/\d+", "", inside(request.rel_url.raw_path_qs))
        return f"{came_to(request, self.site.root)}{moved.path}{rest}"

    def _limits(self, login: str, *, charge: bool) -> dict[str, str]:
        world = self.site.world
        count = world.meter.charge if charge else world.meter.allowance
        return rendering.limits(count(login, world.registrar.now()))


def _pattern(parameter: re.Match[str]) -> str:
    name = parameter[1]
    return f"{{{name}:{GREEDY.get(name, _ONE_PART)}}}"


def _readable(match: Mapping[str, str]) -> Mapping[str, str]:
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
