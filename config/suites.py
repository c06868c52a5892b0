"""The suites of a repository's tests: paths inside the repository, and how each directory's tests are run."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator

from config.section import Section, Text

_INSIDE = "write it as it stands in the repository, with '/', without '..', and not from the root of the disk"
_OUTSIDE = re.compile(r"[/~$\\]|[A-Za-z]:")
"""Beginning of a path that does not start in the repository."""


def _inside(path: str) -> bool:
    return not (_OUTSIDE.match(path) or "\\" in path or not path.isprintable() or ".." in path.split("/"))


def directory(path: str) -> str:
    """`path` as `packages/api`, the root as nothing; raises ValueError for one that could leave the repository."""
    path = path.strip()
    if not _inside(path):
        raise ValueError(f"is no directory of the repository; {_INSIDE}, as in 'packages/api'")
    normal = str(PurePosixPath(path))
    if ".git" in normal.casefold().split("/"):
        raise ValueError("is git's own directory; no tests are run there")
    return "" if normal == "." else normal


def pattern(glob: str) -> str:
    """`glob` when it can name files of the repository; raises ValueError with one sentence otherwise."""
    if not _inside(glob):
        raise ValueError(f"is no pattern of files of the repository; {_INSIDE}, as in 'spec/**/*.spec.ts'")
    return glob.removeprefix("./")


Directory = Annotated[str, AfterValidator(directory)]
Pattern = Annotated[Text, AfterValidator(pattern)]


class SuiteSettings(Section):
    """The tests of one directory."""

    directory: Directory = ""
    """Directory where the tests run; empty means the root."""
    test_command: Text | None = None
    """Command that runs them; null means detected."""
    test_report: Text | None = None
    """Glob of JUnit XML files, from `directory`; null means the runner's own report."""
