"""The ChatGPT login of Codex (`codex login`): the reading of its file, and its lease to one call at a time.

ChatGPT's refresh tokens can be used once: two copies in use at a time would renew the same one, and the
vendor then ends the login. So calls that use it go one after the other, on the whole machine, and a login that a call
renews is kept, however the call ends. https://developers.openai.com/codex/auth/ci-cd-auth
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import structlog

from shared.errors import Misconfigured
from shared.filesystem import directories
from shared.filesystem.file_lock import FileLock
from shared.llm.cli import directory
from shared.llm.endpoint import Endpoint
from shared.llm.port import Request

log = structlog.get_logger()

HOME = "CODEX_HOME"
"""The variable that names Codex's directory."""

NAME = "auth.json"
"""Name of the login file in CODEX_HOME."""

LARGEST = 2**20
"""Bytes of a login that are read; a real one has a few thousand."""

_BY_KEY = {"apikey": True, "chatgpt": False, "chatgptAuthTokens": False}
"""Value of `auth_mode` -> whether it means a key; Codex refuses a file with another value."""


@dataclass(frozen=True, slots=True)
class Login:
    """The content of a login file. If `by_key`, Codex signs in with `key`, otherwise with ChatGPT's tokens.

    A file may hold both: `codex login` leaves a key beside the tokens of some accounts.
    """

    by_key: bool = False
    key: str = field(default="", repr=False)
    access: str = field(default="", repr=False)
    renewal: str = field(default="", repr=False)
    account: str = ""
    renewed_at: datetime | None = None


def place(environment: Mapping[str, str]) -> Path:
    """Return the path of the Codex login of this account."""
    home = environment.get(HOME, "").strip()
    return (Path(home) if home else Path(environment.get("HOME", "").strip() or "/") / ".codex") / NAME


def hidden(file: Path) -> tuple[str, ...]:
    """Return the secrets of the login in `file`, which no log may show."""
    login = read(file) or Login()
    return tuple(filter(None, (login.key, login.access, login.renewal)))


def read(file: Path) -> Login | None:
    """Return the login in `file`; None without one, also while it is being written."""
    return parsed(content(file))


def content(file: Path, *, follow: bool = True) -> bytes:
    """Return the bytes of `file`, up to `LARGEST`; none if it cannot be read or is no regular file."""
    with suppress(OSError), directories.open_regular(Path(os.path.realpath(file)) if follow else file) as opened:
        return opened.read(LARGEST)
    return b""


def parsed(text: bytes) -> Login | None:
    """Parse the bytes of a login file; None if Codex would find no login."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
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
    """Save a login that the call has renewed, atomically; return whether there was one.

    A login of another account, or an older one than in `file`, is not saved: a person's own Codex may have renewed it.
    """
    fresh = content(home / NAME, follow=False)
    new, old = parsed(fresh), read(file)
    if new is None or old is None or new.renewal == old.renewal or new.by_key or old.by_key:
        return False
    newer = new.renewed_at is not None and (old.renewed_at is None or new.renewed_at > old.renewed_at)
    if new.account != old.account or not newer:
        log.warning("login_not_brought_back", reason="the login is another account's or was renewed elsewhere since")
        return False
    try:
        directories.replace_content(file, fresh)
    except OSError as error:
        log.error("login_not_brought_back", reason=error.strerror, sentence="Run `codex login` again.")
        return False
    log.info("login_renewed", backend="codex")
    return True


LOOK_SECONDS = 0.2
"""Seconds between two looks at whether the call has renewed its copy."""


class LoginLease:
    """Lends the login in `file` to one call at a time, by a lock beside it; satisfies `endpoint.Endpoints`."""

    def __init__(self, endpoint: Endpoint, file: Path) -> None:
        self._endpoint = endpoint
        self.file = file
        self._lock = FileLock(_beside(file, "lock"))

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Endpoint]:
        """Yield the login as it is once its turn has come; raise `Misconfigured` if it cannot be lent."""
        if refusal := unwritable(self.file):
            raise Misconfigured(refusal)
        async with self._turn(request):
            _recover_locked(self.file)
            login = read(self.file)
            if login is None or login.by_key:
                raise Misconfigured(f"The ChatGPT login in {self.file} is gone or cannot be read: run `codex login`.")
            async with self._keep_renewed():
                yield replace(self._endpoint, token=login.access)

    @asynccontextmanager
    async def _turn(self, request: Request) -> AsyncIterator[None]:
        """Wait for the lock, logging that once, and hold it inside the block."""
        told: list[str] = []

        def waits() -> None:
            if not told:
                told.append(request.item)
                log.info(
                    "login_waited_for",
                    backend="codex",
                    item=request.item,
                    call=request.call,
                    sentence="Another call uses the ChatGPT login; calls by it go one at a time.",
                )

        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(self._lock.held(waits))
            except OSError as error:
                raise Misconfigured(
                    f"The lock of the ChatGPT login, {_beside(self.file, 'lock')}, cannot be taken: {error.strerror}. "
                    f"Give it to this account, or remove it while no agent runs."
                ) from None
            yield

    @asynccontextmanager
    async def _keep_renewed(self) -> AsyncIterator[None]:
        """Inside the block, save a renewed login as soon as it appears: the daemon may be killed at any time."""
        failure: Exception | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(_watch_copy, self.file)
            try:
                yield
            except Exception as error:  # carried past the group, which would wrap it
                failure = error
            finally:
                group.cancel_scope.cancel()
                with suppress(OSError):
                    _beside(self.file, "lent").unlink(missing_ok=True)
        if failure is not None:
            raise failure


async def _watch_copy(file: Path) -> None:
    seen: tuple[int, int, int] | None = None
    while True:
        with anyio.move_on_after(LOOK_SECONDS):
            await anyio.sleep_forever()
        copy = lent(file)
        now = None if copy is None else _state(copy)
        if copy is not None and now is not None and now != seen:
            bring_back(copy.parent, file)
        seen = now


def _state(copy: Path) -> tuple[int, int, int] | None:
    """Return values that differ after the file was written again; None without a file."""
    with suppress(OSError):
        found = copy.lstat()
        return found.st_ino, found.st_size, found.st_mtime_ns
    return None


def unwritable(file: Path) -> str:
    """Return the reason why a login could not be renewed at its place; empty if it can."""
    place = file.resolve().parent
    if os.access(place, os.W_OK | os.X_OK):
        return ""
    return f"The ChatGPT login in {file} is renewed in use, and {place} is not writable for this account."


def lend(file: Path, home: Path) -> None:
    """Copy the login into a call's CODEX_HOME, readable by this account alone; raises `OSError`.

    Before that, the copy's path is recorded beside the login: the next user of the login looks there.
    """
    record = _beside(file, "lent")
    record.unlink(missing_ok=True)
    directories.write(record, os.fsencode(home.resolve() / NAME), durable=True)
    directories.write(home / NAME, file.read_bytes(), durable=True)


def lent(file: Path) -> Path | None:
    """Return the copy that a call has now, or that a killed daemon has left; None without one."""
    text = content(_beside(file, "lent"), follow=False)
    copy = Path(os.fsdecode(text))
    return copy if copy.is_absolute() and copy.name == NAME else None


def concealed(home: Path, file: Path) -> tuple[Path, ...]:
    """Return the files that no tool of a call with CODEX_HOME `home` may read, resolved: Codex cannot deny a link."""
    return (home / NAME).resolve(), file.resolve()


def recover(file: Path) -> None:
    """Save the login that a killed daemon's call had renewed; if the login is in use, its user has already done so."""
    if lent(file) is None:
        return
    try:
        with FileLock(_beside(file, "lock")).at_once() as free:
            if free:
                _recover_locked(file)
    except OSError as error:
        log.warning("login_not_brought_back", reason=error.strerror)


def _recover_locked(file: Path) -> None:
    """Like `recover`, but with the lock held. Does nothing while the call that got the login last is still running."""
    copy = lent(file)
    if copy is None or directory.lives(copy.parents[2]):
        return
    bring_back(copy.parent, file)
    with suppress(OSError):  # lending it says so
        _beside(file, "lent").unlink(missing_ok=True)


def _beside(file: Path, what: str) -> Path:
    """Return the path of the `lock` of a login, or of the record of where it is `lent`."""
    real = file.resolve()
    return real.with_name(f".{real.name}.engine-{what}")
