"""Channels for escalations: a webhook with a signed body, and mail."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote, urlsplit

from shared.text import one_line

if TYPE_CHECKING:
    import aiohttp

SIGNATURE, DELIVERY = "X-Workflow-Engine-Signature-256", "X-Workflow-Engine-Delivery"
"""Headers: `sha256=` and the HMAC-SHA256 of the body's bytes by the shared secret, in hex; and the message's id."""


class NotTaken(Exception):
    """The receiver answered with something else than 2xx."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """Channel that POSTs each message as JSON."""

    name: ClassVar[str] = "webhook"
    """The channel's name in the configuration."""
    url: str = field(repr=False)
    secret: bytes = field(repr=False)
    session: Callable[[], aiohttp.ClientSession]

    async def send(self, message: Mapping[str, Any]) -> None:
        """Try once to deliver; no redirection is followed, because the body is for this receiver alone."""
        body = json.dumps(message, sort_keys=True).encode()
        headers = {
            "Content-Type": "application/json",
            SIGNATURE: f"sha256={hmac.digest(self.secret, body, 'sha256').hex()}",
            DELIVERY: str(message["id"]),
        }
        async with (
            self.session() as session,
            session.post(self.url, data=body, headers=headers, allow_redirects=False) as answer,
        ):
            if not 200 <= answer.status < 300:
                raise NotTaken(f"the receiver answered {answer.status}")


@dataclass(frozen=True, slots=True)
class Mail:
    """Channel that mails each message as short plain text; `url`: `smtp://user:password@host:587` or `smtps://host`."""

    name: ClassVar[str] = "smtp"
    """The channel's name in the configuration."""
    url: str = field(repr=False)
    sender: str
    to: Sequence[str]

    async def send(self, message: Mapping[str, Any]) -> None:
        """Try once to deliver; STARTTLS is used where the server offers it."""
        import aiosmtplib

        parts = urlsplit(self.url)
        await aiosmtplib.send(
            written(message, self.sender, self.to),
            hostname=parts.hostname or "localhost",
            port=parts.port,
            username=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password) if parts.password else None,
            use_tls=parts.scheme == "smtps",
            timeout=10,
        )


def written(message: Mapping[str, Any], sender: str, to: Sequence[str]) -> EmailMessage:
    """Return the mail; its Message-ID is derived from the message's id, so that repetitions are recognised."""
    mail = EmailMessage()
    item = f"{message['repository']}#{message['number']}" if message["number"] else message["repository"]
    mail["From"], mail["To"] = sender, ", ".join(to)
    mail["Subject"] = one_line(f"[{item}] {message['kind']}: {message['sentence']}", 150)
    mail["Message-ID"] = f"<{message['id']}@workflow-engine.invalid>"
    commands = ", ".join(str(one) for one in message.get("commands", ()))
    lines = [str(message["sentence"]), "", str(message["url"])]
    if commands:
        lines += ["", f"Commands that fit, as a comment there: {commands}"]
    mail.set_content("\n".join(lines))
    return mail
