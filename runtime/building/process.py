"""One agent process, whatever the number of its repositories: its settings, secrets and telemetry."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import unquote, urlsplit

import aiohttp
import anyio
from pydantic import SecretStr

from config.collector import collector_secrets
from config.credentials import app_key, credentials, hook_secret, signing_keys, webhook_secret
from config.engine import GitHubApp, LockSettings, NotifySettings
from config.proxies import proxy_for
from config.settings import Settings
from config.state import AgentIdentity
from runtime.building.connections import Connections
from runtime.building.telemetry import EventLogs, ProcessTelemetry, traced, trail_of
from shared import llm
from shared.clock import Clock
from shared.errors import Misconfigured, Unauthorized
from shared.escalation.delivery import Channel, Mail, Outbox, Webhook
from shared.llm.circuit_breaker import Breaker
from shared.llm.endpoint import Endpoints
from shared.outgoing.outbound_filter import Outgoing
from shared.scheduling.account_work import AccountWork
from shared.telemetry.events import EventLog
from shared.workflow import Role


@dataclass(frozen=True)
class Process:
    """The common parts of one agent process, whatever the number of its repositories."""

    settings: Settings
    role: Role
    clock: Clock
    agent: AgentIdentity
    environment: Mapping[str, str] = field(repr=False)
    roles: frozenset[str] = frozenset()
    """The roles that it is restricted to; empty means all."""
    choices: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    """Repository -> item -> the backend that a person has chosen for it."""
    watcher: EventLog | None = None
    """The reader of events as they come; None: nobody."""
    connections: Connections = field(default_factory=Connections)
    """The connections to GitHub, which agents that run in one process share."""

    @cached_property
    def secrets(self) -> ProcessSecrets:
        """Every secret that it is configured with."""
        return ProcessSecrets(self.settings, self.role, self.environment)

    @cached_property
    def outgoing(self) -> Outgoing:
        """The gate for all text that leaves, with every secret that this process is configured with."""
        return Outgoing(self.secrets.known(), self.settings.notify.mention)

    @cached_property
    def outbox(self) -> Outbox:
        """The outbox of messages to people beyond GitHub, which are kept until they are delivered.

        Raises `Misconfigured` for a bad secret file.
        """
        channels = tuple(_channels(self.settings.notify, self.environment))
        return Outbox(self.settings.state_dir / "outbox", channels, self.clock, self.outgoing.hide)

    @cached_property
    def telemetry(self) -> ProcessTelemetry:
        """The telemetry of this process: events, figures, signs of life."""
        traces = traced(self.settings, self.environment, self.agent.id, self._hide)
        trails = EventLogs(trail_of(self.settings), traces, self.watcher)
        return ProcessTelemetry(trails, self.agent.id, self.role, self.clock, self._hide)

    @cached_property
    def paid_runs(self) -> anyio.CapacityLimiter:
        """Limit of runs of coding backends: as many at once as items may be worked on."""
        return anyio.CapacityLimiter(self.settings.max_concurrent)

    @cached_property
    def breakers(self) -> dict[str, Breaker]:
        """The breaker of each backend: its failures in a row, over all repositories."""
        return {}

    @cached_property
    def _work(self) -> dict[int, AccountWork]:
        return {}

    @cached_property
    def endpoints(self) -> dict[str, Endpoints]:
        """Backend -> where its runs send their requests, as far as that was built."""
        return {}

    def work_of(self, account: int) -> AccountWork:
        """Return the work of an account, by its id, in all repositories of the process."""
        return self._work.setdefault(account, AccountWork(self.clock.boot))

    def _hide(self, text: str) -> str:
        """Take secrets out of a text; they are read for the first one."""
        return self.outgoing.hide(text)


def _channels(notify: NotifySettings, environment: Mapping[str, str]) -> Iterator[Channel]:
    if notify.webhook is not None:
        url = notify.webhook.get_secret_value()
        proxy = proxy_for(url, environment)
        yield Webhook(url, webhook_secret(notify), lambda: aiohttp.ClientSession(proxy=proxy))
    if notify.smtp is not None and notify.sender is not None:
        yield Mail(notify.smtp.get_secret_value(), notify.sender, notify.to)


_FRAME = "-----"
"""Begins and ends the lines around a PEM file's content, which are no secret."""


class ProcessSecrets:
    """The secrets of one process; what was once read from a file stays known when that is gone or unusable."""

    def __init__(self, settings: Settings, role: Role, environment: Mapping[str, str]) -> None:
        self._settings, self._role, self._environment = settings, role, environment
        self._token = ""
        self._keys: tuple[bytes, ...] | None = None

    @property
    def app(self) -> GitHubApp | None:
        """The App that this role signs in as; None where it has a token."""
        github = self._settings.github
        if self._role is not Role.REVIEWER:
            return github.app
        return github.reviewer_app or (github.app if github.reviewer_token_file is None else None)

    def token(self) -> SecretStr:
        """Return what signs in, and no log may show: the role's token or the App's key. Raises `MissingCredentials`."""
        github, reviewer = self._settings.github, self._role is Role.REVIEWER
        try:
            if self.app is not None:
                found = app_key(github, reviewer=reviewer)
            else:
                found = credentials(github, self._environment, reviewer=reviewer)
        except Unauthorized:
            if not self._token:
                raise
            return SecretStr(self._token)
        self._token = found.get_secret_value()
        return found

    def signing(self) -> tuple[bytes, ...]:
        """Return the secrets that sign comments. Raises `Misconfigured`."""
        try:
            self._keys = signing_keys(self._settings.lock)
        except Misconfigured:
            if self._keys is None:
                raise
        return self._keys

    def known(self) -> list[str]:
        """Return every secret value that the process is configured with; of a PEM file its lines, without the frame."""
        keys = [key.decode("ascii", "replace") for key in _readable_keys(self._settings.lock)]
        told = [
            self.token().get_secret_value(),
            *keys,
            *llm.secrets(self._environment),
            *_database_passwords(self._settings),
            *_receiver_secrets(self._settings),
            *_hook_secret(self._settings, self._environment),
            *collector_secrets(self._environment),
        ]
        return [line for value in told for line in value.splitlines() if _FRAME not in line]


def _receiver_secrets(settings: Settings) -> Iterator[str]:
    """Yield the secrets of receivers: a webhook's address and secret, a mail server's password."""
    notify = settings.notify
    if notify.webhook is not None:
        yield from _secret_parts(notify.webhook.get_secret_value())
        with suppress(Misconfigured, Unauthorized):  # whoever signs with it refuses it
            yield webhook_secret(notify).decode()
    if notify.smtp is not None:
        yield from _password_spellings(notify.smtp.get_secret_value())


_RANDOM = re.compile(r"(?=[^0-9]*[0-9]).{12,}|.{20,}")
"""A part of an address that nobody would use as a name."""


def _secret_parts(url: str) -> Iterator[str]:
    """Yield what is secret of a receiver's address; its server and the usual words of its path are in other texts too.

    If no part looks random the whole path is the secret.
    """
    parts = urlsplit(url)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    found = [part for part in re.split(r"[/?&=]", path) if _RANDOM.fullmatch(part)]
    yield from _password_spellings(url)
    yield from found or ([path] if path.strip("/") else [])


def _hook_secret(settings: Settings, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the secret that signs GitHub's webhooks, if they are taken."""
    webhook = settings.webhook
    if webhook.port is not None:
        with suppress(Misconfigured, Unauthorized):  # whoever checks by it refuses it
            yield hook_secret(webhook, environment).decode()


def _database_passwords(settings: Settings) -> Iterator[str]:
    """Yield the password of the database of events."""
    if settings.events.url is not None:
        yield from _password_spellings(settings.events.url.get_secret_value())


_WORD = re.compile(r"[A-Za-z]{1,11}")
"""A password that is one word, as in examples: to take it out of every text would hide nothing and shred the text."""


def _password_spellings(url: str) -> set[str]:
    """Return the password of a URL, as it is written there and as it is meant; nothing if it is one plain word."""
    password = urlsplit(url).password or ""
    return {one for one in (password, unquote(password)) if one and not _WORD.fullmatch(one)}


def _readable_keys(lock: LockSettings) -> Iterator[bytes]:
    """Yield the signing keys that can be read; whoever signs with an unreadable one refuses it.

    `init` signs in before there is a key, the doctor to report a bad one.
    """
    for file in lock.key_files:
        with suppress(Misconfigured):
            yield from signing_keys(lock.model_copy(update={"key_files": (file,)}))
