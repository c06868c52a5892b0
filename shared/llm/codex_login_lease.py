"""Lends the ChatGPT login of Codex to one call at a time, and keeps what the call renews, however it ends.

ChatGPT's refresh tokens can be used once: two copies in use at a time would renew the same one, and the
vendor then ends the login. So calls that use it go one after the other, on the whole machine.
https://developers.openai.com/codex/auth/ci-cd-auth
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import anyio
import structlog

from shared.errors import Misconfigured
from shared.file_lock import FetchLock
from shared.llm.cli import directory
from shared.llm.codex_login import NAME, bring_back, content, read, written
from shared.llm.endpoint import Endpoint, Fixed
from shared.llm.port import Request

log = structlog.get_logger()

LOOK_SECONDS = 0.2
"""Between two looks at whether the call has renewed its copy."""


class LoginLease(Fixed):
    """Lends the login in `file` to one call at a time, by a lock beside it; satisfies `endpoint.Endpoints`."""

    def __init__(self, endpoint: Endpoint, file: Path) -> None:
        super().__init__(endpoint)
        self.file = file
        self._lock = FetchLock(_lock(file))

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Endpoint]:
        """The login as it is when its turn has come; raises `Misconfigured` when it cannot be lent."""
        if refusal := unwritable(self.file):
            raise Misconfigured(refusal)
        async with self._turn(request):
            _recovered(self.file)
            login = read(self.file)
            if login is None or login.by_key:
                raise Misconfigured(f"The ChatGPT login in {self.file} is gone or cannot be read: run `codex login`.")
            async with self._kept(), super().open(request):
                yield replace(self._endpoint, token=login.access)

    @asynccontextmanager
    async def _turn(self, request: Request) -> AsyncIterator[None]:
        """Wait for the lock, which is said once, and hold it."""
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
                    f"The lock of the ChatGPT login, {_lock(self.file)}, cannot be taken: {error.strerror}. "
                    f"Give it to this account, or remove it while no agent runs."
                ) from None
            yield

    @asynccontextmanager
    async def _kept(self) -> AsyncIterator[None]:
        """Inside the block, put a renewed login back as soon as it is there: the daemon may be killed at any time."""
        failure: Exception | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(_watched, self.file)
            try:
                yield
            except Exception as error:  # carried past the group, which would wrap it
                failure = error
            finally:
                group.cancel_scope.cancel()
                with suppress(OSError):
                    _record(self.file).unlink(missing_ok=True)
        if failure is not None:
            raise failure


async def _watched(file: Path) -> None:
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
    """What differs when it was written anew."""
    with suppress(OSError):
        found = copy.lstat()
        return found.st_ino, found.st_size, found.st_mtime_ns
    return None


def unwritable(file: Path) -> str:
    """Why a login could not be renewed where it lies; empty when it can."""
    place = file.resolve().parent
    if os.access(place, os.W_OK | os.X_OK):
        return ""
    return f"The ChatGPT login in {file} is renewed in use, and {place} is not writable for this account."


def lend(file: Path, home: Path) -> None:
    """Copy the login into a call's CODEX_HOME, readable by this account alone; raises `OSError`.

    First it is written down beside the login where the copy is: whoever has the login next looks there.
    """
    record = _record(file)
    record.unlink(missing_ok=True)
    written(record, os.fsencode(home.resolve() / NAME))
    written(home / NAME, file.read_bytes())


def lent(file: Path) -> Path | None:
    """The copy that a call has now, or that a killed daemon has left; None without one."""
    text = content(_record(file), follow=False)
    copy = Path(os.fsdecode(text))
    return copy if copy.is_absolute() and copy.name == NAME else None


def concealed(home: Path, file: Path) -> tuple[Path, ...]:
    """The files that no tool of a call with its CODEX_HOME in `home` may read: Codex cannot deny a link."""
    return (home / NAME).resolve(), file.resolve()


def recover(file: Path) -> None:
    """Bring back what the call of a killed daemon had renewed; while the login is in use, its next user has done so."""
    if lent(file) is None:
        return
    try:
        with FetchLock(_lock(file)).at_once() as free:
            if free:
                _recovered(file)
    except OSError as error:
        log.warning("login_not_brought_back", reason=error.strerror)


def _recovered(file: Path) -> None:
    """The same, by the holder of the lock: it has not ended the call that was lent the login last."""
    copy = lent(file)
    if copy is None or directory.lives(copy.parents[2]):
        return
    bring_back(copy.parent, file)
    with suppress(OSError):  # lending it says so
        _record(file).unlink(missing_ok=True)


def _lock(file: Path) -> Path:
    real = file.resolve()
    return real.with_name(f".{real.name}.engine-lock")


def _record(file: Path) -> Path:
    real = file.resolve()
    return real.with_name(f".{real.name}.engine-lent")
