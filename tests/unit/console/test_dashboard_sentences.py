"""The dashboard's sentences: every reason to wait and every kind of event says something in words."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from console.dashboard.cards import ORDERS
from console.dashboard.sentences import ASKS, MOST, ORDER, asks, facts, sentence, waits
from console.status import waiting
from console.status.row import ItemRow, Waiting, Whom
from shared.ci.verdict import CiVerdict
from shared.commands.command import Verb
from shared.commands.command_rules import CommandRefused, ruling
from shared.telemetry.events import Event, EventKind
from shared.workflow import Role, Stage, Track
from shared.workflow.labels import Flag

NOW = datetime(2026, 11, 26, 8, 30, tzinfo=UTC)


def row(whom: Whom | None = None, why: str = "", until: datetime | None = None) -> ItemRow:
    told = None if whom is None else Waiting(whom, why, until)
    return ItemRow(Track.SPECIFICATION, 2, "Search", Stage.IMPLEMENTING, NOW - timedelta(minutes=9), waiting=told)


def test_every_fixed_reason_for_a_person_has_a_sentence_of_what_to_do() -> None:
    fixed = [*waiting.CONFIGURED.values(), *waiting._TOLD.values(), *waiting._PUT_OFF.values()]
    whys = {one.why for one in fixed if one.whom is Whom.PERSON} | set(waiting._FLAGS.values())
    assert {why for why in whys if why not in ASKS} == set()


@pytest.mark.parametrize("why", ["it has failed", *waiting._FLAGS.values()])
@pytest.mark.parametrize("track", list(Track))
def test_what_is_asked_of_a_failed_item_can_be_done_whatever_it_is(track: Track, why: str) -> None:
    named = {verb for verb in Verb if re.search(rf"(?<![\w-]){verb}(?![\w-])", ASKS[why])}
    assert [verb for verb in named if isinstance(ruling(verb, track, Stage.FAILED), CommandRefused)] == []


def test_no_step_names_a_label_that_a_repository_may_call_otherwise() -> None:
    assert [why for why, asked in ASKS.items() if "status:" in asked or "flag:" in asked] == []


@pytest.mark.parametrize(
    ("whom", "why", "asked"),
    [
        (Whom.PERSON, "the plan", ASKS["the plan"]),
        (Whom.PERSON, "take the label 'blocked' off", "Take the label 'blocked' off."),
        (Whom.CI, "its checks", ""),
        (None, "", ""),
    ],
)
def test_what_a_person_has_to_do_is_a_sentence(whom: Whom | None, why: str, asked: str) -> None:
    assert asks(row(whom, why)) == asked


@pytest.mark.parametrize(
    ("whom", "why", "until", "told"),
    [
        (Whom.CI, "its checks", None, "Waits for CI: its checks"),
        (Whom.WORKER, "an idle worker", None, "Waits for an idle worker"),
        (Whom.TIME, "backoff", NOW + timedelta(minutes=5), "Waits: backoff, until 08:35"),
        (Whom.TIME, "budget", NOW + timedelta(days=1), "Waits: budget, until 2026-11-27 08:30"),
        (Whom.PERSON, "the plan", None, ""),
        (None, "", None, ""),
    ],
)
def test_what_a_card_waits_for(whom: Whom | None, why: str, until: datetime | None, told: str) -> None:
    assert waits(row(whom, why, until), NOW) == told


def test_the_facts_of_a_row_in_one_line() -> None:
    one = ItemRow(
        *(Track.PULL_REQUEST, 3, "Search", Stage.IN_REVIEW, NOW - timedelta(minutes=9)),
        attempts=(2, 3),
        round=1,
        usd=1.5,
        ci=CiVerdict.RED,
        flags=(Flag.HAD_CONFLICT,),
    )
    told = "Pull request in review for 9m, attempt 2 of 3, review round 1, $1.50, CI red, flag had-conflict"
    assert facts(one, NOW) == told


def event(kind: EventKind, phase: str = "", **data: Any) -> Event:
    return Event(NOW, "worker-a", Role.WORKER, "ada/directory", kind, issue=7, phase=phase, data=data)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (event(EventKind.CLAIM, stage="ready", attempt=2), "Taken up at ready, attempt 2."),
        (event(EventKind.PHASE, "green", was="red"), "From red to green."),
        (event(EventKind.ITERATION, attempt=2), "Attempt 2 begins."),
        (event(EventKind.ITERATION, round=1), "Review round 1 begins."),
        (event(EventKind.ENDED, status="finished", sentence="Merged."), "Finished: Merged."),
        (event(EventKind.LOCK, event="won", before="worker-b"), "Got the lock, which worker-b held."),
        (
            event(EventKind.LABEL, number=7, change="added", labels=["status:ready"]),
            "Labels of #7: added status:ready.",
        ),
        (event(EventKind.TEST_RUN, passed=3, failed=1), "The tests: 3 passed, 1 failed."),
        (event(EventKind.CI, verdict="green"), "CI passed."),
        (event(EventKind.CI, verdict="running"), "CI is running."),
        (event(EventKind.REVIEW, verdict="approved"), "The review approves."),
        (event(EventKind.REVIEW, verdict="commented"), "The review says commented."),
        (event(EventKind.APPROVAL, what="plan", state="granted", by="ada"), "Approval of the plan is granted by ada."),
        (event(EventKind.COMMAND, command="/retry", by="ada", outcome="done"), "/retry by ada: done."),
        (
            event(EventKind.ESCALATION, category="ci_failed", sentence="CI is red."),
            "Handed to a person (ci failed): CI is red.",
        ),
        (event(EventKind.AGENT, state="no_room", reason="disk full"), "The agent: no room (disk full)."),
        (event(EventKind.PHASE_SLOW, "green"), "Green takes longer than usual."),
        (event(EventKind.RETRY, state="succeeded"), "A repeated call succeeded."),
    ],
)
def test_an_event_is_a_sentence(told: Event, said: str) -> None:
    assert sentence(told) == said


@pytest.mark.parametrize("kind", list(EventKind))
def test_whatever_an_event_holds_it_says_something_short_in_one_line(kind: EventKind) -> None:
    for data in (
        {},
        {"why": "x" * 999},
        {"sentence": "a\nb\u202e", "status": "failed", "state": 7, "labels": "no list"},
    ):
        said = sentence(event(kind, **data))
        assert 1 < len(said) <= MOST + 1
        assert said.isprintable()


def test_every_order_has_a_button_and_a_question() -> None:
    assert set(ORDER) == set(ORDERS)
