"""A store in an SQLite file, into which all agents of one machine write."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_random

from shared.telemetry import rows
from shared.telemetry.events import Event, Query
from shared.telemetry.rows import StoredEvent

if TYPE_CHECKING:  # else imported when used: an idle agent writes no event
    import sqlite3

BUSY_SECONDS = 10.0
"""Seconds that a writer waits for another process's transaction."""


class SqliteStore:
    """One file, in WAL mode: readers never hinder writers."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: sqlite3.Connection | None = None

    def append(self, events: Sequence[Event], forget_before: datetime | None) -> None:
        """Write all or none; raises `sqlite3.Error` and `OSError`."""
        if self._open is not None and not self._path.exists():  # somebody deleted it: begin another one
            self.close()
        connection = self._open = self._open or self._open_file()
        with connection:
            connection.executemany(rows.insertion(), [rows.values(event, time) for event in events])
            if forget_before is not None:
                connection.execute(rows.FORGET, {"before": time(forget_before)})

    def read(self, query: Query, most: int) -> list[StoredEvent]:
        """Return the first `most` events that match; none if there is no file yet. Raises `sqlite3.Error`."""
        if not self._path.exists():
            return []
        import sqlite3

        address = f"{self._path.resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as connection:
            connection.row_factory = sqlite3.Row
            sql, filled = rows.selection(query, time, most)
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'events'").fetchone():
                return []
            return [rows.row(dict(found)) for found in connection.execute(sql, filled)]

    def close(self) -> None:
        """Close the file."""
        if self._open is not None:
            connection, self._open = self._open, None
            connection.close()

    def _open_file(self) -> sqlite3.Connection:
        import sqlite3

        self._path.touch(mode=0o600)
        connection = sqlite3.connect(self._path, timeout=BUSY_SECONDS)
        try:
            _into_wal(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            with connection:
                for sql in (rows.table("INTEGER PRIMARY KEY AUTOINCREMENT", "TEXT", "TEXT"), *rows.INDEXES):
                    connection.execute(sql)
        except BaseException:
            connection.close()
            raise
        return connection


def _into_wal(connection: sqlite3.Connection) -> None:
    """Change to WAL mode, with retries of our own: SQLite ignores its timeout here. Raises `sqlite3.Error`."""
    import sqlite3

    tries = Retrying(
        retry=retry_if_exception_type(sqlite3.OperationalError),
        wait=wait_random(0.01, 0.1),
        stop=stop_after_delay(BUSY_SECONDS),
        reraise=True,
    )
    tries(connection.execute, "PRAGMA journal_mode = WAL")


def time(moment: datetime) -> str:
    """Return a time as text that sorts by time."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
