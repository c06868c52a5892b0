"""A ChatGPT login of Codex (`codex login`): its file, lent to one call at a time, and brought back when it was renewed.

ChatGPT's refresh tokens can be used once: two copies in use at a time would renew the same one, and the
vendor then ends the login. So calls that use it go one after the other, on the whole machine.
https://developers.openai.com/codex/auth/ci-cd-auth
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import structlog

from shared.errors import Misconfigured
from shared.git.fetch_lock import FetchLock
from shared.llm.endpoint import Endpoint
from shared.llm.port import Request

log = structlog.get_logger()

NAME = "auth.json"
"""What Codex calls the file, in its CODEX_HOME."""

LARGEST = 2**20
"""Bytes; a login has a few thousand."""


@dataclass(frozen=True, slots=True)
class Login:
    """What one file says. `key` is set where somebody logged in with an API key, the tokens where with ChatGPT."""

    key: str = field(default="", repr=False)
    access: str = field(default="", repr=False)
    renewal: str = field(default="", repr=False)
    account: str = ""
    renewed_at: str = ""


def read(file: Path) -> Login | None:
    """The login in `file`; None without one, also when it is just being written."""
    with suppress(OSError, ValueError, RecursionError), file.open("rb") as opened:
        return _login(json.loads(opened.read(LARGEST)))
    return None


def _login(found: object) -> Login | None:
    if not isinstance(found, dict):
        return None
    tokens = found.get("tokens")
    tokens = tokens if isinstance(tokens, dict) else {}
    login = Login(
        key=_text(found, "OPENAI_API_KEY"),
        access=_text(tokens, "access_token"),
        renewal=_text(tokens, "refresh_token"),
        account=_text(tokens, "account_id"),
        renewed_at=_text(found, "last_refresh"),
    )
    return login if login.key or (login.access and login.renewal) else None


def _text(part: Mapping[str, Any], name: str) -> str:
    value = part.get(name)
    return value.strip() if isinstance(value, str) else ""


class Lent:
    """Lends the login in `file` to one call at a time, by a lock beside it; satisfies `endpoint.Endpoints`."""

    def __init__(self, endpoint: Endpoint, file: Path) -> None:
        self._endpoint = endpoint
        self._file = file
        self._lock = FetchLock(file.with_name(f".{file.name}.engine-lock"))

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Endpoint]:
        """The login as it is when its turn has come; raises `Misconfigured` when it cannot be lent."""
        if refusal := unwritable(self._file):
            raise Misconfigured(refusal)
        async with self._lock.held():
            login = read(self._file)
            if login is None:
                raise Misconfigured(f"The ChatGPT login in {self._file} is gone or cannot be read: run `codex login`.")
            yield replace(self._endpoint, token=login.access)


def unwritable(file: Path) -> str:
    """Why a login could not be renewed where it lies; empty when it can."""
    place = file.resolve().parent
    if os.access(place, os.W_OK | os.X_OK):
        return ""
    return f"The ChatGPT login in {file} is renewed in use, and {place} is not writable for this account."


def lend(file: Path, home: Path) -> None:
    """Copy the login into a call's CODEX_HOME, readable by this account alone."""
    _written(home / NAME, file.read_bytes())


def bring_back(home: Path, file: Path) -> bool:
    """Put a login that the call has renewed back, whole or not at all; whether there was one.

    Not one of another account, nor an older one than lies there: a person's own Codex may have renewed it.
    """
    new, old = read(home / NAME), read(file)
    if new is None or old is None or new.renewal == old.renewal:
        return False
    if new.account != old.account or new.renewed_at <= old.renewed_at:
        log.warning("login_not_brought_back", reason="the login is another account's or was renewed elsewhere since")
        return False
    real = file.resolve()
    fresh = real.with_name(f".{real.name}.{secrets.token_hex(6)}")
    try:
        _written(fresh, (home / NAME).read_bytes())
        fresh.replace(real)
    except OSError as error:
        log.error("login_not_brought_back", reason=error.strerror, sentence="Run `codex login` again.")
        return False
    finally:
        fresh.unlink(missing_ok=True)
    log.info("login_renewed", backend="codex")
    return True


def recover(calls: Path, file: Path) -> None:
    """Bring back what the calls of a killed daemon had renewed, before their directories are swept."""
    for copy in sorted(calls.glob(f"call-*/home/.codex/{NAME}")):
        bring_back(copy.parent, file)


def _written(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
