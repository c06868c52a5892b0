"""What an agent proves of the git server before it starts, once a day: without it the lock would be worth nothing."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread
import structlog

from config.state import VERSION
from runtime.building.assembly import Parts
from shared.git.probe import try_server
from shared.lock.write_permit import OperatorPermit

log = structlog.get_logger()

TRUSTED_SECONDS = 24 * 3600.0
"""How long a proof counts: a server's software changes rarely, and agents start often."""

ORDER = OperatorPermit("prove the git server")


async def prove(all_parts: Iterable[Parts]) -> None:
    """Return when the git server of every repository is fit; raises `UnfitServer`, or as `Git.push`.

    What was proved less than a day ago, from this state directory, is not tried again.
    """
    for parts in all_parts:
        proof = Proof(parts.settings.state_dir / "proofs", parts.mirror.url)
        now = parts.clock.now()
        if await anyio.to_thread.run_sync(proof.counts, now):
            continue
        await try_server(parts.mirror.git, parts.mirror.url, parts.identity, ORDER)
        await anyio.to_thread.run_sync(proof.write, now)
        log.info("git_server_proved", url=parts.mirror.url)


class Proof:
    """The note that one repository's git server was fit; it may be deleted at any time."""

    def __init__(self, directory: Path, url: str) -> None:
        self._file = directory / f"{url.partition('://')[2].replace('/', '__')}.json"
        self._url = url

    def counts(self, now: float) -> bool:
        """Whether it is there, of this layout, and younger than a day at `now` (local seconds since the epoch)."""
        try:
            content = json.loads(self._file.read_bytes())
            known = (content["version"], content["url"]) == (VERSION, self._url)
            return known and 0 <= now - float(content["at"]) < TRUSTED_SECONDS
        except (OSError, ValueError, TypeError, KeyError):
            return False

    def write(self, now: float) -> None:
        """Note it; that it cannot be noted means only that the next start tries again."""
        content = json.dumps({"version": VERSION, "url": self._url, "at": now}) + "\n"
        fresh = self._file.with_name(f".{secrets.token_hex(4)}")
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(content)
            fresh.replace(self._file)
