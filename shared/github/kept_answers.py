"""GitHub's answers kept on disk over a restart and for the machine's other agents of the same token.

Each has to be confirmed by a free 304 before it is used, or to have been confirmed for another agent right before.

It is a cache: a file that is busy, broken or gone costs full readings and nothing else.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import structlog

from shared.clock import Clock

if TYPE_CHECKING:  # else imported when used
    import sqlite3

MAX_BYTES = 2**20
"""Bytes above which an answer is not kept."""

MAX_ANSWERS = 10_000
"""Most answers that stay at a start, and after as many new ones; those that were asked for longest ago go first."""

KEPT_SECONDS = 30 * 86_400.0
"""Seconds (wall clock) without a request after which an answer is removed at a start."""

BUSY_SECONDS = 0.05
"""Seconds to wait for another process's transaction, in the event loop."""

_TABLE = """
CREATE TABLE IF NOT EXISTS readings (
  who TEXT NOT NULL, url TEXT NOT NULL, etag TEXT NOT NULL, next TEXT, body BLOB NOT NULL, read REAL NOT NULL,
  used REAL NOT NULL,
  PRIMARY KEY (who, url)
) WITHOUT ROWID
"""
_FORMER = "DROP TABLE IF EXISTS answers"
"""Removes the table of an earlier version, which did not say when an answer was read."""

_CONFIRMED_TABLE = """
CREATE TABLE IF NOT EXISTS confirmations (
  who TEXT NOT NULL, url TEXT NOT NULL, etag TEXT NOT NULL, read REAL NOT NULL, asked REAL NOT NULL,
  PRIMARY KEY (who, url)
) WITHOUT ROWID
"""
_CONFIRM = "INSERT OR REPLACE INTO confirmations VALUES (?, ?, ?, ?, ?)"
_CONFIRMED = "SELECT etag, read FROM confirmations WHERE who = ? AND url = ? AND asked > ? AND asked <= ?"
_FORGOTTEN = "DELETE FROM confirmations WHERE asked < ?"

_FIND = "SELECT etag, next, body, read FROM readings WHERE who = ? AND url = ? AND etag <> ? AND read > ?"
_USED = "UPDATE readings SET used = ? WHERE who = ? AND url = ?"
_KEEP = "INSERT OR REPLACE INTO readings VALUES (?, ?, ?, ?, ?, ?, ?)"
_OLD = "DELETE FROM readings WHERE used < ?"
_MANY = "DELETE FROM readings WHERE used < (SELECT used FROM readings ORDER BY used DESC LIMIT 1 OFFSET ?)"

T = TypeVar("T")

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """The body of an answer with its ETag, the next page that its Link header named, and when it was read (wall clock,
    seconds).
    """

    etag: str
    body: bytes
    next: str | None
    read: float


@dataclass(frozen=True, slots=True)
class Confirmed:
    """An answer that holds: its ETag, which another confirmation may have replaced by a new one, and when it was read
    (wall clock, seconds).
    """

    etag: str
    read: float

    def names(self, etag: str, read: float) -> bool:
        """Return whether an answer with this ETag, or read at this time, is the one."""
        return etag == self.etag or read == self.read


class KeptAnswers:
    """The answers of one caller. Other agents of the machine may use the same file."""

    def __init__(self, path: Path, who: str, clock: Clock, *, most: int = MAX_ANSWERS) -> None:
        """`who` identifies the caller, such as its token: its answers are given to it alone.

        Only a digest of it is written down. `path` is made when there is something to keep, and its directory
        holds nothing else.
        """
        self._who = hashlib.sha256(who.encode()).hexdigest()[:32]
        self._path, self._clock, self._most = path, clock, most
        self._open: sqlite3.Connection | None = None
        self._usable = True
        self._kept = 0

    def find(self, url: str, *, etag: str = "", after: float = 0.0) -> KeptAnswer | None:
        """Return the last answer; None if nothing is kept, or nothing newer than the caller's own.

        That one has the ETag `etag`, and was read at `after`.
        """

        def read(connection: sqlite3.Connection) -> KeptAnswer | None:
            found = connection.execute(_FIND, (self._who, url, etag, after)).fetchone()
            if found is None:
                return None
            connection.execute(_USED, (self._clock.now(), self._who, url))
            return KeptAnswer(found[0], zlib.decompress(found[2]), found[1], found[3])

        return self._in_transaction(read)

    def keep(self, url: str, answer: KeptAnswer) -> None:
        """Keep an answer in the place of an older one, unless it has no ETag or is too large."""
        if not answer.etag or len(answer.body) > MAX_BYTES:
            return
        row = (self._who, url, answer.etag, answer.next, zlib.compress(answer.body, 1), answer.read, self._clock.now())
        self._kept += 1
        full = self._kept % self._most == 0

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(_KEEP, row)
            if full:
                connection.execute(_MANY, (self._most - 1,))

        self._in_transaction(write)

    def confirm(self, url: str, answer: Confirmed, asked: float) -> None:
        """Note for the token's other agents that GitHub gave, or confirmed, an answer.

        It was asked at the time `asked` (wall clock, seconds).
        """
        row = (self._who, url, answer.etag, answer.read, asked)
        if answer.etag:
            self._in_transaction(lambda connection: connection.execute(_CONFIRM, row))

    def confirmed(self, url: str, *, after: float) -> Confirmed | None:
        """Return the answer that was asked for after a time (wall clock, seconds); None if none was."""
        facts = (self._who, url, after, self._clock.now())
        found = self._in_transaction(lambda connection: connection.execute(_CONFIRMED, facts).fetchone())
        return None if found is None else Confirmed(*found)

    def close(self) -> None:
        """Close the file."""
        if self._open is not None:
            connection, self._open = self._open, None
            connection.close()

    def _in_transaction(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Return the result of `work`, in a transaction of its own; None if the file cannot be used, or not now."""
        if not self._usable:
            return None
        import sqlite3

        try:
            connection = self._open = self._open or self._open_file()
            with connection:
                return work(connection)
        except (sqlite3.Error, OSError, zlib.error) as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:  # of whatever kind
                self._give_up(error)
            return None

    def _open_file(self) -> sqlite3.Connection:
        import sqlite3

        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path.touch(mode=0o600)
        connection = sqlite3.connect(self._path, timeout=BUSY_SECONDS)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            with connection:
                connection.execute(_FORMER)
                connection.execute(_TABLE)
                connection.execute(_CONFIRMED_TABLE)
                connection.execute(_FORGOTTEN, (self._clock.now() - KEPT_SECONDS,))
                connection.execute(_OLD, (self._clock.now() - KEPT_SECONDS,))
                connection.execute(_MANY, (self._most - 1,))
        except BaseException:
            connection.close()
            raise
        return connection

    def _give_up(self, error: Exception) -> None:
        """Use the file no more; a broken one is removed, so that the next start begins another."""
        import sqlite3

        log.warning("answers_not_kept", outcome="skipped", path=str(self._path), error=str(error))
        self._usable = False
        self.close()
        if isinstance(error, sqlite3.DatabaseError | zlib.error) and not isinstance(error, sqlite3.OperationalError):
            for one in (self._path, *(self._path.with_name(self._path.name + end) for end in ("-wal", "-shm"))):
                one.unlink(missing_ok=True)
