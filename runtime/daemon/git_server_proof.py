"""The proof that the git server keeps what the lock relies on, made before an agent starts and valid for a day."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import anyio
import anyio.to_thread
import structlog

from config.state import VERSION
from runtime.building.assembly import RepositoryAdapters
from shared.filesystem.file_lock import FileLock
from shared.git.probe import try_repository, try_server
from shared.lock.write_permit import OperatorPermit

log = structlog.get_logger()

TRUSTED_SECONDS = 24 * 3600.0
"""Seconds for which a proof counts: a server's software changes rarely, and agents start often."""

ORDER = OperatorPermit("prove the git server")


async def prove(all_parts: Iterable[RepositoryAdapters]) -> None:
    """Prove that the git server of every repository is fit; raises `UnfitServer`, or as `Git.push`.

    What was proved less than a day ago, from this state directory, is not tried again. How the server decides between
    two pushes is proved in one repository for all of an owner's; whether it takes the lock's refs, in each.
    """
    for parts in all_parts:
        repository_proof = Proof(parts.process.settings.state_dir / "proofs", parts.git.mirror.url)
        if await anyio.to_thread.run_sync(repository_proof.counts, parts.process.clock.now()):
            continue
        async with _one_at_a_time(parts):
            await _prove_anew(parts, repository_proof)


async def _prove_anew(parts: RepositoryAdapters, repository_proof: Proof) -> None:
    server, url, now = server_proof(parts), parts.git.mirror.url, parts.process.clock.now()
    if await anyio.to_thread.run_sync(repository_proof.counts, now):
        return  # another agent of this machine has proved it meanwhile
    if await anyio.to_thread.run_sync(server.counts, now):
        await try_repository(parts.git.fences)
    else:
        await try_server(parts.git.mirror.git, url, parts.git.identity, ORDER)
        await anyio.to_thread.run_sync(server.write, now)
    await anyio.to_thread.run_sync(repository_proof.write, now)
    log.info("git_server_proved", url=url)


@asynccontextmanager
async def _one_at_a_time(parts: RepositoryAdapters) -> AsyncIterator[None]:
    """Let agents that start together on one machine prove a repository once; if no file can be locked, each does."""
    lock = FileLock(parts.git.mirror.git.git_dir.with_suffix(".proof.lock"))
    async with AsyncExitStack() as stack:
        with suppress(OSError):
            await stack.enter_async_context(lock.held())
        yield


def server_proof(parts: RepositoryAdapters) -> Proof:
    """Return the note about the server, for all repositories of an owner."""
    return Proof(parts.process.settings.state_dir / "proofs", parts.git.mirror.url.rpartition("/")[0])


class Proof:
    """The note that the git server was fit, for one repository or an owner's; it may be deleted at any time."""

    def __init__(self, directory: Path, url: str) -> None:
        self._file = directory / f"{url.partition('://')[2].replace('/', '__')}.json"
        self._url = url

    def counts(self, now: float) -> bool:
        """Return whether it is there, of this layout, and younger than a day.

        `now` is local seconds since the epoch.
        """
        try:
            content = json.loads(self._file.read_bytes())
            known = (content["version"], content["url"]) == (VERSION, self._url)
            return known and 0 <= now - float(content["at"]) < TRUSTED_SECONDS
        except (OSError, ValueError, TypeError, KeyError):
            return False

    def write(self, now: float) -> None:
        """Write the note; if it cannot be written, the next start tries again, and nothing else follows."""
        content = json.dumps({"version": VERSION, "url": self._url, "at": now}) + "\n"
        fresh = self._file.with_name(f".{secrets.token_hex(4)}")
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(content)
            fresh.replace(self._file)
