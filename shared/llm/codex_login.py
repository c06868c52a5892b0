"""A ChatGPT login of Codex (`codex login`) as a file: what it says, and when a renewed copy takes its place."""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import structlog

log = structlog.get_logger()

NAME = "auth.json"
"""What Codex calls the file, in its CODEX_HOME."""

LARGEST = 2**20
"""Bytes; a login has a few thousand."""

_BY_KEY = {"apikey": True, "chatgpt": False, "chatgptAuthTokens": False}
"""What `auth_mode` says; Codex refuses a file with another word."""


@dataclass(frozen=True, slots=True)
class Login:
    """What one file says. `by_key`: Codex would sign in with `key`, and otherwise with ChatGPT's tokens.

    A file may hold both: `codex login` leaves a key beside the tokens of some accounts.
    """

    by_key: bool = False
    key: str = field(default="", repr=False)
    access: str = field(default="", repr=False)
    renewal: str = field(default="", repr=False)
    account: str = ""
    renewed_at: datetime | None = None


def read(file: Path) -> Login | None:
    """The login in `file`; None without one, also when it is just being written."""
    return parsed(content(file))


def content(file: Path, *, follow: bool = True) -> bytes:
    """The bytes of `file`, but for what no login would have; none when it cannot be read or is no regular file."""
    with suppress(OSError):
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW))
        with os.fdopen(descriptor, "rb") as opened:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return opened.read(LARGEST)
    return b""


def parsed(text: bytes) -> Login | None:
    """The login that the bytes of a file say; None where Codex would find none."""
    with suppress(ValueError, RecursionError):
        return _login(json.loads(text))
    return None


def _login(found: object) -> Login | None:
    if not isinstance(found, dict):
        return None
    tokens = found.get("tokens")
    tokens = tokens if isinstance(tokens, dict) else {}
    key, mode = _text(found, "OPENAI_API_KEY"), found.get("auth_mode")
    if mode is not None and (not isinstance(mode, str) or mode not in _BY_KEY):
        return None
    login = Login(
        by_key=bool(key) if mode is None else _BY_KEY[mode],
        key=key,
        access=_text(tokens, "access_token"),
        renewal=_text(tokens, "refresh_token"),
        account=_text(tokens, "account_id"),
        renewed_at=_moment(_text(found, "last_refresh")),
    )
    usable = login.key if login.by_key else login.access and login.renewal
    return login if usable else None


def _text(part: Mapping[str, Any], name: str) -> str:
    value = part.get(name)
    return value.strip() if isinstance(value, str) else ""


def _moment(text: str) -> datetime | None:
    with suppress(ValueError):
        found = datetime.fromisoformat(text)
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    return None


def bring_back(home: Path, file: Path) -> bool:
    """Put a login that the call has renewed back, whole or not at all; whether there was one.

    Not one of another account, nor an older one than lies there: a person's own Codex may have renewed it.
    """
    fresh = content(home / NAME, follow=False)
    new, old = parsed(fresh), read(file)
    if new is None or old is None or new.renewal == old.renewal or new.by_key or old.by_key:
        return False
    if new.account != old.account or not _newer(new, old):
        log.warning("login_not_brought_back", reason="the login is another account's or was renewed elsewhere since")
        return False
    try:
        _replaced(file.resolve(), fresh)
    except OSError as error:
        log.error("login_not_brought_back", reason=error.strerror, sentence="Run `codex login` again.")
        return False
    log.info("login_renewed", backend="codex")
    return True


def _newer(new: Login, old: Login) -> bool:
    return new.renewed_at is not None and (old.renewed_at is None or new.renewed_at > old.renewed_at)


def _replaced(real: Path, fresh: bytes) -> None:
    """Other bytes in place of a file, of the same owner and mode."""
    before = real.stat()
    beside = real.with_name(f".{real.name}.{secrets.token_hex(6)}")
    try:
        written(beside, fresh)
        mode = stat.S_IMODE(before.st_mode)
        try:
            os.chown(beside, before.st_uid, before.st_gid)
        except PermissionError:  # another account's: better ours alone than a login that has ended
            mode &= 0o700
        beside.chmod(mode)
        beside.replace(real)
    finally:
        beside.unlink(missing_ok=True)


def written(path: Path, text: bytes) -> None:
    """A new file, readable by this account alone, whole on the disk; raises `OSError`."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
