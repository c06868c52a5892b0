"""The report's figures: costs, rates, success for each role, and how they are told."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from report_scene import DONE, REVIEW, START, WORK, chain, item
from rich.console import Console

from console.report.command import document, shown
from console.report.figures import Cost, Facts, Figures, Resumed, figures
from console.report.item import Touch, WorkState, stories
from console.report.rework import Reason
from shared.budget.ledger_lines import Entry, Reservation, RunDetails, Settlement
from shared.lock.codec import ItemKey
from shared.workflow import Role, Stage, Track

UNTIL = START + timedelta(days=20)


def run(name: str, of: str, day: float, usd: float, details: RunDetails | None = None) -> list[Entry]:
    at = START + timedelta(days=day)
    return [
        Reservation(name, "worker", of, 5, at + timedelta(hours=1), at),
        Settlement(
            name, usd, "claude", at, RunDetails("developer", "claude", "completed") if details is None else details
        ),
    ]


def facts(**more: Any) -> Facts:
    return Facts(START - timedelta(days=1), UNTIL, **more)


def test_costs_are_the_ledgers_and_a_run_of_unknown_cost_counts_what_the_configuration_says() -> None:
    lost = Reservation("r4", "worker", "#8", 5, START + timedelta(hours=3), START + timedelta(hours=2))
    ledger = [*run("r0", "#7", -5, 1), *run("r1", "#7", 0, 2), *run("r2", "#1", 0, 3), *run("r3", "#7", 0, 4), lost]
    found = figures("a/b", facts(items=(item(),), ledger=ledger, notes={7: 99.0}), 15)
    assert found.cost == Cost("ledger", 24, 24, 7, 1)


@pytest.mark.parametrize(
    ("notes", "cost"),
    [({7: 1.5}, Cost("notes", 1.5, 1.5, 1.5)), ({7: None}, Cost("notes", None, None, None, 1))],
)
def test_without_a_ledger_costs_are_those_of_notes(notes: dict[int, float | None], cost: Cost) -> None:
    assert figures("a/b", facts(items=(item(),), notes=notes), 15).cost == cost


def test_success_is_counted_for_each_role_and_backend_where_its_ending_is_known() -> None:
    failed, unknown = RunDetails("developer", "codex", "timed_out"), RunDetails()
    ledger = [
        *run("r1", "#7", 0, 1),
        *run("r2", "#7", 0, 2),
        *run("r3", "#7", 0, 3, failed),
        *run("r4", "#7", 0, 4, unknown),
        *run("r5", "#7", -5, 5),
    ]
    found = figures("a/b", facts(items=(item(),), ledger=ledger), 15)
    assert [(c.role, c.backend, c.runs, c.completed, c.usd) for c in found.backend_runs] == [
        ("developer", "claude", 2, 2, 3),
        ("developer", "codex", 1, 0, 3),
    ]


def test_rates_are_of_what_was_merged_in_the_period() -> None:
    helped = item((*WORK, (40, DONE)), REVIEW, foreign=("f" * 40,))
    early = item(tuple((minutes - 90 * 1440, stage) for minutes, stage, *_ in (*WORK, (40, DONE))), ())
    halted = item((*WORK, (50, Stage.FAILED)), ())
    told = facts(items=(item(), helped, early, halted), rework={7: Reason.FIXED})
    found = figures("a/b", told, 15)
    assert (found.merged, found.zero_touch, found.zero_touch_rate) == (2, 1, 0.5)
    assert (found.touches, found.outcomes[WorkState.HALTED]) == ({Touch.COMMIT: 1}, 1)
    assert (found.rework_rate, found.rework, found.too_young) == (1.0, {Reason.FIXED: 2}, 0)
    assert (found.tries, found.tries_mean, found.lead_median_seconds) == ({1: 2}, 1.0, 2400)
    assert figures("a/b", Facts(told.since, START + timedelta(days=1), told.items), 15).too_young == 2


def test_time_in_stages_is_told_of_stories_as_well() -> None:
    key = ItemKey(Role.PLANNER, 1)
    planned = chain(key, (0, Stage.PLANNING), (4, Stage.AWAITING_APPROVAL), (64, Stage.SPECIFIED))
    found = figures("a/b", facts(items=(item(),), stories=stories({key: planned})), 15)
    spans = [(s.track, s.stage, s.items, s.median_seconds) for s in found.spells if s.track is Track.STORY]
    assert spans == [(Track.STORY, Stage.PLANNING, 1, 240), (Track.STORY, Stage.AWAITING_APPROVAL, 1, 3600)]


def printed(found: Figures, width: int = 80) -> str:
    out = StringIO()
    Console(file=out, width=width, force_terminal=False).print(shown(found))
    return out.getvalue()


def test_a_repository_in_which_nothing_happened_is_reported_without_rates() -> None:
    found = figures("a/b", facts(), 15)
    assert (found.zero_touch_rate, found.tries_mean, found.rework_rate) == (None, None, None)
    told = json.loads(document(found))
    assert (told["zero_touch"]["rate"], told["cost_usd"]["per_merged"], told["stages"]) == (None, None, [])
    assert "merged            0 (0 withdrawn, 0 halted, 0 open)" in printed(found)
    assert "zero touch        - [target: 70 % or more]" in printed(found)


def test_the_rungs_of_a_ladder_are_told_with_what_they_brought() -> None:
    rungs = [RunDetails("developer", "claude", "completed", f"{n} of 2: {model}") for n, model in ((1, "a"), (2, "b"))]
    ledger = [*run("r1", "#7", 0, 1, rungs[0]), *run("r2", "#7", 1, 4, rungs[1]), *run("r3", "#8", 2, 2, rungs[0])]
    found = figures("a/b", facts(items=(item(),), ledger=ledger), 15)
    assert [(one.rung, one.runs, one.merged, one.usd) for one in found.backend_runs] == [
        ("1 of 2: a", 2, 0, 3.0),
        ("2 of 2: b", 1, 1, 4.0),
    ]
    assert "developer, claude, rung 2 of 2: b" in printed(found)


def test_people_and_programs_are_told_the_same() -> None:
    ledger = [*run("r1", "#7", 0, 2), *run("r2", "#7", 0, 1, RunDetails("developer", "claude", "timed_out"))]
    found = figures("a/b", facts(items=(item(),), ledger=ledger, setbacks={"REGRESSION": 2}), 15)
    told = json.loads(document(found))
    assert told["version"] == 1
    assert told["zero_touch"] == {"items": 1, "rate": 1.0, "touches": {}}
    assert told["tries"] == {"mean": 1.0, "distribution": {"1": 1}}
    assert told["rework"] == {"rate": 0.0, "reasons": {}, "week_not_over": 0}
    assert told["cost_usd"] == {
        "source": "ledger",
        "total": 3.0,
        "per_merged": 3.0,
        "own_mean": 3.0,
        "unknown_runs": 0,
    }
    of = {"role": "developer", "backend": "claude", "rung": "", "merged": 1}
    one = of | {"runs": 2, "completed": 1, "rate": 0.5, "cost_usd": 3.0}
    assert told["runs"] == [one]
    text = printed(found)
    for line in (
        "100 % (1 of 1)",
        "1.00 on average; 1 in 1 item",
        "$3.00 per merged pull request (its own runs $3.00), $3.00 in",
        "REGRESSION 2",
        "1 (50 %)",
    ):
        assert line in text
    assert max(len(line) for line in text.splitlines()) <= 80


def test_runs_that_went_on_in_a_session_are_told_with_what_they_read_from_the_cache() -> None:
    warm, cold = (RunDetails("developer", "claude", "completed", resumed=tokens) for tokens in (70_000, 0))
    ledger = [
        *run("r1", "#7", 0, 1),
        *run("r2", "#7", 1, 1, warm),
        *run("r3", "#7", 2, 1, cold),
        *run("r4", "#7", -5, 1, warm),
    ]
    found = figures("a/b", facts(items=(item(),), ledger=ledger), 15)
    assert found.resumed == Resumed(2, 70_000)
    assert json.loads(document(found))["resumed"] == {"runs": 2, "cached_tokens": 70_000}
    assert "continued         2 runs, 70,000 tokens from the vendor's cache instead of anew" in printed(found)
    assert "continued" not in printed(figures("a/b", facts(items=(item(),), ledger=ledger[:2]), 15))
