"""The runner of any command that writes JUnit XML: for ecosystems without a runner of their own."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from shared.errors import Misconfigured
from worker_agent.tdd.runners import command_line, junit
from worker_agent.tdd.runners.junit import stable
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation, Runner
from worker_agent.tdd.runners.test_run import Case, CaseOutcome, FailureKind, Report, TestId

_NOT_RUN = 126
"""The first exit code that means: not found, not executable, or ended by a signal."""

_ASSERTION = re.compile(r"Assert|Expectation|ComparisonFailure", re.IGNORECASE)
_KINDS = (
    (re.compile(r"Time(?:d ?)?out", re.IGNORECASE), FailureKind.TIMEOUT),
    (re.compile(r"(?:Syntax|Parse)Error|syntax error"), FailureKind.SYNTAX),
)


@dataclass(frozen=True)
class ReportRunner(Runner):
    """Runs the command as it is and reads the files that match `test_report`, a glob in the checkout.

    The command cannot be guessed: it is never detected.
    """

    test_report: str
    name = "JUnit report"

    def __post_init__(self) -> None:
        if not self.test_report or self.test_report.startswith("/"):
            raise Misconfigured(f"test_report '{self.test_report}' is not a glob relative to the repository.")

    def position(self, argv: Sequence[str]) -> int | None:
        """Return 0: any command will do."""
        return 0

    def is_test_file(self, path: str) -> bool:
        """Return False: only `test_files` in the configuration, or a directory for tests, tells test files."""
        return False

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """Return the command without any addition."""
        return command_line.split(test_command)

    def reports(self, place: Path) -> Sequence[Path]:
        """Return the files that match, without those that a link leads out of the checkout.

        Empty if tests have left a tree that cannot be searched, as directories deeper than a path can be.
        """
        root = place.resolve()
        with suppress(OSError, RuntimeError, ValueError):
            found = sorted(place.glob(self.test_report))
            return tuple(path for path in found if path.is_file() and path.resolve().is_relative_to(root))
        return ()

    def parse(self, data: bytes, project: Project) -> Report:
        """Read JUnit XML, one document or several; a case without a file has the one that is named like its class."""
        report = junit.read(data, project, several=True)
        by_stem: dict[str, list[PurePosixPath]] = defaultdict(list)
        for path in map(PurePosixPath, project.paths):
            by_stem[path.stem].append(path)
        found = (case if case.file else replace(case, file=_file_of(case.classname, by_stem)) for case in report.cases)
        return replace(report, cases=tuple(found))

    def identify(self, case: Case) -> tuple[TestId, str]:
        """Return an id like `file::classname::name`, as far as the report has them, and the file."""
        return "::".join(part for part in (case.file, stable(case.classname), stable(case.name)) if part), case.file

    def classify(self, case: Case, project: Project) -> FailureKind:
        """Return the kind by the type of the error and its first line; if neither tells it, it may be any."""
        said = case.error or case.message or case.text
        if case.outcome is CaseOutcome.ERROR and not said.strip():
            return FailureKind.OTHER
        line = f"{case.error}: {_first_line(case)}"
        return next((kind for pattern, kind in _KINDS if pattern.search(line)), FailureKind.ASSERTION_OR_EXCEPTION)

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Return whether it reported tests, and one of them failed if it ended with an error.

        Some commands end with success in spite of failures, others with the number of failures, which may be large.
        """
        failed = sum(case.failed for case in cases)
        return bool(cases) and (code == 0 or (failed > 0 and (0 < code < _NOT_RUN or code == failed)))

    def asserted(self, case: Case) -> bool:
        """Return JUnit's own distinction: a failure is the test's, an error is any other."""
        return case.outcome is CaseOutcome.FAILED or bool(_ASSERTION.search(case.error))


def _file_of(classname: str, by_stem: Mapping[str, Sequence[PurePosixPath]]) -> str:
    """Return the one file for `com.acme.CalcTest$Inner` or `tests.test_calc.TestCalc`; empty if not exactly one."""
    parts = re.split(r"[.\\/]|::", classname.partition("$")[0])
    for end in range(len(parts), 0, -1):
        named = parts[:end]
        found = [path for path in by_stem.get(named[-1], ()) if _ends_like(path, named)]
        if found:
            return str(found[0]) if len(found) == 1 else ""
    return ""


def _ends_like(path: PurePosixPath, named: Sequence[str]) -> bool:
    parts = [*path.parts[:-1], path.stem]
    shared = min(len(parts), len(named))
    return [part.lower() for part in parts[-shared:]] == [part.lower() for part in named[-shared:]]


def _first_line(case: Case) -> str:
    return next((line.strip() for line in (case.message or case.text).splitlines() if line.strip()), "")
