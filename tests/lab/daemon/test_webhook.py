"""Webhooks over real HTTP: only what the secret signed rings, each delivery once; of a payload only the name counts."""

from __future__ import annotations

import hashlib
import hmac
import io
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import aiohttp
import pytest
from fakes.clock import HandClock
from webhook_scene import PUSH, SECRET

from config.credentials import hook_secret
from config.engine import WebhookSettings
from runtime.daemon.webhook import MOST_BYTES, Webhook
from shared.errors import Misconfigured, MissingCredentials


@dataclass
class Site:
    """The endpoint, whom it rang, and what it answers."""

    session: aiohttp.ClientSession
    url: str
    rung: list[str] = field(default_factory=list)

    async def deliver(self, body: bytes, *, secret: bytes = SECRET, delivery: str = "1", signature: str = "") -> int:
        signed = signature or f"sha256={hmac.new(secret, body, hashlib.sha256).hexdigest()}"
        headers = {"X-Hub-Signature-256": signed, "X-GitHub-Delivery": delivery}
        async with self.session.post(self.url, data=io.BytesIO(body), headers=headers) as answer:
            return answer.status


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    rung: list[str] = []

    def ring(name: str) -> bool:
        rung.append(name)
        return name == "ada/thing"

    async with Webhook(SECRET, ring, HandClock()).served("127.0.0.1", 0) as port, aiohttp.ClientSession() as session:
        yield Site(session, f"http://127.0.0.1:{port}/webhook", rung)


async def test_a_delivery_rings_once_however_often_it_comes(site: Site) -> None:
    assert [await site.deliver(PUSH, delivery=one) for one in ("1", "1", "2")] == [202, 200, 202]
    assert site.rung == ["ada/thing", "ada/thing"]


@pytest.mark.parametrize(
    "signature", ["", "sha256=", "sha1=0000", "sha256=" + "0" * 64, hmac.new(SECRET, PUSH, "sha1").hexdigest(), "é"]
)
async def test_what_the_secret_did_not_sign_means_nothing(site: Site, signature: str) -> None:
    assert await site.deliver(PUSH, signature=signature or "none") == 401
    assert await site.deliver(PUSH, secret=b"another") == 401
    assert await site.deliver(PUSH) == 202, "and its id was not used up by that"
    assert site.rung == ["ada/thing"]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"repository": 5}', b'{"repository": {"full_name": 5}}', b"[" * 100_000, b"\xff"]
)
async def test_a_payload_that_names_no_repository(site: Site, body: bytes) -> None:
    assert await site.deliver(body) == 200
    assert site.rung == []


async def test_of_another_repository_nobody_wants_to_know(site: Site) -> None:
    assert await site.deliver(PUSH.replace(b"ada/thing", b"eve/other")) == 200


async def test_too_much_is_not_read(site: Site) -> None:
    assert await site.deliver(b" " * (MOST_BYTES + 1)) == 413
    async with site.session.get(site.url) as answer:
        assert answer.status == 405
    assert site.rung == []


def test_a_secret_that_is_missing_or_short_is_refused() -> None:
    webhook = WebhookSettings(port=0)
    with pytest.raises(MissingCredentials, match="WORKFLOW_ENGINE_WEBHOOK_SECRET"):
        hook_secret(webhook, {})
    with pytest.raises(Misconfigured, match="has 5 bytes; at least 16"):
        hook_secret(webhook, {"WORKFLOW_ENGINE_WEBHOOK_SECRET": "short"})
