"""Any command that writes JUnit XML: the runner for ecosystems without one of their own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from shared.errors import Misconfigured
from worker_agent.tdd.judging.control import Control
from worker_agent.tdd.runners import command_line, junit
from worker_agent.tdd.runners.junit import Case, Report
from worker_agent.tdd.runners.report import Kind, Outcome, TestId
from worker_agent.tdd.runners.runner import Read


@dataclass(frozen=True, slots=True)
class ReportRunner:
    """Runs the command as it is and reads the files that `test_report`, a glob in the checkout, names."""

    test_report: str
    name: str = "JUnit report"

    def __post_init__(self) -> None:
        if not self.test_report or self.test_report.startswith("/"):
            raise Misconfigured(f"test_report '{self.test_report}' is not a glob relative to the repository.")

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """Never: nobody can guess the command."""
        return None

    def runs(self, argv: Sequence[str]) -> bool:
        """Any command."""
        return True

    def command(self, test_command: str, report: Path) -> tuple[str, ...]:
        """The command without any addition."""
        return command_line.split(test_command)

    def reports(self, where: Path, report: Path) -> Sequence[Path]:
        """The files that match, without those that a link leads out of the checkout."""
        root = where.resolve()
        found = sorted(where.glob(self.test_report))
        return tuple(path for path in found if path.is_file() and path.resolve().is_relative_to(root))

    def read(self, data: bytes, where: Path) -> Report:
        """JUnit XML."""
        return junit.read(data)

    def identify(self, case: Case) -> tuple[TestId, str]:
        """`file::classname::name`, as far as the report has them."""
        return "::".join(part for part in (case.file, case.classname, case.name) if part), case.file

    def explain(self, case: Case) -> str:
        """The message, then the end of the text."""
        return "\n".join(part for part in (case.message, case.text) if part)

    def classify(self, case: Case, first_party: Collection[str]) -> Kind:
        """JUnit's own distinction: a failure is the test's, an error may be anything."""
        return Kind.ASSERTION_OR_EXCEPTION if case.outcome is Outcome.FAILED else Kind.OTHER

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """A command that ended by itself and wrote its report is taken at its word."""
        return 0 <= code < 126  # from 126 on: not found, not executable, ended by a signal

    def control(self, near: str, text: str, word: str) -> Control | None:
        """None: nobody knows how the command finds its tests."""
        return None
