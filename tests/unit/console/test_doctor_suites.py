"""The doctor's findings on a repository's tests: the suites that are run, those that are not, and keys to write."""

from __future__ import annotations

import pytest

from console.doctor.finding import Status
from console.doctor.suites import suites_finding
from worker_agent.policy import SuitePolicy

PYTHON = {"tests/test_a.py": b"", "pyproject.toml": b"[tool.pytest.ini_options]\n"}
VITEST = {"package.json": b'{"devDependencies": {"vitest": "1"}}', "a.test.ts": b""}


def below(directory: str, files: dict[str, bytes]) -> dict[str, bytes]:
    return {f"{directory}/{path}": content for path, content in files.items()}


def said(files: dict[str, bytes], *wanted: SuitePolicy) -> tuple[Status, str, str]:
    finding = suites_finding(wanted or (SuitePolicy(),), list(files), files.get, "o/r")
    assert (finding.subject, finding.where) == ("tests", "o/r")
    return finding.status, finding.sentence, finding.next_step


def test_one_suite_is_run_and_the_key_that_names_another_is_told() -> None:
    status, sentence, _ = said(PYTHON)
    assert status is Status.PASS
    assert sentence.startswith("Run: pytest in the root (`")
    assert sentence.endswith("For another command there is the key test_command.")
    assert said(PYTHON, SuitePolicy("", "pytest -q"))[:2] == (Status.PASS, "Run: pytest in the root (`pytest -q`).")


def test_suites_of_other_directories_are_named_with_the_key_that_has_them_run() -> None:
    files = {**PYTHON, **below("web", VITEST)}
    status, sentence, step = said(files)
    assert status is Status.WARN
    assert sentence.startswith("Run: pytest in the root")
    assert "Found as well, and not run: vitest in web (`" in sentence
    assert step == 'To run them where they lie, write suites: [{directory: ""}, {directory: web}].'
    status, sentence, step = said(files, SuitePolicy(""), SuitePolicy("web"))
    assert (status, step) == (Status.PASS, "")
    assert "Found as well" not in sentence
    assert said(files, SuitePolicy("web"))[0] is Status.PASS, "a person has chosen"


def test_without_tests_in_the_root_those_below_are_named() -> None:
    status, sentence, step = said(below("packages/web", VITEST))
    assert status is Status.FAIL
    assert "vitest in packages/web" in sentence
    assert step == "To run them where they lie, write working_directory: packages/web."
    _, _, step = said({**below("2d", VITEST), **below("web", VITEST)})
    assert step == 'To run them where they lie, write suites: [{directory: "2d"}, {directory: web}].'


def test_a_repository_without_tests_is_told_what_to_write() -> None:
    status, sentence, step = said({"README.md": b"", "main.c": b""})
    assert status is Status.FAIL
    assert sentence.startswith("No tests of a known runner (")
    assert step == "Write test_command and test_report, or add a first test; without tests nothing can be implemented."


@pytest.mark.parametrize(
    ("files", "step"),
    [({"main.c": b""}, "Correct working_directory, suites or"), (PYTHON, " Found are: pytest in the root (`")],
)
def test_a_command_that_cannot_be_run_fails(files: dict[str, bytes], step: str) -> None:
    status, sentence, told = said(files, SuitePolicy("", "make check"))
    assert status is Status.FAIL
    assert "test_command 'make check' calls no known test runner" in sentence
    assert step in told


def test_a_directory_that_is_called_as_a_word_of_yaml_is_quoted() -> None:
    _, _, step = said({**below("null", VITEST), **below("web", VITEST)})
    assert step == 'To run them where they lie, write suites: [{directory: "null"}, {directory: web}].'
