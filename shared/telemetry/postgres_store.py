"""A store in PostgreSQL, for more than one machine; only its users import SQLAlchemy and asyncpg (`postgres`)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from shared.errors import Misconfigured
from shared.telemetry import rows
from shared.telemetry.events import Event, Query
from shared.telemetry.rows import StoredEvent

T = TypeVar("T")

CONNECT_SECONDS = 10.0
COMMAND_SECONDS = 30.0

ONE_AT_A_TIME = 6_051_984_211
"""The advisory lock under which the table is made: agents that start together would both try."""


class PostgresStore:
    """One table, `events`, in the database that a URL names. Used by one thread, in which it has its own event loop."""

    def __init__(self, url: str) -> None:
        """Raises `Misconfigured` for a URL of another database."""
        self._url = address(url)
        self._runner: asyncio.Runner | None = None
        self._engine: AsyncEngine | None = None
        self._made = False

    def append(self, events: Sequence[Event], forget_before: datetime | None) -> None:
        """Write all or none; raises the driver's errors."""
        self._run(self._append(events, forget_before))

    def read(self, query: Query, most: int) -> list[StoredEvent]:
        """Return the first `most` events that match."""
        return self._run(self._read_events(query, most))

    def close(self) -> None:
        """Close the connection and the loop."""
        runner, self._runner = self._runner, None
        engine, self._engine = self._engine, None
        if runner is not None:
            try:
                if engine is not None:
                    runner.run(engine.dispose())
            finally:
                runner.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(work)

    async def _append(self, events: Sequence[Event], forget_before: datetime | None) -> None:
        async with self._connect().begin() as connection:
            await self._ready(connection)
            filled = [rows.values(event, _time) for event in events]
            await connection.execute(text(rows.insertion("CAST(:data AS JSONB)")), filled)
            if forget_before is not None:
                await connection.execute(text(rows.FORGET), {"before": _time(forget_before)})
        self._made = True

    async def _read_events(self, query: Query, most: int) -> list[StoredEvent]:
        sql, filled = rows.selection(query, _time, most)
        async with self._connect().begin() as connection:
            await self._ready(connection)
            return [rows.row(dict(found)) for found in (await connection.execute(text(sql), filled)).mappings()]

    async def _ready(self, connection: AsyncConnection) -> None:
        if self._made:
            return
        await connection.execute(text(f"SELECT pg_advisory_xact_lock({ONE_AT_A_TIME})"))
        own = rows.table("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "TIMESTAMPTZ", "JSONB")
        for sql in (own, *rows.INDEXES):
            await connection.execute(text(sql))

    def _connect(self) -> AsyncEngine:
        if self._engine is None:
            options = {"timeout": CONNECT_SECONDS, "command_timeout": COMMAND_SECONDS}
            self._engine = create_async_engine(
                self._url, pool_size=1, max_overflow=0, pool_pre_ping=True, connect_args=options
            )
        return self._engine


def address(url: str) -> URL:
    """Return the URL with the driver used here; `sslmode`, as PostgreSQL's own tools spell it, is understood."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise Misconfigured("events.url is not the URL of a database: write postgresql://HOST/DATABASE.") from None
    if parsed.get_backend_name() not in {"postgresql", "postgres"}:
        raise Misconfigured("events.url: only PostgreSQL is supported; write postgresql://HOST/DATABASE, or remove it.")
    parsed = parsed.set(drivername="postgresql+asyncpg")
    mode = parsed.query.get("sslmode")
    if mode is None:
        return parsed
    return parsed.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})


def _time(moment: datetime) -> datetime:
    return moment.astimezone(UTC)
