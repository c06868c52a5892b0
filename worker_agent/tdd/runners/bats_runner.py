"""bats: its command and the reading of its JUnit report (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from worker_agent.tdd.runners import junit
from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation, Read, Runner
from worker_agent.tdd.runners.test_run import Case, CaseOutcome, FailureKind, Report

_INTO_REPORT = 'exec "$@" > "$0"'


class BatsRunner(Runner):
    """The runner of any command with bats; an id is like `test/sum.bats::adds two numbers`."""

    name = "bats"

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """Return the command for the directory that has all of its files; None if there are none."""
        directories = {str(PurePosixPath(path).parent) for path in paths if path.endswith(".bats")}
        return f"bats {min(directories, key=len)} --recursive" if directories else None

    def position(self, argv: Sequence[str]) -> int | None:
        """Return the index of `bats`, also behind `env`."""
        for at, word in enumerate(argv):
            if PurePosixPath(word).name == "bats":
                return at
            if word != "env" and "=" not in word:
                return None
        return None

    def is_test_file(self, path: str) -> bool:
        """Return whether a file is `*.bats`."""
        return PurePosixPath(path).suffix == ".bats"

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """Return the command with its output as the report: bats does not wait for a report written elsewhere.

        Of several formatters bats takes the last.
        """
        argv, at = self.split(test_command)
        rest = argv[at + 1 :]
        if call.selection is not None:
            rest = tuple(sorted(path for path in call.selection.files if path.endswith(".bats")))
        called = (*argv[: at + 1], *rest, "--formatter", "junit")
        return ("/bin/sh", "-c", _INTO_REPORT, str(call.report), *called)

    def parse(self, data: bytes, project: Project) -> Report:
        """Read JUnit XML; the class of a case is its file."""
        report = junit.read(data, project)
        return replace(report, cases=tuple(_with_file(case, project) for case in report.cases))

    def classify(self, case: Case, project: Project) -> FailureKind:
        """Return the kind of failure: a timeout, else any failed command of the test."""
        return FailureKind.TIMEOUT if re.search(r"due to timeout", case.text) else FailureKind.ASSERTION_OR_EXCEPTION

    def asserted(self, case: Case) -> bool:
        """Return whether a command failed; one that does not exist has status 127 and does not count."""
        return case.outcome is CaseOutcome.FAILED and "status 127" not in case.text

    def control(self, path: str, content: bytes, names: Sequence[str]) -> Control | None:
        """Return the file with control tests at its end."""
        if not path.endswith(".bats"):
            return None
        titles = [name.replace("_", " ") for name in names[:4]]
        laid = "".join(
            f'\n@test "{title}" {{\n  [ "{len(title)}" -eq {len(title) + (index > 1)} ]\n}}\n'
            for index, title in enumerate(titles)
        )
        text = content + (b"" if content.endswith(b"\n") else b"\n") + laid.encode()
        return Control.of(path, text, titles)


def _with_file(case: Case, project: Project) -> Case:
    """Return the case with its file, which bats names by its path below the given directory."""
    if case.file in project.paths:
        return case
    found = sorted(path for path in project.paths if path == case.classname or path.endswith(f"/{case.classname}"))
    return replace(case, file=found[0] if found else case.classname, classname="")
