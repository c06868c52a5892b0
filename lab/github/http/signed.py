"""Signed, short-lived addresses for logs: GitHub keeps them on another host and redirects there."""

from __future__ import annotations

import hashlib
import hmac
import io
import zipfile

from aiohttp import web

from lab.github.ci import job_log
from lab.github.http.request_checks import whole_number
from lab.github.wire.checks import STEP_NAME
from lab.github.world.hub import World
from lab.github.world.repository import RepositoryRecord

PATH = "/_logs/{repository_id}/{what:(?:runs/)?[0-9]+}"

VALID_SECONDS = 60
"""Seconds for which an address works, as documented."""


def address(world: World, root: str, repository_id: int, what: str) -> str:
    """The address of the log of a job (its id) or of a run (`runs/<id>`), good for a minute."""
    expiry = world.registrar.now() + VALID_SECONDS
    return f"{root}/_logs/{repository_id}/{what}?se={expiry}&sig={_sign(world, what, expiry)}"


async def serve(world: World, request: web.Request) -> web.StreamResponse:
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
