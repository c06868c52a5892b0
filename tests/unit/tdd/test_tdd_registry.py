"""The choice of a runner for a repository, and the message if there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.errors import Misconfigured
from worker_agent.tdd.runners import command_line, registry
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.report_runner import ReportRunner
from worker_agent.tdd.runners.runner import Invocation
from worker_agent.tdd.runners.test_run import Case, CaseOutcome, FailureKind


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
        ("pytest -q \\\n  --tb=short\n", ("pytest", "-q", "--tb=short")),
        ("sh -c 'cd x\nmake'", ("sh", "-c", "cd x\nmake")),
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
        ("uv sync\nnpm ci\n", "test_command has several lines, 'uv sync' and more, but it is run without a shell"),
        ("cd x &&\n  make", "uses '&&'"),
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
    call = Invocation(Path("unused"), Project(Path("/w")))
    assert choice.runner.command(choice.test_command, call) == ("go-junit", "./...")


@pytest.mark.parametrize(
    ("command", "report", "sentence"),
    [
        ("make test", None, "test_command 'make test' calls no known test runner (pytest, vitest, jest, "),
        ("make test", "/abs/*.xml", "test_report '/abs/*.xml' is not a glob relative to the repository."),
        ("make test", "", "is not a glob"),
        (None, "out.xml", "No tests of a known runner (pytest, vitest, jest, "),
        (None, None, "No tests of a known runner (pytest, vitest, jest, "),
    ],
)
def test_a_person_is_told_what_to_set(command: str | None, report: str | None, sentence: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        registry.choose(command, report, ["main.c"], _nothing)
    assert sentence in str(refused.value)


def test_every_registered_runner_detects_nothing_in_an_empty_repository() -> None:
    assert [runner.detect([], _nothing) for runner in registry.RUNNERS] == [None] * len(registry.RUNNERS)


def test_a_plain_report_is_taken_at_its_word() -> None:
    runner = ReportRunner("*.xml")
    project = Project(Path("/w"))
    failed = Case("adds", "Sum", "sum.js", CaseOutcome.FAILED, "expected 2", "at sum.js:1")
    errored = Case("adds", "Sum", "", CaseOutcome.ERROR)
    assert runner.detect(["a.xml"], _nothing) is None
    assert runner.runs(("anything",))
    assert runner.identify(failed) == ("sum.js::Sum::adds", "sum.js")
    assert runner.identify(errored) == ("Sum::adds", "")
    assert runner.explain(failed) == "expected 2\nat sum.js:1"
    assert runner.classify(failed, project) is FailureKind.ASSERTION_OR_EXCEPTION
    assert runner.classify(errored, project) is FailureKind.OTHER


PASSED = Case("a", "", "a", CaseOutcome.PASSED)
FAILED = Case("b", "", "a", CaseOutcome.FAILED)


@pytest.mark.parametrize(
    ("code", "cases", "complete"),
    [
        (0, [PASSED], True),
        (0, [], False),
        (1, [], False),
        (1, [PASSED], False),
        (1, [FAILED], True),
        (0, [FAILED], True),
        (2, [PASSED, FAILED], True),
        (130, [FAILED] * 130, True),
        (127, [FAILED], False),
        (-9, [FAILED], False),
    ],
)
def test_a_plain_report_and_the_exit_code_say_the_same(code: int, cases: list[Case], complete: bool) -> None:
    assert ReportRunner("*.xml").complete(code, cases, "") is complete


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("python -m pytest", "pytest"),
        ("uv run python -m unittest -v", "unittest"),
        ("coverage run -m unittest discover", "unittest"),
        ("npx vitest run", "vitest"),
        ("node_modules/.bin/mocha --recursive", "mocha"),
        ("node --import tsx --test", "node --test"),
        ("vendor/bin/phpunit --testdox", "phpunit"),
        ("php vendor/bin/phpunit", "phpunit"),
        ("bundle exec rspec", "rspec"),
        ("bin/rspec", "rspec"),
        ("bundle exec rake test", "minitest"),
        ("bin/rails test", "minitest"),
        ("ruby -Itest test/sum_test.rb", "minitest"),
        ("dotnet test Acme.sln", "dotnet test"),
        ("bats test", "bats"),
        ("go test ./...", "go test"),
    ],
)
def test_each_runner_is_known_by_its_command(command: str, runner: str) -> None:
    assert registry.choose(command, None, [], _nothing).runner.name == runner


@pytest.mark.parametrize("command", ["npm run jest", "bun test", "ruby run.rb", "composer test", "npm test"])
def test_what_only_sounds_like_a_runner_is_none(command: str) -> None:
    with pytest.raises(Misconfigured):
        registry.choose(command, None, [], _nothing)


def test_configuration_may_name_test_files_otherwise() -> None:
    files = {"pyproject.toml": b'[tool.pytest.ini_options]\npython_files = ["check_*.py"]\naddopts = "-q"\n'}
    runner = registry.choose("pytest --doctest-glob=*.md", None, files, files.get).runner
    found = {path: runner.is_test_file(path) for path in ("a/check_b.py", "guide.md", "tests/test_a.py", "a/b.py")}
    assert found == {"a/check_b.py": True, "guide.md": True, "tests/test_a.py": True, "a/b.py": False}
