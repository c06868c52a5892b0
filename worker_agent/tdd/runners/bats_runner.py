"""bats: how it is called, and what its JUnit report means (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from shared.errors import Misconfigured
from worker_agent.tdd.runners import command_line, junit
from worker_agent.tdd.runners.cases import Case, Report
from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.runners.junit import stable
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.report import CaseOutcome, FailureKind, TestId
from worker_agent.tdd.runners.runner import Invocation, Read

_INTO_REPORT = 'exec "$@" > "$0"'


class BatsRunner:
    """Any command in which bats is called by its name."""

    name = "bats"

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """The directory that has all of its files."""
        directories = {str(PurePosixPath(path).parent) for path in paths if path.endswith(".bats")}
        return f"bats {min(directories, key=len)} --recursive" if directories else None

    def runs(self, argv: Sequence[str]) -> bool:
        """`bats`, also behind `env`."""
        return _position(argv) is not None

    def is_test_file(self, path: str) -> bool:
        """`*.bats` and `*.bash` beside them."""
        return PurePosixPath(path).suffix == ".bats"

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """The command with its output as the report: bats does not wait for a report that it writes beside."""
        argv = command_line.split(test_command)
        at = _position(argv)
        if at is None:
            raise Misconfigured(f"test_command '{test_command}' does not call bats.")
        rest = argv[at + 1 :]
        if call.selection is not None:
            rest = tuple(sorted(path for path in call.selection.files if path.endswith(".bats")))
        called = (*argv[: at + 1], "--formatter", "junit", *rest)
        return ("/bin/sh", "-c", _INTO_REPORT, str(call.report), *called)

    def environment(self, call: Invocation) -> Mapping[str, str]:
        """None."""
        return {}

    def reports(self, where: Path) -> Sequence[Path]:
        """None: the report goes through the pipe."""
        return ()

    def read(self, data: bytes, project: Project) -> Report:
        """JUnit XML; the class of a case is its file."""
        report = junit.read(data, project)
        return replace(report, cases=tuple(_located(case, project) for case in report.cases))

    def identify(self, case: Case) -> tuple[TestId, str]:
        """`test/sum.bats::adds two numbers`."""
        return f"{case.file}::{stable(case.name)}", case.file

    def explain(self, case: Case) -> str:
        """What bats printed of the failure."""
        return "\n".join(part for part in (case.message, case.text.strip()) if part)

    def classify(self, case: Case, project: Project) -> FailureKind:
        """Whatever a command of the test said."""
        return FailureKind.TIMEOUT if re.search(r"due to timeout", case.text) else FailureKind.ASSERTION_OR_EXCEPTION

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """It reported tests, and its exit code says the same."""
        failed = any(case.outcome in {CaseOutcome.FAILED, CaseOutcome.ERROR} for case in cases)
        return bool(cases) and code == (1 if failed else 0)

    def asserted(self, case: Case) -> bool:
        """Each failure is a command that said no; one that does not exist says 127."""
        return case.outcome is CaseOutcome.FAILED and "status 127" not in case.text

    def control(self, path: str, content: bytes, names: Sequence[str]) -> Control | None:
        """Tests at the end of the file."""
        if not path.endswith(".bats"):
            return None
        titles = [name.replace("_", " ") for name in names[:4]]
        laid = "".join(
            f'\n@test "{title}" {{\n  [ "{len(title)}" -eq {len(title) + (index > 1)} ]\n}}\n'
            for index, title in enumerate(titles)
        )
        text = content + (b"" if content.endswith(b"\n") else b"\n") + laid.encode()
        return Control(path, text, failing=frozenset(titles[2:]), passing=frozenset(titles[:2]))


def _position(argv: Sequence[str]) -> int | None:
    for at, word in enumerate(argv):
        if PurePosixPath(word).name == "bats":
            return at
        if word != "env" and "=" not in word:
            return None
    return None


def _located(case: Case, project: Project) -> Case:
    """bats names the file by its path below the directory that it was given."""
    if case.file in project.paths:
        return case
    found = sorted(path for path in project.paths if path == case.classname or path.endswith(f"/{case.classname}"))
    return replace(case, file=found[0] if found else case.classname, classname="")
