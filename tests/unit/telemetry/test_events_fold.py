"""Fences into events, events into figures, figures into Prometheus' text."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fakes.clock import HandClock
from prometheus_client.parser import text_string_to_metric_families
from telemetry_bench import AT, event

from runtime.telemetry.observed_port import moves
from shared.github.limits import RateLimit
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, Wait
from shared.telemetry.event_log import NoEventLog
from shared.telemetry.event_recorder import phase_of
from shared.telemetry.events import EventKind
from shared.telemetry.fold import COUNTERS, DURATIONS, MOST_SERIES, Tallies
from shared.telemetry.health_state import HealthState
from shared.telemetry.metrics import PREFIX, Figures, new_name
from shared.workflow import Role, Stage

NONCE = "0" * 32
READY = Fence(ItemKey(Role.WORKER, 7), 50, NONCE, "worker-a", Stage.IMPLEMENTING, AT, phase="red")


@pytest.mark.parametrize(
    ("before", "changes", "told"),
    [
        pytest.param(None, {}, {"lock", "claim", "phase"}, id="the first claim"),
        pytest.param(READY, {"nonce": "1" * 32}, {"lock", "claim"}, id="the next epoch goes on"),
        pytest.param(READY, {"phase": "green"}, {"phase"}, id="a phase is done"),
        pytest.param(READY, {"released": NONCE}, {"lock"}, id="let go of"),
        pytest.param(READY, {"paid_runs": 1}, set(), id="a run is begun"),
        pytest.param(READY, {"attempt": 1}, {"iteration"}, id="another try"),
        pytest.param(READY, {"round": 1, "phase": "feedback"}, {"phase", "iteration"}, id="another round"),
        pytest.param(READY, {"failures": "transient=1"}, {"retry"}, id="a run failed"),
        pytest.param(READY, {"stage": Stage.AWAITING_APPROVAL}, {"phase", "approval"}, id="asked for approval"),
    ],
)
def test_what_a_move_of_a_fence_means(before: Fence | None, changes: dict[str, Any], told: set[str]) -> None:
    assert {str(kind) for kind, _ in moves(before, replace(READY, **changes))} == told


@pytest.mark.parametrize(
    ("before", "after", "state"),
    [
        ({}, {"stage": Stage.AWAITING_APPROVAL}, "requested"),
        ({"stage": Stage.AWAITING_APPROVAL}, {"phase": "create", "approved_by": "ada"}, "granted"),
        ({"stage": Stage.AWAITING_APPROVAL}, {"stage": Stage.TESTING}, "granted"),
        ({"stage": Stage.AWAITING_APPROVAL}, {"stage": Stage.PLANNING}, "sent back"),
        ({"stage": Stage.AWAITING_APPROVAL, "approved_by": "ada"}, {"stage": Stage.SPECIFIED}, None),
        ({"stage": Stage.FAILED}, {"stage": Stage.READY, "approved_by": "/retry by ada in comment 9"}, None),
        ({"approved_by": "ada"}, {"approved_by": "/retry by ada in comment 9"}, None),
        ({"approved_by": "/retry by ada in comment 9"}, {"approved_by": "ada in comment 12"}, "granted"),
        (
            {"stage": Stage.AWAITING_APPROVAL, "approved_by": "/retry by ada in comment 9"},
            {"stage": Stage.TESTING},
            "granted",
        ),
    ],
)
def test_an_approval_is_told_once(before: dict[str, Any], after: dict[str, Any], state: str | None) -> None:
    first = replace(READY, **before)
    said = [data["state"] for kind, data in moves(first, replace(first, **after)) if kind is EventKind.APPROVAL]
    assert said == ([] if state is None else [state])


def test_a_repetition_that_helped_is_told_with_the_phase_that_it_helped_with() -> None:
    failed = replace(READY, failures="transient=1", wait=Wait("backoff", AT))
    achieved = replace(failed, phase="green", failures="", wait=None)
    assert dict(moves(READY, failed))[EventKind.RETRY]["reason"] == "backoff"
    assert dict(moves(failed, achieved))[EventKind.RETRY] == {"state": "succeeded", "phase": "red"}


@pytest.mark.parametrize(
    ("stage", "phase", "shown"),
    [
        (Stage.IMPLEMENTING, "red", "red"),
        (Stage.REVIEWING, "", "reviewing"),
        (Stage.FAILED, "red", "failed"),
        (Stage.AWAITING_APPROVAL, "draft", "awaiting-approval"),
    ],
)
def test_the_phase_of_an_event_is_where_the_item_is(stage: Stage, phase: str, shown: str) -> None:
    assert phase_of(replace(READY, stage=stage, phase=phase)) == shown


def life() -> list[tuple[float, EventKind, str, dict[str, Any]]]:
    """Return seconds after the start, kind, phase and data of each event of one run of a worker."""
    call = {"role": "developer", "backend": "claude", "model": "opus", "ending": "completed", "seconds": 30.0}
    return [
        (0, EventKind.CLAIM, "red", {"stage": "implementing"}),
        (0, EventKind.LLM_CALL, "red", {**call, "input_tokens": 100, "cost_usd": 0.25, "cost_source": "cli"}),
        (10, EventKind.LLM_CALL, "red", {**call, "ending": "transient", "cost_usd": None}),
        (20, EventKind.RETRY, "red", {"state": "failed"}),
        (60, EventKind.RETRY, "green", {"state": "succeeded", "phase": "red"}),
        (60, EventKind.PHASE, "green", {}),
        (90, EventKind.TEST_RUN, "green", {"outcome": "passed"}),
        (100, EventKind.CI, "ci", {"verdict": "green"}),
        (100, EventKind.REVIEW, "ci", {"verdict": "approved"}),
        (100, EventKind.COMMAND, "ci", {"command": "retry", "outcome": "obeyed"}),
        (100, EventKind.LABEL, "ci", {"change": "added"}),
        (100, EventKind.LOCK, "ci", {"event": "won"}),
        (100, EventKind.ITERATION, "ci", {}),
        (100, EventKind.APPROVAL, "ci", {"what": "merge", "state": "requested"}),
        (150, EventKind.APPROVAL, "ci", {"what": "merge", "state": "timed_out"}),
        (400, EventKind.APPROVAL, "ci", {"what": "merge", "state": "granted"}),
        (400, EventKind.ESCALATION, "ci", {"category": "transient", "retried": True}),
        (400, EventKind.PHASE_SLOW, "ci", {"seconds": 300.0, "usual_seconds": 100.0}),
        (400, EventKind.ENDED, "ci", {"status": "handed over"}),
        (400, EventKind.AGENT, "", {"state": "drained"}),
    ]


def told() -> Tallies:
    tallies = Tallies()
    for seconds, kind, phase, data in life():
        tallies.record(event(kind, at=AT + timedelta(seconds=seconds), phase=phase, data=data))
    return tallies


def samples(tallies: Tallies, health: HealthState | None = None) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    figures = Figures("worker-a", Role.WORKER, tallies, health or HealthState(HandClock()), NoEventLog())
    families = text_string_to_metric_families(figures.text().decode())
    return {(s.name, frozenset(s.labels.items())): s.value for family in families for s in family.samples}


def value(found: dict[tuple[str, frozenset[tuple[str, str]]], float], name: str, **labels: str) -> float:
    fitting = [v for (n, told), v in found.items() if n == name and frozenset(labels.items()) <= told]
    return sum(fitting) if fitting else float("nan")


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("workflow_started_total", {"kind": "worker", "repository": "a/b"}, 1),
        ("workflow_completed_total", {"status": "handed over"}, 1),
        ("workflow_duration_seconds_sum", {"kind": "worker"}, 400),
        ("workflow_phase_duration_seconds_sum", {"phase": "red"}, 60),
        ("workflow_phase_duration_seconds_sum", {"phase": "green"}, 340),
        ("agent_tasks_assigned_total", {"role": "developer"}, 2),
        ("agent_task_success_ratio", {"role": "developer"}, 0.5),
        ("llm_tokens_total", {"model": "opus", "type": "input"}, 100),
        ("llm_cost_usd_total", {"source": "cli"}, 0.25),
        ("llm_calls_unpriced_total", {"backend": "claude"}, 1),
        ("llm_call_duration_seconds_count", {"role": "developer"}, 2),
        ("retry_attempt_total", {"phase": "red"}, 1),
        ("retry_success_total", {"phase": "red"}, 1),
        ("retry_escalation_total", {"phase": "ci"}, 1),
        ("approval_requested_total", {"kind": "merge"}, 1),
        ("approval_timeout_total", {"kind": "merge"}, 1),
        ("approval_response_time_seconds_sum", {"kind": "merge"}, 300),
        ("escalations_total", {"category": "transient"}, 1),
        ("agent_states_total", {"state": "drained"}, 1),
        ("phases_slow_total", {"kind": "worker", "phase": "ci"}, 1),
        ("agent_online", {"agent": "worker-a"}, 0),
    ],
)
def test_a_run_in_figures(name: str, labels: dict[str, str], expected: float) -> None:
    found = samples(told())
    assert value(found, new_name(name), **labels) == expected
    assert value(found, name, **labels) == expected, "the old name stays for one version"


def test_every_figure_has_the_engine_s_prefix_and_its_old_name_says_so() -> None:
    text = Figures("worker-a", Role.WORKER, told(), HealthState(HandClock()), NoEventLog()).text().decode()
    families = {family.name: family.documentation for family in text_string_to_metric_families(text)}
    new = {name for name in families if name.startswith(PREFIX)}
    old = families.keys() - new
    assert {new_name(name) for name in old} == new
    assert len(old) == len(new) > 30
    assert all(families[name] == f"Old name of {new_name(name)}." for name in old)


def test_every_figure_counts_something_in_a_run_that_has_everything() -> None:
    tallies = told()
    assert [name for name in COUNTERS if not tallies.counters[name]] == []
    assert [name for name in DURATIONS if not tallies.durations[name]] == []


def test_classes_of_durations_hold_all_shorter_ones() -> None:
    found = samples(told())
    below = [value(found, "workflow_phase_duration_seconds_bucket", phase="green", le=le) for le in ("300.0", "900.0")]
    assert below == [0, 1]
    assert value(found, "workflow_phase_duration_seconds_bucket", phase="green", le="+Inf") == 1


def test_what_others_invent_cannot_fill_the_memory() -> None:
    tallies = Tallies()
    for number in range(MOST_SERIES + 50):
        tallies.record(event(EventKind.COMMAND, data={"command": f"c{number}"}))
    assert len(tallies.counters["commands"]) == MOST_SERIES + 1
    assert value(samples(tallies), "commands_total", command="other") == 50


def test_vitals_are_read_when_they_are_asked_for() -> None:
    health = HealthState(HandClock())
    health.rate_limits["a/b"] = lambda: RateLimit(5000, 4321, datetime(2026, 1, 1, tzinfo=UTC))
    health.rate_limits["a/unasked"] = lambda: None
    health.queues["a/b"] = lambda: {"ready": 3, "testing": 0}
    health.share, health.aside = lambda: 0.25, {"a/bad": "It is archived."}
    found = samples(Tallies(), health)
    assert value(found, "github_write_share") == 0.25
    assert value(found, "repository_set_aside", repository="a/bad") == 1
    assert value(found, "github_budget_remaining", repository="a/b") == 4321
    assert value(found, "queue_depth", stage="ready") == 3
    assert not any(("repository", "a/unasked") in labels for _, labels in found)
