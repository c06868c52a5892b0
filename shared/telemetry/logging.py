"""Logs as events with fields: one line each on standard error, JSON or for a terminal, redacted.

Event names are fixed lower-case words joined by underscores; variable parts are fields. Logging never
ends the process: a line that cannot be written is dropped and counted.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from shared.text.redaction import redact

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}
"""Control characters -> escapes, so that a title from GitHub can neither forge a line nor drive a terminal."""

_IN_TEXT = {code: shown for code, shown in _CONTROLS.items() if chr(code) not in "\n\t"}


EventSink = Callable[[EventDict], bool]
"""Receives events instead of the log; a warning or error for which it returns False is logged nevertheless."""


def configure(
    *, json: bool, verbose: bool, secrets: Sequence[str], quiet: bool = False, event_sink: EventSink | None = None
) -> None:
    """Set up logging for the whole process; call it once, before the first event.

    `json` gives one JSON object per line, otherwise lines for a terminal. `verbose` adds debug
    events, `quiet` leaves all but warnings out. No value of `secrets`, in no common encoding,
    reaches the output. Events below critical go to `event_sink` first, if it is given. Libraries that
    log through the standard library appear from WARNING on.
    """
    sink = _Sink()
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
    ]
    ending: list[Processor] = [_Redaction(secrets), *([_to(event_sink)] if event_sink else []), _renderer(json)]
    structlog.configure(
        processors=[*shared, *ending],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.DEBUG if verbose else logging.WARNING if quiet else logging.INFO
        ),
        logger_factory=lambda *_: sink,
        cache_logger_on_first_use=False,
    )
    handler = _Libraries(sink)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *ending],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)


def hide_also(secrets: Sequence[str]) -> None:
    """Hide these values in the output too, in addition to those given to `configure`."""
    for one in structlog.get_config()["processors"]:
        if isinstance(one, _Redaction):
            one.hide(secrets)


def bind_agent(agent: str) -> None:
    """Give every event of this process the field `agent`."""
    structlog.contextvars.bind_contextvars(agent=agent)


@contextmanager
def bind_item(*, repo: str, issue: int) -> Iterator[None]:
    """Give every event inside the block, and of the tasks that it starts, these fields."""
    with structlog.contextvars.bound_contextvars(repo=repo, issue=issue):
        yield


def as_json(value: Any, text: Callable[[object], str], names: Callable[[object], str]) -> Any:
    """Return a value that JSON can hold: keys are made by `names`, what is no number or collection by `text`."""
    match value:
        case None | bool() | int() | float():
            return value
        case Mapping():
            return {names(name): as_json(item, text, names) for name, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [as_json(item, text, names) for item in value]
        case _:
            return text(value)


def _to(event_sink: EventSink) -> Processor:
    def pass_to_sink(_: object, level: str, event: EventDict) -> EventDict:
        if level not in {"debug", "info", "warning", "error"}:
            return event
        if event_sink(event) or level in {"debug", "info"}:
            raise structlog.DropEvent
        return event

    return pass_to_sink


def _renderer(json: bool) -> Processor:
    if json:
        return structlog.processors.JSONRenderer(sort_keys=False)
    colours = sys.stderr is not None and sys.stderr.isatty()
    return structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=structlog.dev.plain_traceback)


class _Redaction:
    """The last processor before rendering: only plain values without secrets or control characters pass."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets: tuple[str, ...] = ()
        self.hide(secrets)

    def hide(self, secrets: Sequence[str]) -> None:
        self._secrets = tuple(dict.fromkeys((*self._secrets, *filter(None, secrets))))

    def __call__(self, logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
        return {
            self._clean(name): self._text(value, _IN_TEXT)
            if name in {"exception", "stack"}
            else as_json(value, self._clean, self._clean)
            for name, value in event.items()
        }

    def _clean(self, value: object) -> str:
        return self._text(value, _CONTROLS)

    def _text(self, value: object, controls: Mapping[int, str]) -> str:
        text = str(value).encode("utf-8", "replace").decode()  # lone surrogates cannot be written
        return redact(text, self._secrets).translate(controls)


class _Sink:
    """Standard error as it is at the moment of writing; a failure to write is only counted."""

    def __init__(self) -> None:
        self._dropped = 0

    def line(self, text: str) -> None:
        """Write one line; if earlier ones were dropped, say so first."""
        lost = f'{{"event": "log_lines_dropped", "count": {self._dropped}}}\n' if self._dropped else ""
        try:
            _write(f"{lost}{text}\n")
        except (OSError, ValueError):  # nobody reads, disk full; stream closed
            self._dropped += 1
        else:
            self._dropped = 0

    debug = info = warning = error = critical = exception = msg = line


def _write(text: str) -> None:
    if sys.stderr is None:  # closed before the start
        return
    try:
        descriptor = sys.stderr.fileno()
    except (OSError, ValueError):  # a stream in memory, as in tests
        sys.stderr.write(text)
        return
    # Past the stream's buffer: what it cannot write it keeps, and Python exits with 120 over it.
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(descriptor, data) :]


class _Libraries(logging.Handler):
    """Writes log records of libraries that use the standard library, in the same form."""

    def __init__(self, sink: _Sink) -> None:
        super().__init__(logging.WARNING)
        self._sink = sink

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; one whose arguments do not fit its message is only named."""
        try:
            line = self.format(record)
        except (TypeError, ValueError, KeyError) as error:
            structlog.get_logger().warning("library_record_malformed", logger=record.name, error=repr(error))
        else:
            self._sink.line(line)
