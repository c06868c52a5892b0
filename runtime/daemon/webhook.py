"""GitHub's webhooks as hints: a verified one lets the loops of its repository look again, and means nothing else."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

import anyio
import structlog
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.log import server_logger
from gidgethub import ValidationFailure
from gidgethub.sansio import validate_event

from shared.clock import Clock
from shared.newest import Newest
from shared.telemetry.health import listener

log = structlog.get_logger()

PATH = "/webhook"

MOST_BYTES = 10 * 2**20
"""Maximum bytes of a payload. GitHub sends up to 25 MB; that is not worth its memory, the next poll sees it anyway."""

MOST_DELIVERIES = 2000
"""Maximum number of delivery ids that are remembered."""

MOST_BODIES = 4
"""Maximum number of payloads that are read at once, each of up to `MOST_BYTES`; others are refused."""

MOST_CONNECTIONS = 64
"""Maximum number of open connections; one more is shut at once."""

PATIENCE_SECONDS = 10.0
"""Seconds that a connection may be silent, a head take and a body take: GitHub gives up on an answer after 10."""

LINGERING_SECONDS = 1.0
"""Seconds in which the body of a refused request is thrown away, lest its sender never reads the answer."""

GOODBYE_SECONDS = 1.0

TOLD_SECONDS = 60.0
"""Seconds between two log lines about refusals: anybody can cause one."""

_SIGNATURE = re.compile(r"sha256=[0-9a-f]{64}")


class Refusals:
    """Refused requests, logged with their count: the first at once, later ones once a minute."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._count, self._reason = 0, ""
        self._next = clock.boot()

    def add(self, reason: str) -> None:
        """Count one more refusal."""
        self._count, self._reason = self._count + 1, reason
        if self._clock.boot() >= self._next:
            self.tell()

    def tell(self) -> None:
        """Log what was not logged yet, with the reason of the last one."""
        if self._count:
            log.warning("webhook_refused", count=self._count, reason=self._reason)
            self._count, self._next = 0, self._clock.boot() + TOLD_SECONDS


class Webhook:
    """An endpoint on loopback. It reads the repository's name in a payload, after its signature was verified."""

    def __init__(
        self, secret: bytes, ring: Callable[[str], bool], clock: Clock, *, patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        """Call `ring` with a repository's full name; it returns whether anybody is interested."""
        self._secret, self._ring, self._patience = secret, ring, patience_seconds
        self._refusals = Refusals(clock)
        self._reading = 0
        self._seen: Newest[str, None] = Newest(MOST_DELIVERIES)

    @asynccontextmanager
    async def served(self, host: str, port: int) -> AsyncIterator[int]:
        """Listen while the block runs; give the port. Raises `Misconfigured` if nothing can listen."""
        runner = self._runner()
        with listener(host, port) as listening:
            await runner.setup()
            server = cast(web.Server, runner.server)
            loop = asyncio.get_running_loop()
            accepting = await loop.create_server(lambda: _Door(server, self._refusals), sock=listening)
            try:
                bound = int(listening.getsockname()[1])
                log.info("webhook_served", host=host, port=bound, path=PATH)
                yield bound
            finally:
                accepting.close()
                with anyio.CancelScope(shield=True):
                    await runner.cleanup()
                self._refusals.tell()

    def _runner(self) -> web.AppRunner:
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_post(PATH, self._receive_delivery)
        return web.AppRunner(
            app,
            access_log=None,
            shutdown_timeout=GOODBYE_SECONDS,
            keepalive_timeout=self._patience,
            lingering_time=LINGERING_SECONDS,
            auto_decompress=False,  # what was signed is what was sent, and a small body stays small
            logger=_server_logger(self._refusals),
        )

    async def _receive_delivery(self, request: web.Request) -> web.Response:
        signature = request.headers.get("X-Hub-Signature-256", "")
        if not _SIGNATURE.fullmatch(signature):  # nothing that cannot be signed is read
            return self._refuse(401, "not signed by the secret")
        if request.content_length is None:
            return self._refuse(411, "no Content-Length")
        if request.content_length > MOST_BYTES:
            return self._refuse(413, "too large")
        if self._reading >= MOST_BODIES:
            return self._refuse(503, "too many at once")
        self._reading += 1
        try:
            return await self._read_body(request, signature)
        finally:
            self._reading -= 1

    async def _read_body(self, request: web.Request, signature: str) -> web.Response:
        try:
            with anyio.fail_after(self._patience):
                body = await request.read()
        except TimeoutError:
            return self._refuse(408, "too slow")
        except ConnectionError:
            return self._refuse(400, "broken off")
        if not signed(body, signature, self._secret):
            return self._refuse(401, "not signed by the secret")
        return self._handle_event(body, request.headers.get("X-GitHub-Delivery", ""))

    def _handle_event(self, body: bytes, delivery: str) -> web.Response:
        if not self._is_new(delivery):
            return _answer(200, "known already")
        name = repository_of(body)
        heard = bool(name) and self._ring(name)
        log.debug("webhook_heard", repo=name, heard=heard)
        return _answer(202, "heard") if heard else _answer(200, "nobody is interested")

    def _refuse(self, status: int, reason: str) -> web.Response:
        self._refusals.add(reason)
        return _answer(status, reason)

    def _is_new(self, delivery: str) -> bool:
        """Return whether this delivery was not seen before; always true of one without an id."""
        if not delivery:
            return True
        known = delivery in self._seen
        self._seen[delivery[:100]] = None
        return not known


class _Door(asyncio.Protocol):
    """A door for new connections: each goes on to the server, or is shut if too many are open."""

    def __init__(self, server: web.Server, refusals: Refusals) -> None:
        self._server, self._refusals = server, refusals

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Hand the connection over for good, or end it."""
        if len(self._server.connections) >= MOST_CONNECTIONS:
            self._refusals.add("too many connections")
            cast(asyncio.Transport, transport).abort()
            return
        inside = self._server()
        transport.set_protocol(inside)
        inside.connection_made(transport)


def signed(body: bytes, signature: str, secret: bytes) -> bool:
    """Return whether the secret made this signature; GitHub's older one by SHA-1 is none."""
    if not _SIGNATURE.fullmatch(signature):
        return False
    try:
        validate_event(body, signature=signature, secret=secret.decode())
    except ValidationFailure:
        return False
    return True


def repository_of(body: bytes) -> str:
    """Return the repository that a payload is about, as `owner/repo`; empty if it names none."""
    try:
        name = json.loads(body)["repository"]["full_name"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return name if isinstance(name, str) else ""


def _answer(status: int, text: str) -> web.Response:
    return web.Response(status=status, text=f"{text}\n")


def _server_logger(refusals: Refusals) -> logging.Logger:
    """Return the server's log, in which a malformed request counts as a refusal and leaves no traceback."""

    def keep(record: logging.LogRecord) -> bool:
        if record.exc_info and isinstance(record.exc_info[1], HttpProcessingError):
            refusals.add("malformed")
            return False
        return True

    logger = logging.Logger(__name__)
    logger.parent = server_logger
    logger.addFilter(keep)
    return logger
