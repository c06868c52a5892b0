"""Which runner a repository gets, and what it says when there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.errors import Misconfigured
from worker_agent.tdd.runners import command_line, registry
from worker_agent.tdd.runners.junit import Case
from worker_agent.tdd.runners.report import Kind, Outcome
from worker_agent.tdd.runners.report_runner import ReportRunner


def _nothing(path: str) -> bytes | None:
    return None


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ("pytest -q", ("pytest", "-q")),
        ("'/opt/my tools/python' -m pytest", ("/opt/my tools/python", "-m", "pytest")),
        ('pytest -k "a and not b"', ("pytest", "-k", "a and not b")),
        (
            "pytest tests/test_a.py::TestC --tb=short -n=2 #1",
            ("pytest", "tests/test_a.py::TestC", "--tb=short", "-n=2", "#1"),
        ),
        ("A=1 B_2='x y' pytest", ("env", "A=1", "B_2=x y", "pytest")),
    ],
)
def test_a_command_is_split_like_a_shell_does(text: str, argv: tuple[str, ...]) -> None:
    assert command_line.split(text) == argv


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "test_command is empty."),
        ("   ", "test_command is empty."),
        ("pytest 'a", "No closing quotation"),
        ("cd x && pytest", "uses '&&', but it is run without a shell"),
        ("pytest | tee log", "uses '|'"),
        ("pytest>log", "uses '>'"),
        ("pytest; true", "uses ';'"),
    ],
)
def test_what_needs_a_shell_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        command_line.split(text)
    assert sentence in str(refused.value)


def test_a_configured_command_goes_to_the_runner_that_it_calls() -> None:
    choice = registry.choose("uv run pytest -q", "out/*.xml", [], _nothing)
    assert (choice.runner.name, choice.test_command) == ("pytest", "uv run pytest -q")


def test_without_a_command_the_runner_is_detected() -> None:
    choice = registry.choose(None, None, ["tests/test_a.py"], _nothing)
    assert (choice.runner.name, choice.test_command) == ("pytest", "python -m pytest -q")


def test_another_command_is_read_by_its_report() -> None:
    choice = registry.choose("go-junit ./...", "out/*.xml", ["tests/test_a.py"], _nothing)
    assert choice.runner == ReportRunner("out/*.xml")
    assert choice.runner.command(choice.test_command, Path("unused")) == ("go-junit", "./...")


@pytest.mark.parametrize(
    ("command", "report", "sentence"),
    [
        ("make test", None, "test_command 'make test' calls no known test runner (pytest, vitest, jest)"),
        ("make test", "/abs/*.xml", "test_report '/abs/*.xml' is not a glob relative to the repository."),
        ("make test", "", "is not a glob"),
        (None, "out.xml", "No tests of a known runner (pytest, vitest, jest) were found: set test_command"),
        (None, None, "No tests of a known runner (pytest, vitest, jest) were found: set test_command"),
    ],
)
def test_a_person_is_told_what_to_set(command: str | None, report: str | None, sentence: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        registry.choose(command, report, ["main.go"], _nothing)
    assert sentence in str(refused.value)


def test_every_registered_runner_detects_nothing_in_an_empty_repository() -> None:
    assert [runner.detect([], _nothing) for runner in registry.RUNNERS] == [None] * len(registry.RUNNERS)


def test_a_plain_report_is_taken_at_its_word() -> None:
    runner = ReportRunner("*.xml")
    failed = Case("adds", "Sum", "sum.js", Outcome.FAILED, "expected 2", "at sum.js:1")
    errored = Case("adds", "Sum", "", Outcome.ERROR)
    assert runner.detect(["a.xml"], _nothing) is None
    assert runner.runs(("anything",))
    assert runner.identify(failed) == ("sum.js::Sum::adds", "sum.js")
    assert runner.identify(errored) == ("Sum::adds", "")
    assert runner.explain(failed) == "expected 2\nat sum.js:1"
    assert runner.classify(failed, ()) is Kind.ASSERTION_OR_EXCEPTION
    assert runner.classify(errored, ()) is Kind.OTHER


@pytest.mark.parametrize(
    ("code", "complete"), [(0, True), (1, True), (2, True), (127, False), (137, False), (-9, False)]
)
def test_a_plain_report_counts_unless_the_command_never_ran_or_was_killed(code: int, complete: bool) -> None:
    assert ReportRunner("*.xml").complete(code, (), "") is complete
