"""RSpec: its command and the reading of its JSON report (pure).

A file that cannot be loaded ends the whole run: the report then has no example, only the message.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from pydantic import Field

from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.runners.json_report import StrictModel, document
from worker_agent.tdd.runners.junit import ELEMENT_LIMIT
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.ruby_runner import RubyRunner, rspec_control, without_addresses
from worker_agent.tdd.runners.runner import Invocation, Read
from worker_agent.tdd.runners.test_run import MESSAGE_LIMIT, Case, CaseOutcome, Report

_OUTCOMES = {"passed": CaseOutcome.PASSED, "failed": CaseOutcome.FAILED, "pending": CaseOutcome.SKIPPED}
_LOADING = re.compile(r"An error occurred while loading (\S+?)\.(?:\s|$)")
_ASSERTED = re.compile(r"ExpectationNotMetError|MultipleExpectationsNotMet|MockExpectationError|Assertion")
_TAKES_VALUE = re.compile(
    r"-[IrOPfoeEt]|--(?:require|options|order|seed|failure-exit-code|error-exit-code|drb-port|format|out|deprecation-out"
    r"|pattern|exclude-pattern|example|example-matches|tag|default-path)"
)
"""Options that take the next word, which may look like specs."""

_FAILED = 1
"""The exit code if a test failed; `--failure-exit-code` changes it, so it is given."""


class _Exception(StrictModel):
    class_: str = Field("", alias="class")
    message: str | None = None
    backtrace: list[str] | None = None


class _Example(StrictModel):
    full_description: str
    status: str | None = None
    file_path: str
    id: str = ""
    """The file that was run and the place in it; shared examples have the path of another file."""
    exception: _Exception | None = None


class _Summary(StrictModel):
    errors_outside_of_examples_count: int = 0


class _Whole(StrictModel):
    examples: list[_Example] = Field(max_length=ELEMENT_LIMIT)
    messages: list[str] = Field(default=[])
    summary: _Summary


class RspecRunner(RubyRunner):
    """The runner of any command with rspec; an id is like `spec/sum_spec.rb::Sum adds two numbers`."""

    name = "rspec"

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """Return the command for `.rspec`, or files named like its own; with Bundler if a Gemfile names rspec."""
        found = ".rspec" in paths or any(path.startswith("spec/") and path.endswith("_spec.rb") for path in paths)
        bundled = b"rspec" in (read("Gemfile") or b"") or "Gemfile.lock" in paths
        return ("bundle exec rspec" if bundled else "rspec") if found else None

    def position(self, argv: Sequence[str]) -> int | None:
        """Return the index of `rspec`, `bin/rspec` or the `rspec` of `bundle exec rspec`."""
        return next((at for at, word in enumerate(argv[:5]) if PurePosixPath(word).name == "rspec"), None)

    def is_test_file(self, path: str) -> bool:
        """Return whether a file is `*_spec.rb`, `.rspec`, or below `spec`."""
        file = PurePosixPath(path)
        return file.name.endswith("_spec.rb") or file.name == ".rspec" or "spec" in file.parts[:-1]

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """Return `test_command` with the report, in one order, never stopped at the first failure."""
        argv, at = self.split(test_command)
        ours = ("--format", "json", "--out", str(call.report), "--no-fail-fast", "--no-color", "--order", "defined")
        exits = ("--failure-exit-code", str(_FAILED))
        if call.selection is None:
            return (*argv, *ours, *exits)
        options = _options(argv[at + 1 :])
        files = sorted(path for path in call.selection.files if path.endswith(".rb"))
        return (*argv[: at + 1], *options, *ours, *exits, *files)

    def environment(self, call: Invocation) -> Mapping[str, str]:
        """Return the variable that leaves out the account's own options."""
        return {"SPEC_OPTS": ""}

    def parse(self, data: bytes, project: Project) -> Report:
        """Read RSpec's JSON; files that were not loaded are in its messages."""
        whole = document(_Whole, data, "RSpec's")
        if isinstance(whole, Report):
            return whole
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

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Return whether it reported examples, and its exit code agrees."""
        return code == (_FAILED if any(case.failed for case in cases) else 0)

    def asserted(self, case: Case) -> bool:
        """Return whether an expectation was not met."""
        return bool(_ASSERTED.search(case.error))

    def control(self, path: str, content: bytes, names: Sequence[str]) -> Control | None:
        """Return the file with control groups among its own."""
        return rspec_control(path, content, names) if path.endswith("_spec.rb") else None


def _options(words: Sequence[str]) -> Iterator[str]:
    """Yield the options of a call of rspec with their values, without the specs that it names."""
    before = ""
    for word in words:
        if _TAKES_VALUE.fullmatch(before) or not re.search(r"_spec\.rb|^(?:\./)?spec(?:/|$)", word):
            yield word
        before = word


def _case(example: _Example, project: Project) -> Case:
    error = example.exception or _Exception.model_validate({})
    message = without_addresses(error.message or "").strip()
    text = "\n".join([message, *(error.backtrace or ())[:50]])
    outcome = _OUTCOMES[example.status or ""]
    file, name = project.below(example.id.partition("[")[0] or example.file_path), example.full_description
    return Case(name, "", file, outcome, message[:MESSAGE_LIMIT], text[:MESSAGE_LIMIT], error.class_)


def _not_loaded(whole: _Whole, project: Project) -> Iterator[Case]:
    for message in whole.messages if whole.summary.errors_outside_of_examples_count else ():
        found = _LOADING.search(message)
        if found:
            path, text = project.below(found[1]), without_addresses(message)
            named = re.search(r"^(\w+(?:::\w+)*(?:Error|Exception)):\s*\n\s*(.*)$", text, re.MULTILINE)
            first = f"{named[1]}: {named[2]}\n" if named else ""
            yield Case(
                path, "", path, CaseOutcome.ERROR, f"{first}{text.strip()}"[:MESSAGE_LIMIT], text[-MESSAGE_LIMIT:]
            )
