"""Construction of the messages for people beyond GitHub: the outbox of one process, a webhook, mail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import aiohttp

from config.credentials import webhook_secret
from config.engine import NotifySettings
from config.proxies import proxy_for
from config.settings import Settings
from shared.clock import Clock
from shared.escalation.channels import Mail, Webhook
from shared.escalation.delivery import Channel, Outbox


def outbox(settings: Settings, environment: Mapping[str, str], clock: Clock, hide: Callable[[str], str]) -> Outbox:
    """Return the outbox, kept in the state directory until it is delivered.

    Raises `Misconfigured` for a bad secret file.
    """
    return Outbox(settings.state_dir / "outbox", tuple(_channels(settings.notify, environment)), clock, hide)


def _channels(notify: NotifySettings, environment: Mapping[str, str]) -> Iterator[Channel]:
    if notify.webhook is not None:
        url = notify.webhook.get_secret_value()
        proxy = proxy_for(url, environment)
        yield Webhook(url, webhook_secret(notify), lambda: aiohttp.ClientSession(proxy=proxy))
    if notify.smtp is not None and notify.sender is not None:
        yield Mail(notify.smtp.get_secret_value(), notify.sender, notify.to)
