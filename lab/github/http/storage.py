"""Files that GitHub keeps on other hosts and redirects to: logs, at signed, short-lived addresses, and attachments.

Attachments are files that people drop into a comment on the site. Each has an address of its own, from which a browser
is sent to storage.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import secrets
import uuid
import zipfile

from aiohttp import web

from lab.github.ci import job_log
from lab.github.http.request_checks import whole_number
from lab.github.wire.checks import STEP_NAME
from lab.github.world.hub import World
from lab.github.world.repository import RepositoryRecord

LOGS = "/_logs/{repository_id}/{what:(?:runs/)?[0-9]+}"

VALID_SECONDS = 60
"""Seconds for which an address works, as documented."""

ATTACHMENTS = "/user-attachments/assets/"

STORAGE = "/_storage/"

_GONE = "Not Found"


def log_address(world: World, root: str, repository_id: int, what: str) -> str:
    """The address of the log of a job (its id) or of a run (`runs/<id>`), good for a minute."""
    expiry = world.registrar.now() + VALID_SECONDS
    return f"{root}/_logs/{repository_id}/{what}?se={expiry}&sig={_sign(world, what, expiry)}"


async def serve_log(world: World, request: web.Request) -> web.StreamResponse:
    """A job's log as plain text, or an archive of a run's.

    403 when the address is old or forged, 400 when the request brings a token: storage takes the address only.
    """
    what, repository_id = request.match_info["what"], whole_number(request.match_info["repository_id"])
    expiry = whole_number(request.query.get("se", "")) or 0
    genuine = hmac.compare_digest(request.query.get("sig", "").encode(), _sign(world, what, expiry).encode())
    if not genuine or expiry < world.registrar.now():
        raise web.HTTPForbidden(text=_error("AuthenticationFailed"), content_type="application/xml")
    if "Authorization" in request.headers:
        raise web.HTTPBadRequest(text=_error("InvalidAuthenticationInfo"), content_type="application/xml")
    repository = world.repositories[repository_id or 0]
    if what.startswith("runs/"):
        return _archive(repository, int(what.removeprefix("runs/")))
    return await _stream(repository, int(what), request)


async def _stream(repository: RepositoryRecord, job_id: int, request: web.Request) -> web.StreamResponse:
    check = repository.checks.require_check(job_id)
    answer = web.StreamResponse(headers={"Content-Type": "text/plain; charset=utf-8"})
    await answer.prepare(request)
    for block in job_log.filler(check.log_filler, at=check.started_at):
        await answer.write(block)
    await answer.write((check.log or "").encode())
    await answer.write_eof()
    return answer


def _archive(repository: RepositoryRecord, run_id: int) -> web.Response:
    buffer, checks = io.BytesIO(), repository.checks
    with zipfile.ZipFile(buffer, "w") as archive:
        for order, job in enumerate(checks.jobs(checks.require_run(run_id))):
            name = job.name.replace("/", "")  # as GitHub leaves it out of names of files
            for path in (f"{order}_{name}.txt", f"{name}/1_{STEP_NAME}.txt"):
                archive.writestr(zipfile.ZipInfo(path), job.log or "")
    return web.Response(body=buffer.getvalue(), content_type="application/zip")


def _error(code: str) -> str:
    return f"<Error><Code>{code}</Code></Error>"


def _sign(world: World, what: str, expiry: int) -> str:
    return hmac.new(world.secret, f"{what}:{expiry}".encode(), hashlib.sha256).hexdigest()


class Attachments:
    """The attached files; forgotten when the lab ends. `requests` is each path with whether a token came along."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}
        self._keys: dict[str, str] = {}
        self._elsewhere: dict[str, str] = {}
        self.requests: list[tuple[str, bool]] = []

    def add(self, content: bytes, *, leads_to: str = "") -> str:
        """Add an attachment and return its path; with `leads_to` a browser is sent there instead of to storage."""
        name, key = str(uuid.UUID(bytes=secrets.token_bytes(16))), secrets.token_hex(16)
        self._files[key], self._keys[name], self._elsewhere[name] = content, key, leads_to
        return f"{ATTACHMENTS}{name}"

    def remove(self, path: str) -> None:
        """Delete an attachment, as a person does."""
        del self._keys[path.removeprefix(ATTACHMENTS)]

    def routes(self) -> list[web.RouteDef]:
        """The site's address and storage's."""
        return [web.get(f"{ATTACHMENTS}{{name}}", self._redirect), web.get(f"{STORAGE}{{key}}", self._send_content)]

    async def _redirect(self, request: web.Request) -> web.Response:
        self._note(request)
        name = request.match_info["name"]
        key = self._keys.get(name)
        if key is None:
            return web.Response(status=404, text=_GONE)
        return web.Response(status=302, headers={"Location": self._elsewhere[name] or f"{STORAGE}{key}"})

    async def _send_content(self, request: web.Request) -> web.Response:
        self._note(request)
        content = self._files.get(request.match_info["key"])
        if content is None:
            return web.Response(status=404, text=_GONE)
        return web.Response(body=content, content_type="application/octet-stream")

    def _note(self, request: web.Request) -> None:
        has_token = "Authorization" in request.headers or "Cookie" in request.headers
        self.requests.append((request.path, has_token))
