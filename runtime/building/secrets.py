"""Every secret of one process: where it is read, that it is remembered, and what all there is to hide."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from config.collector import collector_secrets
from config.credentials import app_key, credentials, hook_secret, signing_keys, webhook_secret
from config.settings import GitHubApp, LockSettings, Settings
from shared import llm
from shared.errors import Misconfigured, Unauthorized
from shared.workflow import Role

if TYPE_CHECKING:
    from runtime.building.process import Process

_FRAME = "-----"
"""Begins and ends the lines around a PEM file's content, which are no secret."""


@dataclass
class RememberedSecrets:
    """What was read from files that may be gone when it is wanted again."""

    secret: str = field(default="", repr=False)
    keys: tuple[bytes, ...] | None = field(default=None, repr=False)


def secret(process: Process) -> SecretStr:
    """What signs in, and no log may show: the role's token, or the App's key; raises `MissingCredentials`.

    Once it was read, a file that is gone or unusable leaves it as it was, until there is another configuration.
    """
    github, reviewer = process.settings.github, process.role is Role.REVIEWER
    try:
        if app_of(process) is not None:
            found = app_key(github, reviewer=reviewer)
        else:
            found = credentials(github, process.environment, reviewer=reviewer)
    except Unauthorized:
        if not process.remembered.secret:
            raise
        return SecretStr(process.remembered.secret)
    process.remembered.secret = found.get_secret_value()
    return found


def keys_of(process: Process) -> tuple[bytes, ...]:
    """The secrets that sign comments; as they were once they were read. Raises `Misconfigured`."""
    try:
        process.remembered.keys = signing_keys(process.settings.lock)
    except Misconfigured:
        if process.remembered.keys is None:
            raise
    return process.remembered.keys


def known_secrets(process: Process) -> list[str]:
    """Every secret value that the process is configured with; of a PEM file its lines, without the frame."""
    keys = [key.decode("ascii", "replace") for key in _readable_keys(process.settings.lock)]
    told = [
        secret(process).get_secret_value(),
        *keys,
        *llm.secrets(process.environment),
        *_database(process.settings),
        *_receivers(process.settings),
        *_hook(process),
        *collector_secrets(process.environment),
    ]
    return [line for value in told for line in value.split() if _FRAME not in line]


def _receivers(settings: Settings) -> Iterator[str]:
    """What a webhook's address and a mail server's password would let others do."""
    notify = settings.notify
    if notify.webhook is not None:
        yield notify.webhook.get_secret_value()
        with suppress(Misconfigured, Unauthorized):  # whoever signs with it refuses it
            yield webhook_secret(notify).decode()
    if notify.smtp is not None:
        yield from filter(None, [unquote(urlsplit(notify.smtp.get_secret_value()).password or "")])


def _hook(process: Process) -> Iterator[str]:
    """What signs GitHub's webhooks, where they are taken."""
    webhook = process.settings.webhook
    if webhook.port is not None:
        with suppress(Misconfigured, Unauthorized):  # whoever checks by it refuses it
            yield hook_secret(webhook, process.environment).decode()


def _database(settings: Settings) -> Iterator[str]:
    """The password of the database of events, as it is written in the URL and as it is meant."""
    url = settings.events.url
    password = urlsplit(url.get_secret_value()).password if url is not None else None
    if password:
        yield from {password, unquote(password)}


def _readable_keys(lock: LockSettings) -> Iterator[bytes]:
    """`init` signs in before there is a key, the doctor to tell of a bad one; whoever signs with it refuses it."""
    for file in lock.key_files:
        with suppress(Misconfigured):
            yield from signing_keys(lock.model_copy(update={"key_files": (file,)}))


def app_of(process: Process) -> GitHubApp | None:
    """The App that this role signs in as; None where it has a token."""
    github = process.settings.github
    if process.role is not Role.REVIEWER:
        return github.app
    return github.reviewer_app or (github.app if github.reviewer_token_file is None else None)
