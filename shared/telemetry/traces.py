"""OpenTelemetry spans made from events: one trace for each run. Imported only if traces are wanted (`otel`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context

from shared.llm import cli_spec
from shared.telemetry.events import Event, EventKind

MOST_RUNS = 1000
"""Open runs that are kept, at most; beyond that the oldest is dropped."""

_UNSETTLED = frozenset({"none", "running"})
"""CI verdicts of a commit that mean that CI is still awaited."""

_FAILED = frozenset({"failed", "lost"})
"""Ends of a run that are errors; ends after which a person or another agent continues are none."""

Value = str | bool | int | float | tuple[str, ...]


@dataclass(slots=True)
class _Run:
    """The open spans of a run: its root, its phase, and the waits for CI by commit."""

    root: Span
    phase_name: str
    phase: Span
    waits: dict[str, Span] = field(default_factory=dict)


class _Ended(SpanProcessor):
    """Collects the spans that have ended."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self.spans.append(span)


class Traces:
    """The runs of one process as traces; used by one thread. Every text in them is filtered by `hide`."""

    def __init__(self, resource: Mapping[str, str], hide: Callable[[str], str]) -> None:
        """`resource` identifies the sender, by the names of OpenTelemetry's conventions."""
        self._hide, self._ended = hide, _Ended()
        sender = Resource.create(dict(resource))  # the environment may have added attributes to it
        provider = TracerProvider(resource=Resource(self._attributes(sender.attributes)), shutdown_on_exit=False)
        provider.add_span_processor(self._ended)
        self._tracer = provider.get_tracer("workflow-engine")
        self._open: dict[tuple[str, str], _Run] = {}

    def taken(self) -> list[ReadableSpan]:
        """Return the spans that have ended since the last call."""
        ended, self._ended.spans = self._ended.spans, []
        return ended

    def record(self, event: Event) -> None:
        """Fold one event; events outside a run in progress begin no trace."""
        if event.kind is EventKind.CLAIM:
            self._begin(event)
            return
        run = self._open.get((event.repository, event.run))
        if run is None:
            return
        match event.kind:
            case EventKind.PHASE:
                if event.phase != run.phase_name:
                    _close(run.phase, event.at)
                    run.phase_name, run.phase = event.phase, self._phase(run.root, event)
            case EventKind.LLM_CALL:
                self._call(run, event)
            case EventKind.TEST_RUN:
                self._add_span(
                    run, event, f"tests {event.data.get('place', '')}".strip(), _prefixed("tests", event.data)
                )
            case EventKind.CI:
                self._checks(run, event)
            case EventKind.ENDED:
                self._end(run, event)
            case _:
                told = self._attributes(_prefixed(str(event.kind), event.data))
                run.phase.add_event(str(event.kind), told, _nanoseconds(event.at))

    def _begin(self, event: Event) -> None:
        while len(self._open) >= MOST_RUNS:
            del self._open[next(iter(self._open))]
        about = {"repository": event.repository, "agent": event.agent, "role": str(event.role), "run": event.run}
        numbers = {"issue": event.issue or None, "pull_request": event.pull or None}
        attributes = _prefixed("", about | numbers) | _prefixed("claim", event.data)
        root = self._span(f"{event.role} run", event.at, attributes)
        self._open[event.repository, event.run] = _Run(root, event.phase, self._phase(root, event))

    def _phase(self, root: Span, event: Event) -> Span:
        return self._span(f"phase {event.phase}", event.at, {"workflow.phase": event.phase}, set_span_in_context(root))

    def _call(self, run: _Run, event: Event) -> None:
        """Add a call's span, by https://opentelemetry.io/docs/specs/semconv/gen-ai/: cached tokens are input tokens."""
        data = event.data
        cached, written = data.get("cached_tokens", 0), data.get("cache_write_tokens", 0)
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": _vendor(data.get("backend")),
            "gen_ai.agent.name": data.get("role"),
            "gen_ai.request.model": data.get("model") or None,
            "gen_ai.usage.input_tokens": data.get("input_tokens", 0) + cached + written,
            "gen_ai.usage.output_tokens": data.get("output_tokens", 0),
            "gen_ai.usage.cache_read.input_tokens": cached,
            "gen_ai.usage.cache_creation.input_tokens": written,
            **_prefixed("llm", {name: value for name, value in data.items() if not name.endswith("_tokens")}),
        }
        ending = data.get("ending", "")
        failed = "" if ending == "completed" else ending
        if failed:
            attributes["error.type"] = failed
        self._add_span(run, event, f"invoke_agent {data.get('role', '')}".strip(), attributes, failed)

    def _add_span(self, run: _Run, event: Event, name: str, attributes: Mapping[str, object], failed: str = "") -> None:
        """Add a span for an event that is recorded at its end, with its duration in seconds."""
        seconds = max(0.0, float(event.data.get("seconds", 0.0)))
        parent, kind = set_span_in_context(run.phase), SpanKind.CLIENT if event.kind is EventKind.LLM_CALL else None
        span = self._span(name, event.at, attributes, parent, seconds=seconds, kind=kind)
        _close(span, event.at, self._hide(failed))

    def _checks(self, run: _Run, event: Event) -> None:
        """Span the time from the first look at a commit without a CI verdict to the look that shows one."""
        commit, verdict = str(event.data.get("commit", "")), str(event.data.get("verdict", ""))
        told = _prefixed("ci", event.data)
        if verdict in _UNSETTLED:
            if commit not in run.waits:
                run.waits[commit] = self._span("wait for CI", event.at, told, set_span_in_context(run.root))
            return
        wait = run.waits.pop(commit, None)
        if wait is None:
            run.phase.add_event("ci", self._attributes(told), _nanoseconds(event.at))
        else:
            wait.set_attributes(self._attributes(told))
            _close(wait, event.at)

    def _end(self, run: _Run, event: Event) -> None:
        for span in (*run.waits.values(), run.phase):
            _close(span, event.at)
        status, sentence = str(event.data.get("status", "")), str(event.data.get("sentence", ""))
        run.root.set_attributes(self._attributes(_prefixed("", event.data)))
        _close(run.root, event.at, self._hide(sentence or status) if status in _FAILED else "")
        del self._open[event.repository, event.run]

    def _span(
        self,
        name: str,
        at: datetime,
        attributes: Mapping[str, object],
        parent: Context | None = None,
        *,
        seconds: float = 0.0,
        kind: SpanKind | None = None,
    ) -> Span:
        """Start a span `seconds` before `at`; without `parent` it is the root of its own trace."""
        return self._tracer.start_span(
            self._hide(name),
            parent if parent is not None else Context(),
            kind or SpanKind.INTERNAL,
            self._attributes(attributes),
            start_time=_nanoseconds(at) - round(seconds * 1_000_000_000),
        )

    def _attributes(self, data: Mapping[str, object]) -> dict[str, Value]:
        return {name: self._value(value) for name, value in data.items() if value is not None}

    def _value(self, value: object) -> Value:
        match value:
            case bool() | int() | float():
                return value
            case list() | tuple():
                return tuple(self._hide(str(item)) for item in value)
            case Mapping():
                return self._hide(json.dumps(value, default=str))
            case _:
                return self._hide(str(value))


def _vendor(backend: str | None) -> str | None:
    """Return a backend's vendor by the name that the conventions have for it."""
    spec = cli_spec(backend or "")
    return str(spec.protocol) if spec is not None else backend


def _prefixed(room: str, data: Mapping[str, Any]) -> dict[str, object]:
    """Prefix attributes of the engine's own, for which the conventions have no name."""
    return {f"workflow.{room}.{name}" if room else f"workflow.{name}": value for name, value in data.items()}


def _close(span: Span, at: datetime, failed: str = "") -> None:
    """End a span, never before its start, even if clocks disagree."""
    if failed:
        span.set_status(Status(StatusCode.ERROR, failed))
    begun = getattr(span, "start_time", None)  # a span that is not sampled has none
    span.end(max(_nanoseconds(at), begun or 0))


def _nanoseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000) * 1000
