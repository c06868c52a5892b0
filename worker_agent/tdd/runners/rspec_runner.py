"""RSpec: its command and the reading of its JSON report (pure).

A file that cannot be loaded ends the whole run: the report then has no example, only the message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shared.errors import Misconfigured
from worker_agent.tdd.runners import command_line, control_ruby
from worker_agent.tdd.runners.cases import Case, Report
from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.runners.junit import ELEMENT_LIMIT, REPORT_LIMIT, stable
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.report import MESSAGE_LIMIT, CaseOutcome, FailureKind, TestId
from worker_agent.tdd.runners.runner import Invocation, Read

_OUTCOMES = {"passed": CaseOutcome.PASSED, "failed": CaseOutcome.FAILED, "pending": CaseOutcome.SKIPPED}
_LOADING = re.compile(r"An error occurred while loading (\S+?)\.(?:\s|$)")
_ASSERTED = re.compile(r"ExpectationNotMetError|MultipleExpectationsNotMet|MockExpectationError|Assertion")
_FAILED = 1
"""The exit code if a test failed; `--failure-exit-code` changes it, so it is given."""


class _Exception(BaseModel):
    model_config = ConfigDict(strict=True)

    class_: str = Field("", alias="class")
    message: str | None = None
    backtrace: list[str] | None = None


class _Example(BaseModel):
    model_config = ConfigDict(strict=True)

    full_description: str
    status: str | None = None
    file_path: str
    id: str = ""
    """The file that was run and the place in it; shared examples have the path of another file."""
    exception: _Exception | None = None


class _Summary(BaseModel):
    model_config = ConfigDict(strict=True)

    errors_outside_of_examples_count: int = 0


class _Whole(BaseModel):
    model_config = ConfigDict(strict=True)

    examples: list[_Example] = Field(max_length=ELEMENT_LIMIT)
    messages: list[str] = []
    summary: _Summary


class RspecRunner:
    """The runner of any command in which rspec is called by its name."""

    name = "rspec"

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """Return the command for `.rspec`, or files named like its own; with Bundler if a Gemfile names rspec."""
        found = ".rspec" in paths or any(path.startswith("spec/") and path.endswith("_spec.rb") for path in paths)
        bundled = b"rspec" in (read("Gemfile") or b"") or "Gemfile.lock" in paths
        return ("bundle exec rspec" if bundled else "rspec") if found else None

    def runs(self, argv: Sequence[str]) -> bool:
        """Return whether `rspec`, `bundle exec rspec` or `bin/rspec` is called."""
        return _position(argv) is not None

    def is_test_file(self, path: str) -> bool:
        """Return whether a file is `*_spec.rb`, `.rspec`, or below `spec`."""
        file = PurePosixPath(path)
        return file.name.endswith("_spec.rb") or file.name == ".rspec" or "spec" in file.parts[:-1]

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """Return `test_command` with the report, in one order, never stopped at the first failure."""
        argv = command_line.split(test_command)
        at = _position(argv)
        if at is None:
            raise Misconfigured(f"test_command '{test_command}' does not call rspec.")
        ours = ("--format", "json", "--out", str(call.report), "--no-fail-fast", "--no-color", "--order", "defined")
        exits = ("--failure-exit-code", str(_FAILED))
        if call.selection is None:
            return (*argv, *ours, *exits)
        options = [word for word in argv[at + 1 :] if not re.search(r"_spec\.rb|^(?:\./)?spec(?:/|$)", word)]
        files = sorted(path for path in call.selection.files if path.endswith(".rb"))
        return (*argv[: at + 1], *options, *ours, *exits, *files)

    def environment(self, call: Invocation) -> Mapping[str, str]:
        """Return the variable that leaves out the account's own options."""
        return {"SPEC_OPTS": ""}

    def reports(self, where: Path) -> Sequence[Path]:
        """Return no files: `command` names the one report."""
        return ()

    def read(self, data: bytes, project: Project) -> Report:
        """Read RSpec's JSON; files that were not loaded are in its messages."""
        if len(data) > REPORT_LIMIT:
            return Report(problem=f"the test report is larger than {REPORT_LIMIT // 2**20} MB")
        try:
            whole = _Whole.model_validate(json.loads(data.decode("utf-8", "replace")))
        except ValidationError as error:
            return Report(problem=f"the test report is not RSpec's: {error.errors()[0]['msg']}")
        except (ValueError, RecursionError) as error:
            return Report(problem=f"the test report is not JSON: {error}")
        if any(example.status not in _OUTCOMES for example in whole.examples):
            return Report(problem="the test run ended before its last example")
        examples = tuple(_case(example, project) for example in whole.examples)
        return Report((*examples, *_not_loaded(whole, project)))

    def unreported(self, reported: Sequence[Case], code: int, output_tail: str, call: Invocation) -> Report | None:
        """Return the other files of a run in which one could not be loaded: they were not run either."""
        lost = [case for case in reported if case.name == case.file]
        if not lost or len(lost) != len(reported) or call.selection is None:
            return None
        named = {case.file for case in lost}
        others = sorted(path for path in call.selection.files if path.endswith("_spec.rb") and path not in named)
        first = lost[0]
        return Report(tuple(Case(path, "", path, CaseOutcome.ERROR, first.message, first.text) for path in others))

    def identify(self, case: Case) -> tuple[TestId, str]:
        """Return an id like `spec/sum_spec.rb::Sum adds two numbers`, and the file."""
        return (case.file if case.name == case.file else f"{case.file}::{stable(case.name)}"), case.file

    def explain(self, case: Case) -> str:
        """Return the class and message of the error, then the place where it was raised."""
        return control_ruby.explained(case)

    def classify(self, case: Case, project: Project) -> FailureKind:
        """Return the kind: own constants, methods and files that are missing, apart from gems."""
        return control_ruby.kind(case, project)

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Return whether it reported examples, and its exit code agrees."""
        failed = any(case.outcome in {CaseOutcome.FAILED, CaseOutcome.ERROR} for case in cases)
        return code == (_FAILED if failed else 0)

    def asserted(self, case: Case) -> bool:
        """Return whether an expectation was not met."""
        return bool(_ASSERTED.search(case.error))

    def control(self, path: str, content: bytes, names: Sequence[str]) -> Control | None:
        """Return the file with control groups among its own."""
        return control_ruby.rspec(path, content, names) if path.endswith("_spec.rb") else None


def _position(argv: Sequence[str]) -> int | None:
    return next((at for at, word in enumerate(argv[:5]) if PurePosixPath(word).name == "rspec"), None)


def _case(example: _Example, project: Project) -> Case:
    error = example.exception or _Exception.model_validate({})
    message = control_ruby.steady(error.message or "").strip()
    text = "\n".join([message, *(error.backtrace or ())[:50]])
    outcome = _OUTCOMES[example.status or ""]
    file, name = project.below(example.id.partition("[")[0] or example.file_path), example.full_description
    return Case(name, "", file, outcome, message[:MESSAGE_LIMIT], text[:MESSAGE_LIMIT], error.class_)


def _not_loaded(whole: _Whole, project: Project) -> Iterator[Case]:
    for message in whole.messages if whole.summary.errors_outside_of_examples_count else ():
        found = _LOADING.search(message)
        if found:
            path, text = project.below(found[1]), control_ruby.steady(message)
            named = re.search(r"^(\w+(?:::\w+)*(?:Error|Exception)):\s*\n\s*(.*)$", text, re.MULTILINE)
            first = f"{named[1]}: {named[2]}\n" if named else ""
            yield Case(
                path, "", path, CaseOutcome.ERROR, f"{first}{text.strip()}"[:MESSAGE_LIMIT], text[-MESSAGE_LIMIT:]
            )
