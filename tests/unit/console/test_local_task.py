"""The texts about a task of `workflow-engine tdd`: its progress, its cost, its end."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fakes.clock import HandClock

from console.tdd import report
from console.tdd.inputs import Findings, changed, specification
from console.tdd.task import Records, State, Task, TaskRequest, TddOptions
from runtime.telemetry.cost import TaskCost, reckoned, spelled
from runtime.telemetry.progress import Progress, Watched
from runtime.telemetry.progress_text import doing, finished_text
from shared.budget.ledger_lines import Entry, Reservation, Settlement
from shared.errors import Misconfigured
from shared.telemetry.events import Event, EventKind
from shared.workflow import Role

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)
CHANGES = "Have it make these changes, with 3 reviews more: "
CALL: dict[str, Any] = {
    "call": "implement",
    "backend": "claude",
    "ending": "completed",
    "cost_usd": 0.5,
    "seconds": 61.0,
}


def event(kind: EventKind = EventKind.LLM_CALL, phase: str = "", **data: Any) -> Event:
    return Event(NOW, "worker", Role.WORKER, "local/x", kind, issue=1, phase=phase, data=data)


def order(**more: Any) -> TaskRequest:
    known = {"name": "local/x", "specification": "SPEC.md", "title": "Greet", "text": "Say hello.", "base": "main"}
    rest = {"commit": "c" * 40, "branch": "tdd/x", "max_reviews": 3, "cleanup": True, "pull_request": False}
    return TaskRequest(**{**known, **rest, **more})


def task(state: State = State.FAILED, place: str = "/", **more: Any) -> Task:
    return Task("greet-1a2b", "2026-11-22T10:00:00+00:00", place, order(), state, **more)


def run(name: str, usd: float | None, source: str = "reported") -> list[Entry]:
    begun = Reservation(name, "worker", "#1", 5.0, NOW + timedelta(hours=1), NOW)
    return [begun] if usd is None else [begun, Settlement(name, usd, source, NOW)]


def sums(events: list[Event], entries: list[Entry]) -> TaskCost:
    return reckoned(events, entries, now=NOW + timedelta(hours=2), unknown_run=15.0, seconds=90.04)


def test_a_call_of_unknown_cost_counts_as_configured_and_one_that_no_event_tells_counts_too() -> None:
    calls = [event(**CALL, input_tokens=10, cached_tokens=5, cache_write_tokens=1, output_tokens=7)]
    spent = sums(calls, [*run("a", 0.5), *run("b", 15.0, "unknown"), *run("c", None)])
    assert spent == TaskCost(3, 30.5, 2, 16, 7, 90.0)
    assert spelled(spent) == "3 calls, $30.50 (2 of them of unknown cost), 16 tokens in and 7 out, 1 min 30 s"


def test_without_a_ledger_events_say_what_was_spent_and_a_call_that_was_not_made_is_none() -> None:
    unpriced: dict[str, Any] = {key: value for key, value in CALL.items() if key != "cost_usd"}
    calls = [event(**CALL), event(**unpriced), event(**{**CALL, "ending": "not made"}), event(EventKind.REVIEW)]
    assert sums(calls, []) == TaskCost(2, 0.5, 1, 0, 0, 90.0)
    assert spelled(TaskCost(1, seconds=3725)) == "1 call, $0.00, 1 h 2 min"


@pytest.mark.parametrize(
    ("happened", "sentence"),
    [
        (event(**CALL), "  claude on the code: 1 min 1 s, $0.50"),
        (
            event(**{**CALL, "ending": "timed_out", "cost_usd": None}),
            "  claude on the code: timed out, 1 min 1 s, cost unknown",
        ),
        (event(**{**CALL, "ending": "not made"}), ""),
        (
            event(EventKind.TEST_RUN, place="evidence", passed=2, failed=1, not_collected=1),
            "  the tests: 2 passed, 1 failed, 1 not collected",
        ),
        (
            event(EventKind.TEST_RUN, place="evidence", purpose="damage", outcome="failed", failed=1),
            "  damaged code: the tests notice it",
        ),
        (
            event(EventKind.TEST_RUN, place="evidence", purpose="damage", number=3, of=12, outcome="passed", passed=1),
            "  damaged code 3 of at most 12: no test notices it",
        ),
        (
            event(EventKind.TEST_RUN, purpose="expectations", number=1, of=2, outcome="timed out"),
            "  damaged expectations 1 of at most 2: the tests notice it",
        ),
        (
            event(EventKind.TEST_RUN, place="moved", purpose="elsewhere", outcome="passed", passed=2),
            "  the tests in another place, order and time: 2 passed",
        ),
        (
            event(EventKind.TEST_RUN, purpose="taken back", outcome="failed", failed=1),
            "  the tests with a part of the change taken back: 1 failed",
        ),
        (event(EventKind.TEST_RUN, place="base", passed=0, failed=0), "  the tests before the work: none"),
        (event(EventKind.REVIEW, verdict="changes_requested", findings=1), "The review requests changes: 1 finding."),
        (event(EventKind.REVIEW, verdict="approved", findings=0), "The review approves."),
        (
            event(EventKind.RETRY, state="failed", reason="backoff", until="2026-11-27T08:30:05+00:00"),
            "GitHub, git or the coding backend did not answer as it should; it is tried again at 08:30:05 UTC.",
        ),
        (
            event(EventKind.RETRY, state="failed", reason="quota\x1b[2J"),
            "GitHub, git or the coding backend did not answer as it should (quota); it is tried again.",
        ),
        (event(EventKind.RETRY, state="succeeded"), ""),
        (event(EventKind.LABEL, labels=["status:testing"]), ""),
    ],
)
def test_what_has_been_done(happened: Event, sentence: str) -> None:
    assert finished_text(happened) == sentence


def test_what_has_begun() -> None:
    assert doing(event(EventKind.PHASE, "red")) == "Writing the tests."
    assert doing(event(EventKind.CLAIM, "in-review")) == "Reviewing."
    assert doing(event(EventKind.PHASE, "green", attempt=1), attempts=3) == "Writing the code (attempt 2 of 3)."
    assert (
        doing(event(EventKind.PHASE, "green", attempt=0), usd=0.04, attempts=3)
        == "Writing the code (attempt 1 of 3, $0.04)."
    )
    assert doing(event(EventKind.PHASE, "red", attempt=0), usd=0.04, attempts=3) == "Writing the tests ($0.04)."
    assert doing(event(EventKind.PHASE, "reviewing")) == doing(event(EventKind.LLM_CALL, "red")) == ""


@pytest.mark.parametrize(
    ("known", "code", "parts", "last"),
    [
        (task(), 1, ["It failed:", "It took 0 calls"], "Take it up again from what was built, with all attempts: "),
        (task(State.ROUNDS_USED_UP, reviews=5, before=2), 5, ["after 3 of 3"], CHANGES),
        (task(State.APPROVED), 1, ["not finished"], "Go on with: "),
    ],
)
def test_the_last_line_says_how_to_go_on(known: Task, code: int, parts: list[str], last: str) -> None:
    lines = report.ending_text(known)
    assert report.code_of(known) == code
    assert all(part in lines for part in parts)
    assert lines.splitlines()[-1] == f"{last}workflow-engine tdd --resume greet-1a2b"


def test_the_options_for_keys_that_are_named_are_told() -> None:
    failed = report.ending_text(task(sentence="Correct `test_command` or `setup_command` in the configuration file."))
    assert "the options --test-command and --setup-command, also with --resume." in failed
    assert "--setup-command" not in report.ending_text(task(sentence="No change was made."))


def test_nothing_is_offered_that_cannot_be_done(tmp_path: Path) -> None:
    assert "--resume" not in report.ending_text(task(place=str(tmp_path / "gone")))
    assert "--resume" not in report.ending_text(task(State.DONE))


def test_what_a_model_said_drives_no_terminal() -> None:
    assert "\x1b" not in report.ending_text(task(sentence="\x1b]0;x\x07It \x1b[31mbroke."))


def test_lists_and_objects_have_what_was_spent(tmp_path: Path) -> None:
    known = task(State.DONE, spent=TaskCost(4, 1.25, 1, 30, 20, 61.0))
    shown = json.loads(report.listed_as_json([known], Records(tmp_path)))["tasks"][0]
    assert (shown["calls"], shown["cost_usd"], shown["calls_of_unknown_cost"]) == (4, 1.25, 1)
    assert (shown["input_tokens"], shown["output_tokens"], shown["seconds"]) == (30, 20, 61.0)
    assert json.loads(report.as_json(known, Records(tmp_path), 0))["cost_usd"] == 1.25
    assert report.listed([known, task()]).splitlines() == [
        "greet-1a2b  2026-11-22T10:00  done    $1.25  Greet",
        "greet-1a2b  2026-11-22T10:00  failed  $0.00  Greet",
    ]


def test_a_record_from_before_there_were_sums_is_read(tmp_path: Path) -> None:
    records = Records(tmp_path)
    records.write(task())
    file = records.file("greet-1a2b")
    old = {key: value for key, value in json.loads(file.read_text()).items() if key not in {"spent", "before"}}
    file.write_text(json.dumps(old))
    assert records.read("greet-1a2b") == task()


def test_what_goes_on_is_asked_for_as_before_unless_it_is_said_anew(tmp_path: Path) -> None:
    begun = order(llm="claude", config="/etc/x.yml", pull_request=True)
    assert TddOptions(resume="x").changing(begun) == begun
    anew = TddOptions(
        resume="x",
        max_reviews=5,
        cleanup=False,
        local=True,
        llm="codex",
        test_command="make",
        setup_command="uv sync",
        sandbox="none",
    )
    assert anew.changing(begun) == replace(
        begun,
        max_reviews=5,
        cleanup=False,
        pull_request=False,
        llm="codex",
        test_command="make",
        setup_command="uv sync",
        sandbox="none",
    )


def test_a_kind_that_is_said_beside_the_file_stands_in_front_of_its_text(tmp_path: Path) -> None:
    file, found = tmp_path / "SPEC.md", Findings()
    file.write_text("# Greet\n\nSay hello.\n")
    assert specification(file, found, "refactoring") == ("Greet", "Kind: refactoring\n\nSay hello.")
    assert specification(file, found, "feature") == ("Greet", "Say hello.")
    file.write_text("# Greet\n\nSay hello.\n\nKind: refactoring\n")
    assert specification(file, found, "refactoring") == ("Greet", "Say hello.\n\nKind: refactoring")
    assert (found.errors, found.warnings) == ([], [])
    specification(file, found, "removal")
    assert "leave one of them out" in found.errors[0][0]


def test_what_is_not_understood_of_a_specification_is_a_warning(tmp_path: Path) -> None:
    file, found = tmp_path / "SPEC.md", Findings()
    file.write_text("Say hello.\n\nKind: docs\n")
    specification(file, found)
    assert found.warnings == [
        f"The specification {file}: 'Kind: docs' is ignored: there is no such kind; documentation is one."
    ]


def test_a_changed_specification_is_taken_and_a_lost_one_is_not_missed(tmp_path: Path) -> None:
    file, found = tmp_path / "SPEC.md", Findings()
    begun = order(file=str(file), kind="removal", text="Kind: removal\n\nSay hello.", title="SPEC")
    assert changed(begun, None, found) == begun
    file.write_text("Say hello.")
    assert changed(begun, None, found) == begun
    file.write_text("Say goodbye.")
    now = changed(begun, None, found)
    assert now == replace(begun, text="Kind: removal\n\nSay goodbye.")
    assert not now.asks_as(begun)
    assert (found.errors, found.warnings) == ([], [])
    file.write_text("")
    assert changed(begun, None, found) == begun
    assert found.warnings[-1].endswith("is empty: say in it what should be built. The text that the task has stays.")
    changed(begun, file, found)
    assert len(found.errors) == 1, "a file that is named has to be right"


def test_a_record_from_before_the_file_was_kept_looks_at_none() -> None:
    assert changed(order(), None, Findings()) == order()


@pytest.mark.parametrize("options", [TddOptions(resume="x", branch="y"), TddOptions(resume="x", base="y")])
def test_what_a_task_began_with_is_kept(options: TddOptions) -> None:
    with pytest.raises(Misconfigured, match="--resume keeps"):
        options.check()


def ci(agent: str, verdict: str, **data: Any) -> Event:
    return replace(event(EventKind.CI, "ci", verdict=verdict, commit="c" * 40, **data), agent=agent, pull=7)


def test_waiting_for_ci_is_told_with_what_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    """Two agents look at the same commit: each news is told once."""
    for here, line in ((True, "  0:00  Waiting for CI of pull request #7."), (False, None)):
        progress = Progress(HandClock(), ci=here)
        opened = replace(event(EventKind.PHASE, "ci", stage="testing"), pull=7)
        progress.follow([opened, ci("worker", "running", unfinished=["lint", "unit"])])
        progress.follow([ci("reviewer", "running", unfinished=["lint", "unit"]), ci("worker", "green")])
        said = capsys.readouterr().err.splitlines()
        assert said == [*filter(None, [line]), "  0:00    CI runs on #7: lint, unit", "  0:00    CI passed"]
    assert doing(event(EventKind.PHASE, "ci", stage="testing")) == "Opening a pull request, then waiting for its CI."


def test_that_all_agents_look_for_work_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(HandClock(), awaited=(Role.WORKER, Role.REVIEWER))
    started = event(EventKind.AGENT, state="started")
    progress.follow([started, started])
    assert capsys.readouterr().err == ""
    progress.follow([replace(started, role=Role.REVIEWER), started])
    assert capsys.readouterr().err == "  0:00  Looking for work.\n"


def test_several_items_are_told_by_their_numbers_each_beginning_once(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(HandClock(), attempts=3, numbered=True)
    first, second = (
        event(EventKind.PHASE, "green", attempt=0),
        replace(event(EventKind.PHASE, "green", attempt=0), issue=9),
    )
    spent = event(EventKind.LLM_CALL, "green", call="implement", backend="claude", ending="completed", cost_usd=0.5)
    again = event(EventKind.ITERATION, "green", attempt=1)
    ended = event(EventKind.ENDED, "reviewing", status="parked", sentence="waiting for CI")
    watched = Watched(progress)
    for one in (
        first,
        second,
        first,
        spent,
        again,
        ended,
        event(EventKind.CI, "testing", verdict="red", failed=["unit"]),
    ):
        watched.record(one)
    number = first.issue
    assert [line[8:] for line in capsys.readouterr().err.splitlines()] == [
        f"#{number}: Writing the code (attempt 1 of 3).",
        "#9: Writing the code (attempt 1 of 3).",
        f"#{number}: claude on the code: 0 s, $0.50",
        f"#{number}: Writing the code (attempt 2 of 3, $0.50).",
        f"#{number}: parked: waiting for CI",
        f"#{number}: CI failed (unit)",
    ]
