"""GitHub's webhooks as hints: one that is verified rings the bell of its repository, and means nothing else."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import structlog
from aiohttp import web

from shared.telemetry.health import listener

log = structlog.get_logger()

PATH = "/webhook"

MOST_BYTES = 10 * 2**20
"""GitHub sends up to 25 MB; a payload larger than this is not worth its memory, and the next poll sees it anyway."""

MOST_DELIVERIES = 2000
"""So many delivery ids are remembered."""

READ_SECONDS = 10.0
"""GitHub gives up on an answer after 10 seconds."""

GOODBYE_SECONDS = 1.0


class Webhook:
    """An endpoint on loopback. Of a payload it reads the repository's name, after its signature was verified."""

    def __init__(self, secret: bytes, ring: Callable[[str], bool]) -> None:
        """`ring` is given a repository's full name, and says whether anybody is interested."""
        self._secret, self._ring = secret, ring
        self._seen: OrderedDict[str, None] = OrderedDict()

    @asynccontextmanager
    async def served(self, host: str, port: int) -> AsyncIterator[int]:
        """Listen while the block runs; gives the port. Raises `Misconfigured` where nothing can listen."""
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_post(PATH, self._delivered)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=GOODBYE_SECONDS)
        with listener(host, port) as listening:
            await runner.setup()
            try:
                await web.SockSite(runner, listening).start()
                bound = int(listening.getsockname()[1])
                log.info("webhook_served", host=host, port=bound, path=PATH)
                yield bound
            finally:
                with anyio.CancelScope(shield=True):
                    await runner.cleanup()

    async def _delivered(self, request: web.Request) -> web.Response:
        try:
            with anyio.fail_after(READ_SECONDS):
                body = await request.read()
        except TimeoutError:
            return _answer(408, "too slow")
        if not signed(body, request.headers.get("X-Hub-Signature-256", ""), self._secret):
            log.warning("webhook_refused", reason="its signature is missing or wrong")
            return _answer(401, "not signed by the secret")
        if not self._is_new(request.headers.get("X-GitHub-Delivery", "")):
            return _answer(200, "known already")
        name = repository_of(body)
        heard = bool(name) and self._ring(name)
        log.debug("webhook_heard", repo=name, heard=heard)
        return _answer(202, "heard") if heard else _answer(200, "nobody is interested")

    def _is_new(self, delivery: str) -> bool:
        """Whether this delivery was not seen before; one without an id never was."""
        if not delivery:
            return True
        known = delivery in self._seen
        self._seen[delivery[:100]] = None
        while len(self._seen) > MOST_DELIVERIES:
            self._seen.popitem(last=False)
        return not known


def signed(body: bytes, signature: str, secret: bytes) -> bool:
    """Whether the secret made this signature (https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries)."""
    wanted = f"sha256={hmac.new(secret, body, hashlib.sha256).hexdigest()}"
    return hmac.compare_digest(wanted.encode(), signature.encode("utf-8", "replace"))


def repository_of(body: bytes) -> str:
    """The repository that a payload is about, as `owner/repo`; empty when it names none."""
    try:
        name = json.loads(body)["repository"]["full_name"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return name if isinstance(name, str) else ""


def _answer(status: int, text: str) -> web.Response:
    return web.Response(status=status, text=f"{text}\n")
