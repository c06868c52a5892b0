"""The test files that a change concerns: those that it touches, and those that read a file that it touches (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from worker_agent.tdd.comparison.model import Comparison
from worker_agent.tdd.proof.change import SOURCES, Change, module_name

_SNAPSHOT = re.compile(r"(?:__snapshots__/)?([^/]+?)\.(?:snap|snapshot)$")


def affected_files(change: Change, comparison: Comparison) -> frozenset[str]:
    """Return the test files of the head that have to run: changed ones, and readers of changed helpers and data."""
    generic = change.layout.is_generic
    touched = {path for path in change.tests if path in change.new and (generic or _may_hold_tests(path))}
    touched |= {entry.path for entry in comparison.changed if entry.path in change.new or entry.path in change.support}
    data = [path for path in change.tests if not _may_hold_tests(path)]
    touched |= {reader for path in data for reader in (set(_readers(change, path)) or _near(change, path))}
    return frozenset(touched)


def _near(change: Change, data: str) -> set[str]:
    """Return the test files nearest above a data file that no file names: tests may read all files of a directory.

    Configuration and other files at the top of a repository are no such data.
    """
    known = _test_files(change)
    for above in PurePosixPath(data).parents:
        if not above.name:
            return set()
        if near := {path for path in known if PurePosixPath(path).parent == above}:
            return near
    return set()


def readers_of(change: Change, code: Collection[str]) -> frozenset[str]:
    """Return the test files of the base that name one of these files of code by its stem, or by its package."""
    stems = {module_name(path).encode() for path in code}
    return frozenset(
        path for path, text in change.support.items() if _may_hold_tests(path) and any(stem in text for stem in stems)
    )


def _may_hold_tests(path: str) -> bool:
    return PurePosixPath(path).suffix in _SOURCES and PurePosixPath(path).name not in _NEVER


_SOURCES = SOURCES | {".groovy", ".exs", ".bats"}
_NEVER = frozenset({"conftest.py", "__init__.py", "spec_helper.rb", "test_helper.rb", "rails_helper.rb"})


def _readers(change: Change, data: str) -> Iterator[str]:
    """Yield the test files that name a data file, its stem or its directory; of a snapshot, its own test file."""
    snapshot = _SNAPSHOT.search(data)
    file = PurePosixPath(data)
    words = {snapshot[1]} if snapshot else {file.name, file.stem, file.parent.name}
    words -= {"test", "tests", "spec", "testdata", "fixtures", "data", "__snapshots__", ""}
    for path, content in _test_files(change).items():
        own = snapshot is not None and PurePosixPath(path).name == snapshot[1]
        if own or (snapshot is None and any(word.encode() in content for word in words if len(word) > 2)):
            yield path


def _test_files(change: Change) -> dict[str, bytes]:
    """Return the known files of the head that may hold tests."""
    known = {**change.support, **change.side(change.tests, head=True)}
    gone = change.changed - change.new.keys()
    return {path: content for path, content in known.items() if _may_hold_tests(path) and path not in gone}
