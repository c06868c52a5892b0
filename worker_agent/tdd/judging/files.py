"""Which files of a repository are tests (pure)."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_NAMES = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py|.*\.(test|spec)\.[cm]?[jt]sx?")
_DIRECTORIES = frozenset({"test", "tests", "__tests__", "spec", "specs"})


def is_test_file(path: str) -> bool:
    """Whether a file holds tests or serves them: by its name, or by a directory above it."""
    file = PurePosixPath(path)
    return bool(_NAMES.fullmatch(file.name)) or not _DIRECTORIES.isdisjoint(file.parts[:-1])
