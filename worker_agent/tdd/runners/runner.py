"""What the bench asks of a test runner. A new one is one file that satisfies this and one line in `registry`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol

from worker_agent.tdd.judging.control import Control
from worker_agent.tdd.runners.junit import Case, Report
from worker_agent.tdd.runners.report import Kind, TestId

Read = Callable[[str], bytes | None]
"""Gives the content of a path of the repository, or None when there is none."""


class Runner(Protocol):
    """One way to run tests and to understand what they report."""

    @property
    def name(self) -> str:
        """The word for people, for example `pytest`."""
        ...

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """The default test command when a repository with these paths uses this runner, else None."""
        ...

    def runs(self, argv: Sequence[str]) -> bool:
        """Whether this argv calls the runner, so that `command` can add its options."""
        ...

    def command(self, test_command: str, report: Path) -> tuple[str, ...]:
        """The argv that runs `test_command` and makes it report to `report`.

        Raises `Misconfigured` when the command cannot be run this way.
        """
        ...

    def reports(self, where: Path, report: Path) -> Sequence[Path]:
        """The report files, in or out of the checkout `where`; asked before a run, to remove old ones, and after."""
        ...

    def read(self, data: bytes, where: Path) -> Report:
        """The cases of one report of a run in `where`; what is wrong with it is told by `Report.problem`."""
        ...

    def identify(self, case: Case) -> tuple[TestId, str]:
        """The stable id of a case and its file; a case that stands for a whole file has the file as its id."""
        ...

    def explain(self, case: Case) -> str:
        """What went wrong, the error itself in the first line; raw text made by tests."""
        ...

    def classify(self, case: Case, first_party: Collection[str]) -> Kind:
        """Why a case that failed did so; `first_party` are the module names of the repository."""
        ...

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Whether a run that wrote a report went to its end."""
        ...

    def control(self, near: str, text: str, word: str) -> Control | None:
        """A file beside the test file `near`, which says `text`, with a test that fails and whose name has `word`.

        None where none can be made.
        """
        ...
