"""Events as rows: the one table that both databases have, and the SQL that both understand (no I/O)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from shared.telemetry.events import Event, EventKind, Query
from shared.telemetry.logging import as_json
from shared.workflow import Role

COLUMNS = ("uid", "at", "agent", "role", "repository", "kind", "issue", "pull", "run", "phase", "data")

INDEXES = (
    "CREATE INDEX IF NOT EXISTS events_at ON events (at)",
    "CREATE INDEX IF NOT EXISTS events_issue ON events (repository, issue)",
    "CREATE INDEX IF NOT EXISTS events_pull ON events (repository, pull)",
)

FORGET = "DELETE FROM events WHERE at < :before"

Time = Callable[[datetime], object]
"""Converts a time to a database's parameter."""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One event and its place in the log."""

    place: int
    event: Event


def table(place: str, time: str, document: str) -> str:
    """Return the SQL that makes the table, with a database's types for an increasing number, a time and a document."""
    return (
        f"CREATE TABLE IF NOT EXISTS events (place {place}, uid TEXT NOT NULL UNIQUE, at {time} NOT NULL, "
        f"agent TEXT NOT NULL, role TEXT NOT NULL, repository TEXT NOT NULL, kind TEXT NOT NULL, "
        f"issue INTEGER NOT NULL, pull INTEGER NOT NULL, run TEXT NOT NULL, phase TEXT NOT NULL, "
        f"data {document} NOT NULL)"
    )


def insertion(document: str = ":data") -> str:
    """Return the SQL that adds one event, unless it is there."""
    values = ", ".join(document if name == "data" else f":{name}" for name in COLUMNS)
    return f"INSERT INTO events ({', '.join(COLUMNS)}) VALUES ({values}) ON CONFLICT (uid) DO NOTHING"


def values(event: Event, time: Time) -> dict[str, object]:
    """Return the parameters of `insertion`; characters that no database takes (NUL, surrogates) are escaped."""
    told = {name: getattr(event, name) for name in COLUMNS}
    texts = {name: _plain(str(value)) for name, value in told.items() if isinstance(value, str)}
    return {**told, **texts, "at": time(event.at), "data": json.dumps(plain(event.data))}


def plain(value: Any, hide: Callable[[str], str] = str) -> Any:
    """Return a value that JSON and both databases can store, with each text passed through `hide`."""
    return as_json(value, lambda one: _plain(hide(str(one))), names=str)


def _plain(text: str) -> str:
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()


def selection(query: Query, time: Time, most: int) -> tuple[str, dict[str, object]]:
    """Return the SQL for a query and its parameters; rows come in the order in which they were written."""
    equal = {name: getattr(query, name) for name in ("repository", "run", "phase", "agent", "kind")}
    clauses = [f"{name} = :{name}" for name, value in equal.items() if value]
    filled: dict[str, object] = {name: value for name, value in equal.items() if value}
    if query.issue:
        belongs = "SELECT 1 FROM events o WHERE o.repository = e.repository AND o.issue = :issue AND o.pull = e.pull"
        clauses.append(f"(issue = :issue OR pull = :issue OR (pull <> 0 AND EXISTS ({belongs})))")
        filled["issue"] = query.issue
    for name, sign, moment in (("since", ">=", query.since), ("until", "<", query.until)):
        if moment is not None:
            clauses.append(f"at {sign} :{name}")
            filled[name] = time(moment)
    clauses.append("place > :after")
    filled |= {"after": query.after, "most": most}
    chosen = f"SELECT place, {', '.join(COLUMNS)} FROM events e WHERE {' AND '.join(clauses)}"
    return f"{chosen} ORDER BY place LIMIT :most", filled


def row(found: Mapping[str, Any]) -> StoredEvent:
    """Return a row of `selection` as an event."""
    at, data = found["at"], found["data"]
    return StoredEvent(
        int(found["place"]),
        Event(
            at=(datetime.fromisoformat(at) if isinstance(at, str) else at).astimezone(UTC),
            agent=found["agent"],
            role=Role(found["role"]),
            repository=found["repository"],
            kind=EventKind(found["kind"]),
            issue=found["issue"],
            pull=found["pull"],
            run=found["run"],
            phase=found["phase"],
            data=json.loads(data) if isinstance(data, str) else data,
            uid=found["uid"],
        ),
    )
