"""Signed, short-lived addresses for job logs: GitHub keeps logs on another host and redirects there."""

from __future__ import annotations

import hashlib
import hmac

from aiohttp import web

from lab.world.hub import World

PATH = "/_logs/{repository_id}/{job_id}"

VALID_SECONDS = 60
"""How long an address works, as documented."""


def address(world: World, root: str, repository_id: int, job_id: int) -> str:
    """The address of a job's log, good for a minute."""
    expiry = world.registrar.now() + VALID_SECONDS
    return f"{root}/_logs/{repository_id}/{job_id}?se={expiry}&sig={_sign(world, job_id, expiry)}"


async def serve(world: World, request: web.Request) -> web.Response:
    """The log as plain text; 403 when the address is old or forged."""
    expiry, job_id = request.query.get("se", "0"), int(request.match_info["job_id"])
    genuine = hmac.compare_digest(request.query.get("sig", ""), _sign(world, job_id, int(expiry)))
    if not genuine or int(expiry) < world.registrar.now():
        raise web.HTTPForbidden(text="<Error><Code>AuthenticationFailed</Code></Error>", content_type="application/xml")
    repository = world.repositories[int(request.match_info["repository_id"])]
    return web.Response(text=repository.checks.require_check(job_id).log or "", content_type="text/plain")


def _sign(world: World, job_id: int, expiry: int) -> str:
    return hmac.new(world.secret, f"{job_id}:{expiry}".encode(), hashlib.sha256).hexdigest()
