"""`workflow-engine events`: the trail of events, as a table for people or as JSON lines for programs."""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from config.loading import load
from runtime.building.telemetry import EVENTS, store
from shared.clock import Clock
from shared.errors import EngineError, Misconfigured, Transient
from shared.telemetry.events import Event, Query
from shared.telemetry.rows import StoredEvent

if TYPE_CHECKING:
    from config.settings import Settings

PAGE = 1000
"""Events that are read at once."""

FOLLOW_SECONDS = 1.0
"""Seconds that `--follow` waits between two reads."""

OVERLAP = 200
"""Places that `--follow` reads again: of two agents that write at once, the later event may become visible first."""

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


@dataclass(frozen=True, slots=True)
class EventsOptions:
    """Options of `events` from the command line."""

    query: Query
    config: Path | None = None
    state_dir: Path | None = None
    follow: bool = False
    json: bool = False


def shown(options: EventsOptions, environment: Mapping[str, str], clock: Clock, *, table: bool) -> int:
    """Print the events; exit code 0, or 2 for a configuration and 4 for a database that cannot be used."""
    try:
        settings = _settings(options, environment)
        line = _json if options.json or not table else _table
        for event in _events(options, settings, clock):
            sys.stdout.write(f"{line(event)}\n")
            if options.follow:
                sys.stdout.flush()
    except EngineError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, Misconfigured) else 4
    except BrokenPipeError:  # as when the reader is `head`
        sys.stderr.close()
    except KeyboardInterrupt:
        return 130
    return 0


def moment(text: str, now: datetime) -> datetime:
    """A time as people write it: `2026-11-22`, `2026-11-22T08:30`, or how long ago, as in `90m`, `24h`, `7d`.

    Without a zone it is UTC. Raises `ValueError`.
    """
    if text[:-1].isdecimal() and text[-1:] in _UNITS and len(text) <= 7:
        return now - timedelta(**{_UNITS[text[-1]]: int(text[:-1])})
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _settings(options: EventsOptions, environment: Mapping[str, str]) -> Settings:
    repository = options.query.repository or None
    if options.state_dir is not None and not options.state_dir.is_dir():
        raise Misconfigured(f"There is no state directory {options.state_dir}: name it with --state-dir.")
    settings = load(options.config, repository=repository, environment=environment)
    return settings if options.state_dir is None else settings.model_copy(update={"state_dir": options.state_dir})


def _events(options: EventsOptions, settings: Settings, clock: Clock) -> Iterator[Event]:
    """Yield all stored events, and with `follow` every later one too; each event once."""
    with closing(TrailReader(settings, options.query)) as reading:
        while True:
            yield from reading.new()
            if not options.follow:
                return
            anyio.run(clock.sleep, FOLLOW_SECONDS)


class TrailReader:
    """A trail read again and again; each event that fits `query` is given once."""

    def __init__(self, settings: Settings, query: Query) -> None:
        """Raises `Misconfigured`."""
        self._source = store(settings)
        self._place = "the database of events.url" if settings.events.url else str(settings.state_dir / EVENTS)
        self._query = query
        self._seen: deque[str] = deque(maxlen=2 * OVERLAP + PAGE)
        self._last = 0

    def new(self) -> Iterator[Event]:
        """Yield the events since the last call, oldest first. Raises `Transient` when the database does not answer."""
        for row in _all(self._place, self._source.read, replace(self._query, after=max(0, self._last - OVERLAP))):
            if row.event.uid not in self._seen:
                yield row.event
                self._seen.append(row.event.uid)
            self._last = max(self._last, row.place)

    def close(self) -> None:
        """Close the store."""
        self._source.close()


def _all(place: str, read: Callable[[Query, int], list[StoredEvent]], query: Query) -> Iterator[StoredEvent]:
    """Page after page. Raises `Transient` when the database does not answer."""
    while True:
        try:
            rows = read(query, PAGE)
        except EngineError:
            raise
        except Exception as error:  # each driver has its own
            reason = str(error).partition("\n")[0]
            raise Transient(f"The events in {place} cannot be read: {reason or type(error).__name__}") from error
        yield from rows
        if len(rows) < PAGE:
            return
        query = replace(query, after=rows[-1].place)


def _json(event: Event) -> str:
    return json.dumps(event.document(), ensure_ascii=True)


def _table(event: Event) -> str:
    """One line of the table; nothing in it can drive a terminal."""
    at = f"{event.at:%Y-%m-%d %H:%M:%S}"
    line = f"{at}  {event.agent:<20}  {place(event):<12}  {event.phase:<17}  {event.kind:<10}  {data(event)}".rstrip()
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in line)


def place(event: Event) -> str:
    """Return the numbers of the issue and of the pull request that an event is about."""
    return " ".join(
        part for part in (f"#{event.issue}" * bool(event.issue), f"PR#{event.pull}" * bool(event.pull)) if part
    )


def data(event: Event) -> str:
    """Return an event's data as `name=value`."""
    return "  ".join(f"{name}={_value(value)}" for name, value in event.data.items())


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
