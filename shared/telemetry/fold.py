"""Figures computed from events: counters and durations by label, from which `/metrics` is printed (pure)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from shared.newest import Newest
from shared.telemetry.events import Event, EventKind
from shared.workflow import Stage

Labels = tuple[tuple[str, str], ...]

SECONDS = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 1800.0, 3600.0, 4 * 3600.0, 24 * 3600.0)
"""Upper bounds, in seconds, of the histogram buckets of every duration."""

MOST_SERIES = 500
"""Label combinations per figure, at most; further ones are counted under `other`."""

COUNTERS: Mapping[str, str] = {
    "workflow_started": "Runs that agents began: an item claimed.",
    "workflow_completed": "Runs that ended, by how.",
    "agent_tasks_assigned": "Calls of a coding backend, by the role that made them.",
    "approval_requested": "Approvals that people were asked for.",
    "approval_timeout": "Approvals that were escalated because nobody answered.",
    "retry_attempt": "Failed paid runs that are repeated.",
    "retry_success": "Phases that were achieved after at least one repetition.",
    "retry_escalation": "Items handed to a person after repetitions.",
    "llm_calls": "Calls of a coding backend, by how they ended.",
    "llm_tokens": "Tokens, by what they were.",
    "llm_cost_usd": "US dollars, by who says so; calls of unknown cost are in llm_calls_unpriced.",
    "llm_calls_unpriced": "Calls whose cost nobody knows.",
    "lock_events": "What was done with locks.",
    "label_changes": "Labels set and taken off.",
    "test_runs": "Runs of a repository's tests, by how they ended.",
    "ci_verdicts": "What CI said of a commit, each change once.",
    "reviews": "Reviews that were submitted.",
    "escalations": "Items handed to a person.",
    "commands": "Commands that people gave.",
    "iterations": "Implementation tries and review rounds that were begun.",
    "agent_states": "What befell an agent process: started, paused, resumed, drained, stopped and the like.",
    "phases_slow": "Phases that took twice as long as usual.",
}

DURATIONS: Mapping[str, str] = {
    "workflow_duration_seconds": "From a claim to the end of its run.",
    "workflow_phase_duration_seconds": "How long an item stood in one phase while an agent held it.",
    "approval_response_time_seconds": "From asking for an approval to its answer.",
    "llm_call_duration_seconds": "How long a call of a coding backend took.",
}


@dataclass(slots=True)
class Durations:
    """A histogram: the number of durations in each bucket of `SECONDS` (one more for longer ones), and their sum."""

    classes: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Add one duration; negative ones, from clocks that disagree, count as 0."""
        seconds = max(0.0, seconds)
        self.classes[bisect_left(SECONDS, seconds)] += 1
        self.total += seconds


@dataclass(slots=True)
class _Open:
    """A run that has not ended: its start, its current phase, and the start of that."""

    since: datetime
    phase: str
    phase_since: datetime


class Tallies:
    """The figures of one process since it started, from its own events only."""

    def __init__(self) -> None:
        self.counters: dict[str, dict[Labels, float]] = {name: {} for name in COUNTERS}
        self.durations: dict[str, dict[Labels, Durations]] = {name: {} for name in DURATIONS}
        self.tasks: dict[str, tuple[int, int]] = {}
        """Role -> number of calls, and of those completed."""
        self._open: Newest[tuple[str, str], _Open] = Newest()
        self._asked: Newest[tuple[str, int, int, str], datetime] = Newest()
        self._folds: Mapping[EventKind, Callable[[Event, Mapping[str, Any]], None]] = {
            EventKind.CLAIM: self._fold_claim,
            EventKind.ENDED: self._fold_ended,
            EventKind.PHASE: self._fold_phase,
            EventKind.LOCK: lambda e, d: self._count("lock_events", event=d.get("event", "")),
            EventKind.LABEL: lambda e, d: self._count("label_changes", change=d.get("change", "")),
            EventKind.LLM_CALL: self._fold_call,
            EventKind.TEST_RUN: lambda e, d: self._count("test_runs", outcome=d.get("outcome", "")),
            EventKind.CI: lambda e, d: self._count(
                "ci_verdicts", repository=e.repository, verdict=d.get("verdict", "")
            ),
            EventKind.REVIEW: lambda e, d: self._count(
                "reviews", repository=e.repository, verdict=d.get("verdict", "")
            ),
            EventKind.APPROVAL: self._fold_approval,
            EventKind.COMMAND: lambda e, d: self._count("commands", command=d.get("command", "")),
            EventKind.ESCALATION: self._fold_escalation,
            EventKind.ITERATION: lambda e, d: self._count("iterations", repository=e.repository, kind=e.role),
            EventKind.RETRY: self._fold_retry,
            EventKind.AGENT: lambda e, d: self._count("agent_states", state=d.get("state", "")),
            EventKind.PHASE_SLOW: lambda e, d: self._count("phases_slow", kind=e.role, phase=e.phase),
        }

    def record(self, event: Event) -> None:
        """Count one event."""
        self._folds[event.kind](event, event.data)

    def _count(self, name: str, by: float = 1, **labels: object) -> None:
        series = self.counters[name]
        key = _key(series, labels)
        series[key] = series.get(key, 0.0) + by

    def _add_duration(self, name: str, seconds: float, **labels: object) -> None:
        series = self.durations[name]
        series.setdefault(_key(series, labels), Durations()).add(seconds)

    def _fold_claim(self, event: Event, data: Mapping[str, Any]) -> None:
        self._count("workflow_started", repository=event.repository, kind=event.role)
        self._open[event.repository, event.run] = _Open(event.at, event.phase, event.at)

    def _fold_phase(self, event: Event, data: Mapping[str, Any]) -> None:
        if event.phase == Stage.DONE:  # of a merge at the button nobody's word is told
            self._close_approval(event, "merge")
        known = self._open.get((event.repository, event.run))
        if known is not None and known.phase != event.phase:
            self._leave(known, event)
            known.phase, known.phase_since = event.phase, event.at

    def _fold_ended(self, event: Event, data: Mapping[str, Any]) -> None:
        self._count(
            "workflow_completed", repository=event.repository, kind=event.role, status=data.get("status", "unknown")
        )
        known = self._open.pop((event.repository, event.run), None)
        if known is not None:
            self._leave(known, event)
            self._add_duration("workflow_duration_seconds", (event.at - known.since).total_seconds(), kind=event.role)

    def _leave(self, workflow: _Open, event: Event) -> None:
        seconds = (event.at - workflow.phase_since).total_seconds()
        self._add_duration("workflow_phase_duration_seconds", seconds, kind=event.role, phase=workflow.phase)

    def _fold_call(self, event: Event, data: Mapping[str, Any]) -> None:
        role, ending, model = data.get("role", ""), data.get("ending", ""), data.get("model") or "unknown"
        backend, usd = data.get("backend", ""), data.get("cost_usd")
        self._count("agent_tasks_assigned", role=role)
        calls, completed = self.tasks.get(role, (0, 0))
        self.tasks[role] = calls + 1, completed + (ending == "completed")
        self._count("llm_calls", backend=backend, role=role, ending=ending)
        self._add_duration("llm_call_duration_seconds", data.get("seconds", 0.0), backend=backend, role=role)
        for kind in ("input", "output", "cached", "cache_write"):
            if tokens := data.get(f"{kind}_tokens", 0):
                self._count("llm_tokens", tokens, backend=backend, model=model, type=kind)
        if usd is None:
            self._count("llm_calls_unpriced", backend=backend, model=model)
        else:
            self._count("llm_cost_usd", usd, backend=backend, model=model, source=data.get("cost_source", "unknown"))

    def _fold_approval(self, event: Event, data: Mapping[str, Any]) -> None:
        kind, state = data.get("what", ""), data.get("state", "")
        if state == "requested":
            self._count("approval_requested", kind=kind)
            self._asked[event.repository, event.issue, event.pull, kind] = event.at
        elif state == "timed_out":
            self._count("approval_timeout", kind=kind)
        else:
            self._close_approval(event, kind)

    def _close_approval(self, event: Event, kind: str) -> None:
        asked = self._asked.pop((event.repository, event.issue, event.pull, kind), None)
        if asked is not None:
            self._add_duration("approval_response_time_seconds", (event.at - asked).total_seconds(), kind=kind)

    def _fold_escalation(self, event: Event, data: Mapping[str, Any]) -> None:
        self._count("escalations", repository=event.repository, category=data.get("category", ""))
        if data.get("retried"):
            self._count("retry_escalation", phase=event.phase)

    def _fold_retry(self, event: Event, data: Mapping[str, Any]) -> None:
        name = "retry_success" if data.get("state") == "succeeded" else "retry_attempt"
        self._count(name, phase=data.get("phase") or event.phase)


def _key(series: Mapping[Labels, object], labels: Mapping[str, object]) -> Labels:
    key = tuple((name, str(value)) for name, value in labels.items())
    return key if key in series or len(series) < MOST_SERIES else tuple((name, "other") for name in labels)
