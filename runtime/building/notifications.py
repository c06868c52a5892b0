"""Where the messages for people beyond GitHub are built: the outbox of one process, a webhook, mail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import aiohttp

from config.credentials import webhook_secret
from config.proxies import proxy_for
from shared.escalation.channels import Mail, Webhook
from shared.escalation.delivery import Channel, Outbox

if TYPE_CHECKING:
    from runtime.building.process import Process


def outbox(process: Process) -> Outbox:
    """What is kept in the state directory until it is delivered; raises `Misconfigured` for a bad secret file."""
    place = process.settings.state_dir / "outbox"
    return Outbox(place, tuple(_channels(process)), process.clock, process.outgoing.hide)


def _channels(process: Process) -> Iterator[Channel]:
    notify = process.settings.notify
    if notify.webhook is not None:
        url = notify.webhook.get_secret_value()
        proxy = proxy_for(url, process.environment)
        yield Webhook(url, webhook_secret(notify), lambda: aiohttp.ClientSession(proxy=proxy))
    if notify.smtp is not None and notify.sender is not None:
        yield Mail(notify.smtp.get_secret_value(), notify.sender, notify.to)
