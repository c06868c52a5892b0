"""A store that sends traces to an OpenTelemetry collector by OTLP over HTTP, behind the event log's queue (`otel`)."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from shared.errors import EngineError
from shared.telemetry.event_log import Hopeless
from shared.telemetry.events import Event
from shared.telemetry.traces import Traces

TIMEOUT_SECONDS = 5
"""Timeout of one attempt to send; the end of a process waits no longer."""

_FOR_GOOD = re.compile(r"batch code: (400|413|422)\b|max_request_size|Failed to encode")
"""Messages of the library about a batch that is itself at fault. Other refusals, as of a key, need a person."""

_LIBRARY = logging.getLogger("opentelemetry.exporter.otlp.proto.http.trace_exporter")


class NotTaken(EngineError):
    """The collector did not take the traces."""


class OtlpStore:
    """Satisfies the event log's `Store`; used by one thread. Spans that were not taken go with the next events."""

    def __init__(
        self, url: str, headers: Mapping[str, str], resource: Mapping[str, str], hide: Callable[[str], str]
    ) -> None:
        """`url` is the full endpoint; `resource` identifies the sender; `hide` filters every text."""
        self._url, self._headers, self._traces = url, dict(headers), Traces(resource, hide)
        self._exporter: OTLPSpanExporter | None = None
        self._folded: set[str] = set()
        self._unsent: list[ReadableSpan] = []
        self._ear = _Ear()

    def append(self, events: Sequence[Event], forget_before: datetime | None) -> None:
        """Send the spans that these events end; raises `NotTaken`, after which the same events may be passed again.

        Raises `Hopeless`, and drops the batch, if the collector will never take it.
        """
        for event in events:
            if event.uid not in self._folded:
                self._folded.add(event.uid)
                self._traces.record(event)
        self._unsent += self._traces.taken()
        try:
            if self._unsent:
                self._send(self._unsent)
        except NotTaken as error:
            if _FOR_GOOD.search(str(error)) is None:
                raise
            self._folded, self._unsent = set(), []
            raise Hopeless(str(error)) from error
        self._folded, self._unsent = set(), []

    def close(self) -> None:
        """Close the connection; the next `append` opens another one."""
        exporter, self._exporter = self._exporter, None
        if exporter is not None:
            exporter.shutdown()  # type: ignore[no-untyped-call]  # the library's

    def _send(self, spans: Sequence[ReadableSpan]) -> None:
        if self._exporter is None:
            self._exporter = OTLPSpanExporter(self._url, headers=self._headers, timeout=TIMEOUT_SECONDS)
        with self._ear:
            result = self._exporter.export(spans)
        if result is not SpanExportResult.SUCCESS:
            raise NotTaken(self._ear.sentence or None)


class _Ear(logging.Filter):
    """Keeps the library's messages about a failure from the log: the event log reports it once, not at every attempt.

    Only those of the thread that sends, and whatever other stores of this process do at the time.
    """

    sentence = ""
    _thread = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep the last message; return False so that it goes nowhere else."""
        if record.thread != self._thread:
            return True
        self.sentence = record.getMessage()
        return False

    def __enter__(self) -> None:
        self.sentence, self._thread = "", threading.get_ident()
        _LIBRARY.addFilter(self)

    def __exit__(self, *error: object) -> None:
        _LIBRARY.removeFilter(self)
