"""Readers of tokens and signing keys, from the places that the configuration names; no other module opens the files."""

from __future__ import annotations

import os
import shlex
from codecs import BOM_UTF8
from collections.abc import Mapping
from pathlib import Path

import structlog
from pydantic import SecretStr

from config.engine import GitHubSettings, LockSettings, NotifySettings, WebhookSettings
from shared.errors import Misconfigured, MissingCredentials

log = structlog.get_logger()

MIN_KEY_BYTES = 32
"""A signing key shorter than its HMAC's output would be its weakest part."""

MIN_SECRET_BYTES = 16
"""Least bytes of a webhook's secret: a shorter one could be guessed by anybody who has seen one delivery."""

TOKEN_ORIGIN = "WORKFLOW_ENGINE_TOKEN_ORIGIN"
"""Beside a token that this process has put into its own copy of the environment: where that came from."""

OF_GH = "gh"

PASTED = "pasted"

_OTHERS = 0o077

_HANDED_OVER = 0o040
"""Permission bits that others may have on a file of root: systemd and Kubernetes let a process read it by its group."""


def credentials(github: GitHubSettings, environment: Mapping[str, str], *, reviewer: bool) -> SecretStr:
    """The token of one agent: from its file, else from the variable `github.token_env`.

    `reviewer` asks for the reviewer's own, which is the others' where no file is named. Raises
    `MissingCredentials` naming what to set; a file that is named but unusable is never passed over.
    """
    file, key = github.token_file, "github.token_file"
    if reviewer and github.reviewer_token_file is not None:
        file, key = github.reviewer_token_file, "github.reviewer_token_file"
    if file is not None:
        return _token(_private_text(file, key), f"{file} ({key})")
    text = environment.get(github.token_env, "")
    if not text.strip():
        raise MissingCredentials(
            f"There is no GitHub token: set the environment variable {github.token_env}, "
            f"name a file that holds the token in github.token_file, or log in with `gh auth login`."
        )
    return _token(text, f"the environment variable {github.token_env}")


def replacement(github: GitHubSettings, environment: Mapping[str, str], *, reviewer: bool, server: str) -> str:
    """Return the origin of `credentials`' token, and how to get another one from `server`: two sentences (pure)."""
    another = f"Make another one at {server}/settings/tokens"
    if reviewer and github.reviewer_token_file is not None:
        return f"It came from {github.reviewer_token_file} (github.reviewer_token_file). {another}, and write it there."
    if github.token_file is not None:
        return f"It came from {github.token_file} (github.token_file). {another}, and write it there."
    origin = environment.get(TOKEN_ORIGIN)
    if origin == OF_GH:
        return "It came from `gh auth token`. Log in again with `gh auth login`."
    if origin == PASTED:
        return f"It is the one that you pasted. {another}."
    return f"It came from the environment variable {github.token_env}. {another}, and set it there."


def app_key(github: GitHubSettings, *, reviewer: bool = False) -> SecretStr:
    """The private key (PEM) of the configured App; raises `MissingCredentials` when it cannot be used.

    `reviewer` asks for the reviewer's own App, which is the others' where none is named.
    """
    app, name = (github.reviewer_app, "github.reviewer_app") if reviewer and github.reviewer_app else (github.app, "")
    if app is None:
        raise MissingCredentials("No GitHub App is configured (github.app).")
    file, key = app.private_key_file, f"{name or 'github.app'}.private_key_file"
    text = _private_text(file, key)
    if "PRIVATE KEY-----" not in text:
        raise MissingCredentials(f"The file {file} ({key}) does not hold a private key in PEM format.")
    return SecretStr(text)


def signing_keys(lock: LockSettings) -> tuple[bytes, ...]:
    """The secrets of `lock.key_files` in their order; the first signs.

    White space around a textual key does not count, so that a copied file is the same key. Raises
    `Misconfigured`; a file that others may read is used, with a warning in the log.
    """
    return tuple(_signing_key(file) for file in lock.key_files)


def webhook_secret(notify: NotifySettings) -> bytes:
    """Return the secret that signs messages to `notify.webhook`, stripped of white space; raises `Misconfigured`."""
    file = notify.webhook_secret_file
    return b"" if file is None else _private_text(file, "notify.webhook_secret_file").strip().encode()


def hook_secret(webhook: WebhookSettings, environment: Mapping[str, str]) -> bytes:
    """Return the secret of GitHub's webhooks; raises `MissingCredentials`, or `Misconfigured` when it is short."""
    file = webhook.secret_file
    text = environment.get(webhook.secret_env, "") if file is None else _private_text(file, "webhook.secret_file")
    secret = text.strip().encode()
    if not secret:
        raise MissingCredentials(
            f"The webhook needs its secret: set the environment variable {webhook.secret_env}, or name a file that "
            f"holds it in webhook.secret_file."
        )
    if len(secret) < MIN_SECRET_BYTES:
        raise Misconfigured(f"The webhook's secret has {len(secret)} bytes; at least {MIN_SECRET_BYTES} are needed.")
    return secret


def _signing_key(file: Path) -> bytes:
    try:
        raw = file.read_bytes()
        exposed = open_to_others(file.stat(), os.geteuid())
    except OSError as error:
        raise Misconfigured(f"The key file {file} (lock.key_files) cannot be read: {error.strerror}.") from None
    if exposed:
        log.warning("key_file_open_to_others", file=str(file), next_step=f"chmod 600 {shlex.quote(str(file))}")
    key = raw.strip() if raw.isascii() else raw
    if len(key) < MIN_KEY_BYTES:
        raise Misconfigured(
            f"The key file {file} (lock.key_files) holds {len(key)} bytes; at least {MIN_KEY_BYTES} are needed."
        )
    return key


def _private_text(file: Path, key: str) -> str:
    try:
        status = file.stat()
        text = file.read_bytes().removeprefix(BOM_UTF8).decode("ascii")
    except OSError as error:
        raise MissingCredentials(f"The token file {file} ({key}) cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise MissingCredentials(f"The token file {file} ({key}) does not hold a token.") from None
    if open_to_others(status, os.geteuid()):
        mode = status.st_mode & 0o777
        step = f"run chmod 600 {shlex.quote(str(file))}."
        raise MissingCredentials(f"The token file {file} ({key}) can be read by others (mode {mode:04o}): {step}")
    return text


def open_to_others(status: os.stat_result, reader: int) -> bool:
    """Return whether accounts besides a file's owner and `reader` can read it.

    `reader` is a user id, to whom root may have given the file.
    """
    handed_over = status.st_uid == 0 != reader
    return bool(status.st_mode & (_OTHERS & ~_HANDED_OVER if handed_over else _OTHERS))


_NEVER_IN_A_TOKEN = frozenset(" \"'")


def _token(text: str, place: str) -> SecretStr:
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable() or _NEVER_IN_A_TOKEN & set(token):
        raise MissingCredentials(f"What is in {place} is not a token: write the token there, and nothing else.")
    return SecretStr(token)
