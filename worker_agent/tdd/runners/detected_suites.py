"""The suites of a repository with several projects: each directory with a project file whose tests a runner finds."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import PurePosixPath

from shared.errors import Misconfigured
from worker_agent.tdd.runners.project import directory_name
from worker_agent.tdd.runners.registry import choose
from worker_agent.tdd.runners.runner import RUNNER_FILES, Read, Suite

PROJECT_FILES = RUNNER_FILES | {"setup.py"}
"""Files that mark a directory as a project."""

_NOT_PROJECTS = frozenset(
    {
        *("node_modules", "vendor", "third_party", "test", "tests", "spec", "fixtures", "testdata", "__fixtures__"),
        *("example", "examples", "docs", "templates", "dist", "build"),
    }
)
"""Directories whose projects are other people's or serve tests."""

_DEPTH = 4
"""The most nested directories in which projects are looked for."""

_EACH_ON_ITS_OWN = frozenset({"go test"})
"""Runners that leave out a project within a project."""


def detected_suites(paths: Collection[str], read: Read) -> tuple[Suite, ...]:
    """Return the suites that can be run without configuration, those with most test files first.

    A project within one of the same runner belongs to it, unless the outer one has no test of its own.
    """
    found = {directory: suite for directory in _directories(paths) if (suite := _suite(directory, paths, read))}
    for directory in sorted(found, key=len):
        if not _own_tests(directory, found, paths) and _below(directory, found):
            del found[directory]
    kept = {directory: suite for directory, suite in found.items() if not _is_covered(directory, found)}
    ordered = sorted(kept, key=lambda directory: (-_own_tests(directory, kept, paths), directory))
    return tuple(kept[directory] for directory in ordered)


def _directories(paths: Collection[str]) -> list[str]:
    found = {""}
    for path in paths:
        file = PurePosixPath(path)
        near = len(file.parts) <= _DEPTH + 1 and _NOT_PROJECTS.isdisjoint(file.parts[:-1])
        if near and file.name in PROJECT_FILES:
            found.add(directory_name(file.parent))
    return sorted(found)


def _suite(directory: str, paths: Collection[str], read: Read) -> Suite | None:
    try:
        return choose(None, None, paths, read, directory)
    except Misconfigured:
        return None


def _own_tests(directory: str, found: Mapping[str, Suite], paths: Collection[str]) -> int:
    """Return how many test files of a suite are in no suite of the same runner below it."""
    suite, inner = found[directory], tuple(f"{other}/" for other in _below(directory, found))
    own = [path for path in paths if path.startswith(suite.lead) and not path.startswith(inner)]
    return sum(map(suite.runner.is_test_file, own))


def _below(directory: str, found: Mapping[str, Suite]) -> list[str]:
    """Return the directories below this one whose suites have the same runner."""
    suite = found[directory]
    same = (other for other in found if found[other].runner.name == suite.runner.name)
    return [other for other in same if other != directory and other.startswith(suite.lead)]


def _is_covered(directory: str, found: Mapping[str, Suite]) -> bool:
    """Return whether a suite further up runs these tests as well."""
    if found[directory].runner.name in _EACH_ON_ITS_OWN:
        return False
    return any(directory in _below(other, found) for other in found)
