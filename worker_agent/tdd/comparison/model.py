"""The effects of a change on tests: one entry for each test or file that it concerns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class What(StrEnum):
    """The kind of change to a test, or to a file beside the tests."""

    ADDED = "added"
    CASES_REMOVED = "cases removed"
    EXPECTATIONS = "expectations"
    STEPS = "steps"
    SUPPORT = "support"
    RENAMED = "renamed"
    REMOVED = "removed"
    SKIPPED = "skipped"
    DATA = "data"
    SUPPORT_FILE = "support file"
    HOOK = "hook"


@dataclass(frozen=True, slots=True)
class ComparedTest:
    """One test or file. `unit` is empty for a whole file; `line` is the head's, or the base's if it is gone.

    `loses`: True if a part of the old version is gone: a statement, a case, or the code that it reaches differs.
    `fewer_checks`: True if it has fewer checks than before. `before` and `after` are its texts, for `diff`.
    """

    path: str
    unit: str
    line: int
    what: What
    text: str
    before: str = ""
    after: str = ""
    loses: bool = False
    fewer_checks: bool = False
    now: str = ""
    """The new name of a renamed test, with its path."""

    @property
    def name(self) -> str:
        """The test's name as runners give it, or the path."""
        return f"{self.path}::{self.unit}" if self.unit else self.path


@dataclass(frozen=True, slots=True)
class Comparison:
    """All entries, by their meaning for the judgement; `hooks` are only listed."""

    added: tuple[ComparedTest, ...] = ()
    changed: tuple[ComparedTest, ...] = ()
    renamed: tuple[ComparedTest, ...] = ()
    removed: tuple[ComparedTest, ...] = ()
    skipped: tuple[ComparedTest, ...] = ()
    data: tuple[ComparedTest, ...] = ()
    support_files: tuple[ComparedTest, ...] = ()
    hooks: tuple[ComparedTest, ...] = ()

    @property
    def entries(self) -> tuple[ComparedTest, ...]:
        """All entries of all kinds."""
        tests = (*self.added, *self.changed, *self.renamed, *self.removed, *self.skipped)
        return (*tests, *self.data, *self.support_files, *self.hooks)
