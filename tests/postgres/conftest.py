"""A PostgreSQL of this test run alone: on loopback, in a directory of its own, never as root."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PASSWORD = "s3cret/with:signs"
NAME = "engine"
DEADLINE_SECONDS = 60.0


@dataclass
class Database:
    """One server, started and stopped by tests. It refuses to run as root, so root lends it another account."""

    programs: Path
    directory: Path
    port: int
    account: str | None

    @property
    def url(self) -> str:
        """The URL as people write it in the configuration."""
        return f"postgresql://{NAME}:s3cret%2Fwith%3Asigns@127.0.0.1:{self.port}/postgres"

    def run(self, program: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs to its end."""
        command = [str(self.programs / program), *arguments]
        done = subprocess.run(command, user=self.account, cwd="/", capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"

    def make(self) -> None:
        word = self.directory / "word"
        word.write_text(PASSWORD)
        self.own(word)
        locale = ("--locale=C", "--encoding=UTF8")
        data = ("-D", str(self.directory / "data"))
        self.run("initdb", *data, "-U", NAME, "-A", "scram-sha-256", f"--pwfile={word}", "--no-sync", *locale)

    def start(self) -> None:
        options = f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories= -c fsync=off"
        log = str(self.directory / "log")
        self.run("pg_ctl", "-D", str(self.directory / "data"), "-o", options, "-l", log, "-w", "start")

    def stop(self) -> None:
        self.run("pg_ctl", "-D", str(self.directory / "data"), "-m", "immediate", "-w", "stop")

    def own(self, path: Path) -> None:
        if self.account is not None:
            shutil.chown(path, self.account)


@pytest.fixture(scope="session")
def database() -> Iterator[Database]:
    """Yield a running server."""
    pytest.importorskip("asyncpg", reason="the extra `postgres` is not installed")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [Path(shutil.which("initdb") or "/nowhere")]
    if not found[-1].exists():
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    account = pwd.getpwnam("postgres").pw_name if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="engine-postgres-", dir="/tmp") as place:
        database = Database(found[-1].parent, Path(place), _free_port(), account)
        database.own(database.directory)
        database.make()
        database.start()
        try:
            yield database
        finally:
            database.stop()


@pytest.fixture
def clean(database: Database) -> Database:
    """Return the server with no event in it."""
    from sqlalchemy import text

    from shared.telemetry.postgres_store import PostgresStore

    store = PostgresStore(database.url)

    async def drop() -> None:
        async with store._connect().begin() as connection:
            await connection.execute(text("DROP TABLE IF EXISTS events"))

    store._run(drop())
    store.close()
    return database


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def eventually(happened: object, seconds: float = DEADLINE_SECONDS) -> None:
    """Wait for another thread; fails the test when it does not happen."""
    assert callable(happened)
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
