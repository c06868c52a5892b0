"""The test files of a repository and the files that serve tests, by the conventions of all known runners (pure)."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_NAMES = re.compile(
    r"test_.*\.pyi?|.*_tests?\.py|tests\.py|conftest\.py"
    r"|.*\.(?:test|spec|test-d)\.[cm]?[jt]sx?|.*_test\.[cm]?[jt]sx?|.*\.(?:snap|snapshot)|tests?\.[cm]?[jt]s"
    r"|.*_test\.go|tests\.rs|.*_tests?\.rs"
    r"|.*(?:Test|Tests|TestCase|IT|Spec)\.(?:java|kt|kts|groovy|scala|cs|php)|Test[A-Z].*\.java"
    r"|.*_(?:test|spec)\.(?:rb|exs)|(?:test|spec)_helper\.(?:rb|exs)|test_.*\.rb|.*\.bats"
)
_DIRECTORIES = frozenset(
    {"test", "tests", "__tests__", "__snapshots__", "__mocks__", "__fixtures__", "spec", "specs", "testdata", "testing"}
)
_CODE = frozenset({"testing"})
"""Directories of these names are tests only at the top of a repository: elsewhere they are a library's own."""


def is_test_file(path: str) -> bool:
    """Return whether a file holds tests or serves them: by its name, or by a directory above it."""
    file = PurePosixPath(path)
    above = file.parts[:-1]
    inside = {part for depth, part in enumerate(above) if depth == 0 or part not in _CODE}
    return bool(_NAMES.fullmatch(file.name)) or not _DIRECTORIES.isdisjoint(inside)
