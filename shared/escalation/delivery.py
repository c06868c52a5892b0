"""Messages to people outside GitHub, by a webhook or by mail: one per item, epoch and kind, kept until delivered.

Delivery is at least once: receivers tell repetitions by the message's id. Nothing here ever blocks or fails an item.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from email.message import EmailMessage
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol
from urllib.parse import unquote, urlsplit

import anyio
import structlog
from anyio import to_thread

from shared.clock import Clock
from shared.text import one_line

if TYPE_CHECKING:
    import aiohttp

log = structlog.get_logger()

TRIES = 3
"""Attempts to send a message to one channel before it is left for later."""

TRY_SECONDS = 10.0
"""Timeout of one attempt, in seconds."""

PAUSE_SECONDS = (1.0, 5.0)
"""Seconds between the attempts."""

AGAIN_SECONDS = 300.0
"""Seconds until undelivered messages are sent again; a restart does so at once."""

KEPT_SECONDS = 30 * 86400.0
"""Seconds for which a delivered message is remembered."""

SIGNATURE, DELIVERY = "X-Workflow-Engine-Signature-256", "X-Workflow-Engine-Delivery"
"""Headers: `sha256=` and the HMAC-SHA256 of the body's bytes by the shared secret, in hex; and the message's id."""


@dataclass(frozen=True, slots=True)
class Escalation:
    """The reason why a person is wanted; `epoch` tells one occasion from the next.

    `kind` is `failed`, `approval`, `overdue` or `unpriced`; the last concerns no item, and its `number` is 0.
    """

    repository: str
    number: int
    epoch: str
    kind: str
    sentence: str
    url: str
    stage: str = ""
    category: str = ""
    commands: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Id of the occasion; equal on every machine and after every restart."""
        named = f"{self.repository.casefold()}\n{self.number}\n{self.epoch}\n{self.kind}"
        return hashlib.sha256(named.encode()).hexdigest()[:32]


class Channel(Protocol):
    """One receiver of messages."""

    @property
    def name(self) -> str:
        """The channel's name in the configuration."""
        ...

    async def send(self, message: Mapping[str, Any]) -> None:
        """Deliver one message; raise any exception if that fails."""
        ...


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


class Outbox:
    """Undelivered messages, one file each; several agents of one machine may share the directory."""

    def __init__(self, directory: Path, channels: Sequence[Channel], clock: Clock, hide: Callable[[str], str]) -> None:
        """`hide` replaces every secret in a text."""
        self._directory = directory
        self._channels = {channel.name: channel for channel in channels}
        self._clock = clock
        self._hide = hide
        self._news = anyio.Event()

    def put(self, escalation: Escalation) -> None:
        """Keep a message for delivery, unless it was kept or delivered before. Never raises."""
        if not self._channels:
            return
        try:
            self._keep(escalation)
        except OSError as error:
            log.error("escalation_not_kept", outcome="failed", error=str(error), sentence=escalation.sentence)
        self._news.set()

    def _keep(self, escalation: Escalation) -> None:
        place = self._directory / f"{escalation.id}.json"
        if place.exists() or place.with_suffix(".sent").exists():
            return
        message = {"id": escalation.id, **asdict(escalation)}
        message |= {name: self._hide(text) for name, text in message.items() if isinstance(text, str)}
        _write(place, {"message": message, "left": sorted(self._channels)})

    async def run(self) -> None:
        """Deliver the messages that are there, then new ones, until cancelled."""
        while True:
            self._news = anyio.Event()
            left = await self.deliver()
            with anyio.move_on_after(AGAIN_SECONDS if left else None):
                await self._news.wait()

    async def deliver(self) -> int:
        """Send the kept messages; return the number left undelivered."""
        with suppress(OSError):
            await to_thread.run_sync(_forget_old, self._directory, self._clock.now() - KEPT_SECONDS)
        left = 0
        for place in sorted(self._directory.glob("*.json")) if self._channels else ():
            left += not await self._deliver(place)
        return left

    async def _deliver(self, place: Path) -> bool:
        try:
            kept = _read(place)
            wanted = [name for name in kept["left"] if name in self._channels]
            left = [name for name in wanted if not await self._try_to_send(self._channels[name], kept["message"])]
            if left:
                _write(place, {**kept, "left": left})
            else:
                _mark_delivered(place)
        except FileNotFoundError:
            return True  # another agent of this machine has delivered it
        except (OSError, ValueError, KeyError) as error:
            log.error("escalation_not_read", outcome="failed", file=str(place), error=str(error))
            return False
        return not left

    async def _try_to_send(self, channel: Channel, message: Mapping[str, Any]) -> bool:
        reason = ""
        for number in range(TRIES):
            if number:
                await self._clock.sleep(PAUSE_SECONDS[number - 1])
            try:
                with anyio.fail_after(TRY_SECONDS):
                    await channel.send(message)
            except Exception as error:  # whatever a mail server or a receiver does, no item suffers from it
                reason = self._hide(f"{type(error).__name__}: {error}")
                log.warning("escalation_not_sent", outcome="retrying", channel=channel.name, error=reason)
                continue
            log.info("escalation_sent", outcome="completed", channel=channel.name, id=message.get("id"))
            return True
        log.error("escalation_left", outcome="failed", channel=channel.name, id=message.get("id"), error=reason)
        return False


def _write(place: Path, content: Mapping[str, Any]) -> None:
    """Write a file atomically, readable by us alone."""
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    fresh.touch(mode=0o600)
    fresh.write_text(json.dumps(content), encoding="utf-8")
    fresh.replace(place)


def _read(place: Path) -> Mapping[str, Any]:
    content: Mapping[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    return content


def _mark_delivered(place: Path) -> None:
    place.rename(place.with_suffix(".sent"))


def _forget_old(directory: Path, before: float) -> None:
    for place in directory.glob("*.sent"):
        if place.stat().st_mtime < before:
            place.unlink(missing_ok=True)
