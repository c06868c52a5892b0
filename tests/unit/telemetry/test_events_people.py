"""Decisions of people as events: asked for once, not made in time once, and how long a merge was waited for."""

from __future__ import annotations

from datetime import timedelta

import pytest
from fakes.clock import HandClock
from telemetry_bench import AT, Kept, event, scribe_into

from runtime.telemetry.observed_people import ObservedSink
from shared.escalation.delivery import Escalation
from shared.telemetry.events import EventKind
from shared.telemetry.fold import Tallies
from shared.workflow import Role, Stage


class Sink:
    """A sink that keeps the escalations that were passed on."""

    def __init__(self) -> None:
        self.put_on: list[Escalation] = []

    def put(self, escalation: Escalation) -> None:
        self.put_on.append(escalation)


@pytest.mark.parametrize(
    ("role", "kind", "category", "told"),
    [
        (Role.PLANNER, "overdue", "approval", ["plan timed_out"]),
        (Role.WORKER, "overdue", "approval", ["refactoring timed_out"]),
        (Role.REVIEWER, "overdue", "approval", ["merge timed_out"]),
        (Role.REVIEWER, "approval", "approval", ["merge requested"]),
        pytest.param(Role.REVIEWER, "overdue", "held_up", [], id="no decision was asked for"),
        pytest.param(Role.PLANNER, "approval", "approval", [], id="a fence has told it already"),
        pytest.param(Role.WORKER, "failed", "ci", [], id="the agent has told it already"),
    ],
)
def test_a_decision_is_told_once_however_often_people_are_called(
    role: Role, kind: str, category: str, told: list[str]
) -> None:
    kept, sink = Kept(), Sink()
    observed = ObservedSink(sink, scribe_into(kept, HandClock()), role)
    escalation = Escalation("a/b", 9, "50", kind, "It waits.", "https://h/9", category=category)
    for _ in range(3):
        observed.put(escalation)
    assert [f"{one.data['what']} {one.data['state']}" for one in kept.events] == told
    assert sink.put_on == [escalation] * 3, "whoever delivers them tells repetitions apart"


def test_a_merge_that_was_waited_for_is_answered_by_the_merge_and_another_is_not() -> None:
    tallies = Tallies()
    for seconds, kind, phase, data in (
        (0, EventKind.APPROVAL, "approved", {"what": "merge", "state": "requested"}),
        (60, EventKind.PHASE, "in-review", {}),
        (600, EventKind.PHASE, Stage.DONE, {}),
        (700, EventKind.PHASE, Stage.DONE, {}),
    ):
        tallies.record(event(kind, at=AT + timedelta(seconds=seconds), issue=0, pull=9, phase=phase, data=data))
    (waited,) = tallies.durations["approval_response_time_seconds"].values()
    assert (sum(waited.classes), waited.total) == (1, 600)
