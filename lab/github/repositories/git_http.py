"""Git's smart HTTP protocol: git's own `http-backend` as a CGI child, streamed both ways; a list of refs needs none.

A push is answered only after `Bare.on_update` knows what it changed, so that whoever pushed reads its own write.
aiohttp has already inflated and de-chunked the request body; the child is told neither encoding nor length.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import anyio
from aiohttp import ClientConnectionResetError, hdrs, web
from aiohttp.http_exceptions import BadHttpMessage
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from lab.github.http.refusals import Refusal
from lab.github.repositories import ref_answers
from lab.github.repositories.bare import CONFIG, Bare
from lab.github.repositories.git_command import environment
from lab.github.repositories.ref_answers import PROTOCOLS, Advertised
from shared import process

EXCHANGE_SECONDS = 600.0
"""Seconds that one request may take altogether."""

_HEADER_BYTES = 8192
"""More than `http-backend` ever prints before its body."""

_CHUNK = 64 * 1024

_LIST_BYTES = 16 * 1024
"""A request that asks for refs is smaller."""

_LISTED = {
    hdrs.EXPIRES: "Fri, 01 Jan 1980 00:00:00 GMT",
    hdrs.PRAGMA: "no-cache",
    hdrs.CACHE_CONTROL: "no-cache, max-age=0, must-revalidate",
    hdrs.CONTENT_TYPE: "application/x-git-upload-pack-result",
}
"""The headers of `http-backend`."""

_BODY_ENDS_EARLY = (ConnectionResetError, web.RequestPayloadError, BadHttpMessage, anyio.BrokenResourceError)
"""The client left, sent what cannot be inflated or de-chunked, or the child has read all it wants."""

_CHALLENGE = {hdrs.WWW_AUTHENTICATE: 'Basic realm="GitHub"'}

_SERVICES = {"git-upload-pack": False, "git-receive-pack": True}
"""Service -> whether it writes."""

Authorise = Callable[[str, str, bool], str | None]
"""(token, full name of the repository, whether to write) -> login of the account, or None when it may not.

Raises `Refusal`: 401 for a token that is none, 403 for a push that nobody may make.
"""

FindRepository = Callable[[str], Bare | None]
"""Full name -> repository, or None when there is none."""


class GitHttp:
    """Serves `/owner/name.git/...` of every repository that `find` knows."""

    def __init__(self, find: FindRepository, authorise: Authorise) -> None:
        self._find = find
        self._authorise = authorise
        self._advertised: dict[str, Advertised] = {}

    def routes(self) -> list[web.RouteDef]:
        """To be added to the application's router; aiohttp's default `auto_decompress` must be on."""
        repository = "/{owner}/{name}.git"
        return [
            web.get(f"{repository}/info/refs", self._advertise, allow_head=False),
            web.post(f"{repository}/{{service:git-upload-pack|git-receive-pack}}", self._serve),
            web.get(f"{repository}/{{tail:HEAD|objects/.+}}", self._refuse_old_client, allow_head=False),
        ]

    async def _advertise(self, request: web.Request) -> web.StreamResponse:
        service = request.query.get("service", "")
        if service not in _SERVICES:
            return await self._refuse_old_client(request)
        bare, login = self._admit(request, writes=_SERVICES[service])
        if _is_known(request, bare, service):
            if service not in self._advertised:
                self._advertised[service] = await _ask_git(_cgi_variables(request, bare, login, "info/refs"), bare)
            advertised = self._advertised[service]
            if (body := advertised.of(bare.path, service)) is not None:
                return web.Response(body=body, headers=advertised.headers)
        return await self._exchange(request, bare, login, "info/refs")

    async def _refuse_old_client(self, request: web.Request) -> web.StreamResponse:
        raise web.HTTPForbidden(text="Please upgrade your git client.\n")

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        service = request.match_info["service"]
        bare, login = self._admit(request, writes=_SERVICES[service])
        begun = b""
        if service == ref_answers.UPLOAD and _is_known(request, bare, service):
            begun = await _read_beginning(request)
            if (body := ref_answers.list_refs(bare.path, begun)) is not None:
                return web.Response(body=body, headers=_LISTED)
        return await self._exchange(request, bare, login, service, begun)

    async def _exchange(
        self, request: web.Request, bare: Bare, login: str, path: str, begun: bytes = b""
    ) -> web.StreamResponse:
        """Let a child answer; `begun` is what was read of the request's body already."""
        variables = environment() | _cgi_variables(request, bare, login, path)
        argv = ("git", "http-backend")
        with anyio.fail_after(EXCHANGE_SECONDS):
            async with AsyncExitStack() as stack:
                if path == "git-receive-pack":
                    await stack.enter_async_context(bare.changing(login))
                log = bare.path / "http-backend.log"
                child = await stack.enter_async_context(process.piped(argv, cwd=bare.path, env=variables, log=log))
                await stack.enter_async_context(_feeding(child, request, begun))
                response = await _relay(child, request)
            with suppress(ClientConnectionResetError):
                await response.write_eof()
        return response

    def _admit(self, request: web.Request, *, writes: bool) -> tuple[Bare, str]:
        """The repository and the account; the checks come in GitHub's order."""
        full_name = f"{request.match_info['owner']}/{request.match_info['name']}"
        token = git_token(request.headers.get(hdrs.AUTHORIZATION, ""))
        if token is None:
            raise web.HTTPUnauthorized(headers=_CHALLENGE, text="No credentials.")
        bare = self._find(full_name)
        if bare is None:
            raise web.HTTPNotFound(text="Repository not found.")
        try:
            login = self._authorise(token, full_name, writes)
        except Refusal as refusal:
            if refusal.status == 403:
                raise web.HTTPForbidden(text=f"{refusal.message}.") from refusal
            raise web.HTTPUnauthorized(headers=_CHALLENGE, text=f"{refusal.message}.") from refusal
        if login is None:
            raise web.HTTPForbidden(text=f"Permission to {full_name}.git denied.")
        return bare, login


def git_token(authorization: str) -> str | None:
    """The password of an `Authorization: Basic` header; the user name may be anything."""
    scheme, _, credentials = authorization.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        decoded = base64.b64decode(credentials, validate=True).decode()
    except ValueError:
        return None
    return decoded.partition(":")[2] or None


def _is_known(request: web.Request, bare: Bare, service: str) -> bool:
    """Return whether refs may be listed without git: for a repository as the lab makes it, and a git of today."""
    asked = request.headers.get("Git-Protocol", "") == PROTOCOLS[service]
    return asked and (bare.path / "config").read_text(encoding="utf-8") == CONFIG


async def _ask_git(variables: dict[str, str], bare: Bare) -> Advertised:
    """Return the answer of `http-backend` to `info/refs`."""
    told = await process.run(("git", "http-backend"), cwd=bare.path, env=environment() | variables)
    head, _, body = told.stdout.partition(b"\r\n\r\n")
    return Advertised(dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n")), body)


async def _read_beginning(request: web.Request) -> bytes:
    """The request's body, as far as it has arrived when it is more than a list of refs needs, or breaks off."""
    begun = bytearray()
    with suppress(*_BODY_ENDS_EARLY):
        async for chunk in request.content.iter_chunked(_CHUNK):
            begun += chunk
            if len(begun) > _LIST_BYTES:
                break
    return bytes(begun)


def _cgi_variables(request: web.Request, bare: Bare, login: str, path: str) -> dict[str, str]:
    return {
        "GIT_PROJECT_ROOT": str(bare.path.parent),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        "PATH_INFO": f"/{bare.path.name}/{path}",
        "QUERY_STRING": request.query_string,
        "REQUEST_METHOD": request.method,
        "CONTENT_TYPE": request.headers.get(hdrs.CONTENT_TYPE, ""),
        "REMOTE_USER": login,
        "REMOTE_ADDR": request.remote or "",
    }


@asynccontextmanager
async def _feeding(child: Process, request: web.Request, begun: bytes) -> AsyncIterator[None]:
    """Feed the request's body to the child while the block runs."""
    async with anyio.create_task_group() as group:
        group.start_soon(_feed, child, request, begun)
        yield
        group.cancel_scope.cancel()


async def _feed(child: Process, request: web.Request, begun: bytes) -> None:
    if child.stdin is None:
        return
    try:
        await child.stdin.send(begun)
        async for chunk in request.content.iter_chunked(_CHUNK):
            await child.stdin.send(chunk)
    except _BODY_ENDS_EARLY:
        pass  # the child sees the end of its input and refuses what is incomplete
    await child.stdin.aclose()


async def _relay(child: Process, request: web.Request) -> web.StreamResponse:
    """The child's answer, sent on as it comes until the child has ended; the end of the body is left to the caller.

    A client that leaves early does not stop the child: a push that has arrived is carried out.
    """
    if child.stdout is None:
        raise web.HTTPInternalServerError
    output = BufferedByteReceiveStream(child.stdout)
    response = _response((await output.receive_until(b"\r\n\r\n", _HEADER_BYTES)).decode("latin-1"))
    with suppress(ClientConnectionResetError):
        await response.prepare(request)
    async for chunk in output:
        with suppress(ClientConnectionResetError):
            await response.write(chunk)
    await child.wait()
    return response


def _response(head: str) -> web.StreamResponse:
    headers = dict(line.split(": ", 1) for line in head.split("\r\n"))
    status = int(headers.pop("Status", "200 OK").split(" ", 1)[0])
    return web.StreamResponse(status=status, headers=headers)
