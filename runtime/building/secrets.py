"""The secrets of one process: where each is read, that it is remembered, and the list of all that is to be hidden."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from config.collector import collector_secrets
from config.credentials import app_key, credentials, hook_secret, signing_keys, webhook_secret
from config.engine import GitHubApp, LockSettings
from config.settings import Settings
from shared import llm
from shared.errors import Misconfigured, Unauthorized
from shared.workflow import Role

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
        return [line for value in told for line in value.split() if _FRAME not in line]


def _receiver_secrets(settings: Settings) -> Iterator[str]:
    """Yield the secrets of receivers: a webhook's address and secret, a mail server's password."""
    notify = settings.notify
    if notify.webhook is not None:
        yield notify.webhook.get_secret_value()
        with suppress(Misconfigured, Unauthorized):  # whoever signs with it refuses it
            yield webhook_secret(notify).decode()
    if notify.smtp is not None:
        yield from filter(None, [unquote(urlsplit(notify.smtp.get_secret_value()).password or "")])


def _hook_secret(settings: Settings, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the secret that signs GitHub's webhooks, if they are taken."""
    webhook = settings.webhook
    if webhook.port is not None:
        with suppress(Misconfigured, Unauthorized):  # whoever checks by it refuses it
            yield hook_secret(webhook, environment).decode()


def _database_passwords(settings: Settings) -> Iterator[str]:
    """Yield the password of the database of events, as it is written in the URL and as it is meant."""
    url = settings.events.url
    password = urlsplit(url.get_secret_value()).password if url is not None else None
    if password:
        yield from {password, unquote(password)}


def _readable_keys(lock: LockSettings) -> Iterator[bytes]:
    """Yield the signing keys that can be read; whoever signs with an unreadable one refuses it.

    `init` signs in before there is a key, the doctor to report a bad one.
    """
    for file in lock.key_files:
        with suppress(Misconfigured):
            yield from signing_keys(lock.model_copy(update={"key_files": (file,)}))
