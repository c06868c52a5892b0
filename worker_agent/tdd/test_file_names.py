"""The names of test files, by the conventions of all known runners: one table, and who reads which part of it (pure).

A new runner is a row here. The readers differ, because a mistake costs each of them something else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

JAVASCRIPT = r".*\.(?:test|spec|test-d)\.[cm]?[jt]sx?"
"""Pattern of the names by which the runners of JavaScript and TypeScript find tests."""


@dataclass(frozen=True, slots=True)
class _Names:
    """Patterns of the files that hold or serve tests, and of those among them that are nothing but tests."""

    tests: str
    only_tests: str = ""


_BY_ECOSYSTEM: Mapping[str, _Names] = {
    "Python": _Names(r"test_.*\.pyi?|.*_tests?\.py|tests\.py|conftest\.py", only_tests=r"test_.*\.py|.*_test\.py"),
    "JavaScript, TypeScript": _Names(
        rf"{JAVASCRIPT}|.*_test\.[cm]?[jt]sx?|.*\.(?:snap|snapshot)|tests?\.[cm]?[jt]s",
        only_tests=r".*\.(?:test|spec)\.[cm]?[jt]sx?",
    ),
    "Go": _Names(r".*_test\.go", only_tests=r".*_test\.go"),
    "Rust": _Names(r"tests\.rs|.*_tests?\.rs"),
    "JVM, .NET, PHP": _Names(
        r".*(?:Test|Tests|TestCase|IT|Spec)\.(?:java|kt|kts|groovy|scala|cs|php)|Test[A-Z].*\.java",
        only_tests=r".*Test\.php",
    ),
    "Ruby, Elixir": _Names(
        r".*_(?:test|spec)\.(?:rb|exs)|(?:test|spec)_helper\.(?:rb|exs)|test_.*\.rb",
        only_tests=r"(?!test_helper\.)(?:.*_(?:spec|test)|test_.*)\.rb",
    ),
    "bats": _Names(r".*\.bats", only_tests=r".*\.bats"),
}

_TESTS = re.compile("|".join(names.tests for names in _BY_ECOSYSTEM.values()))
_ONLY_TESTS = re.compile("|".join(filter(None, (names.only_tests for names in _BY_ECOSYSTEM.values()))))

_DIRECTORIES = frozenset(
    {"test", "tests", "__tests__", "__snapshots__", "__mocks__", "__fixtures__", "spec", "specs", "testdata", "testing"}
)
_CODE = frozenset({"testing"})
"""Directories of these names are tests only at the top of a repository: elsewhere they are a library's own."""

_STEM = re.compile(r"(?:^|[._-])(?:test|spec)s?(?:[._-]|$)|Tests?$|Spec$")
_SUFFIXES = frozenset({".bats", ".t"})

_MENTIONED = re.compile(r"test_.+|.+[._-](?:test|tests|spec)\.\w+|.+(?:Test|Tests|Spec)\.\w+|conftest\.py")


def is_test_file(path: str) -> bool:
    """Return whether a file holds tests or serves them: by its name, or by a directory above it.

    Code does not touch these files: the pattern is wide.
    """
    file = PurePosixPath(path)
    above = file.parts[:-1]
    inside = {part for depth, part in enumerate(above) if depth == 0 or part not in _CODE}
    return bool(_TESTS.fullmatch(file.name)) or not _DIRECTORIES.isdisjoint(inside)


def is_only_tests(name: str) -> bool:
    """Return whether a file of this name holds tests and controls no run of others (`pytest tests/test_a.py`).

    What a test command names otherwise has the base's version in every run: the pattern is narrow.
    """
    return bool(_ONLY_TESTS.fullmatch(name))


def is_named_like_tests(path: str) -> bool:
    """Return whether a file in a language that is not read is named like tests: text may only be added at its end."""
    file = PurePosixPath(path)
    return bool(_STEM.search(file.stem)) or file.suffix in _SUFFIXES


def only_tests_have(name: str) -> bool:
    """Return whether code that mentions this name of a test file knows its tests: no other file is called so."""
    return bool(_MENTIONED.fullmatch(name))
