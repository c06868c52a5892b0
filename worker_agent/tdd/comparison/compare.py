"""A comparison of the tests of two sides of a change by meaning (pure)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from worker_agent.tdd.comparison.files import file_entries
from worker_agent.tdd.comparison.model import ComparedTest, Comparison, What
from worker_agent.tdd.comparison.project import File, Project
from worker_agent.tdd.comparison.renames import settled
from worker_agent.tdd.comparison.unit_changes import Pair, unit_entries
from worker_agent.tdd.syntax.source import parse
from worker_agent.tdd.syntax.units_rust import with_tests_of

_CHANGED = frozenset({What.CASES_REMOVED, What.EXPECTATIONS, What.STEPS, What.SUPPORT})
_DIFF_LINES = 200
"""The most lines of a diff that are shown."""


def compare(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> Comparison:
    """Return the effects of a change on the tests of `base`.

    Both hold all files on the tests' side by path, also unchanged ones, so that helpers are found; a path that is only
    in `base` was deleted.
    """
    before = Project({path: File(path, content) for path, content in base.items()})
    same = {path: before.files[path] for path, content in head.items() if base.get(path) == content}
    after = Project({path: same.get(path) or File(path, content) for path, content in head.items()})
    found: list[ComparedTest] = []
    for path in sorted(_affected(before, after)):
        old, new = before.files.get(path), after.files.get(path)
        is_read = all(file is None or file.source is not None for file in (old, new))
        if is_read and any(file is not None and file.has_tests for file in (old, new)):
            pair = Pair(path, old, new, before.units(path) if old else (), after.units(path) if new else ())
            found += unit_entries(pair)
        found += file_entries(path, old, new)
    return _group_by_kind(settled(found, before, after))


def diff(entry: ComparedTest) -> str:
    """Return the change of one test or file as a small unified diff."""
    before, after = entry.before.splitlines(), entry.after.splitlines()
    lines = list(difflib.unified_diff(before, after, entry.name, entry.name, n=3, lineterm=""))
    more = [f"... {len(lines) - _DIFF_LINES} more lines"] if len(lines) > _DIFF_LINES else []
    return "\n".join(lines[:_DIFF_LINES] + more)


def old_versions(
    base: Mapping[str, bytes], head: Mapping[str, bytes], entries: Sequence[ComparedTest]
) -> dict[str, bytes]:
    """Return the files to put over the head, so that old versions of tests run there with their old support.

    `head` may hold only the files that changed. Of files that are code and test at once only the tests are the base's.
    """
    wanted = {entry.path for entry in entries if entry.path in base}
    text = b"\n".join(base[path] for path in wanted)
    found = {path: _old_version(path, base[path], head.get(path)) for path in sorted(wanted)}
    for path in _support_files(base, head, text):
        found.setdefault(path, base[path])
    return found


def _old_version(path: str, old: bytes, new: bytes | None) -> bytes:
    """Return the old file, or the new one with the old tests if it also contains code."""
    head = parse(path, new) if new is not None else None
    tests = parse(path, old)
    laid = with_tests_of(head, tests) if head is not None and tests is not None else None
    return old if laid is None else laid


def _support_files(base: Mapping[str, bytes], head: Mapping[str, bytes], text: bytes) -> Iterator[str]:
    """Yield changed files without tests of their own, and deleted ones that the tests name."""
    for path, content in sorted(base.items()):
        is_changed = path in head and head[path] != content
        is_named = path not in head and PurePosixPath(path).stem.encode() in text
        if (is_changed or is_named) and not File(path, content).has_tests:
            yield path


def _group_by_kind(entries: Sequence[ComparedTest]) -> Comparison:
    def of(*kinds: What) -> tuple[ComparedTest, ...]:
        return tuple(entry for entry in entries if entry.what in kinds)

    return Comparison(
        of(What.ADDED),
        of(*_CHANGED),
        of(What.RENAMED),
        of(What.REMOVED),
        of(What.SKIPPED),
        of(What.DATA),
        of(What.SUPPORT_FILE),
        of(What.HOOK),
    )


def _affected(before: Project, after: Project) -> frozenset[str]:
    """Return the paths of changed files and of tests that may reach the changes in them, over any number of files."""
    paths = set(before.files) | set(after.files)
    found = {path for path in paths if before.files.get(path) is not after.files.get(path)}
    names = {name for path in found for name in _changed_names(before.files.get(path), after.files.get(path))}
    waiting = paths - found
    while names and waiting:
        words = re.compile(rb"\b(?:" + b"|".join(sorted(re.escape(name.encode()) for name in names)) + rb")\b")
        touched = {path for path in waiting if words.search(before.files[path].content)}
        waiting -= touched
        found |= touched
        names = {name for path in touched if not before.files[path].has_tests for name in _names(before.files[path])}
    return frozenset(found)


def _changed_names(old: File | None, new: File | None) -> set[str]:
    """Return the names in a file whose meaning differs, and the names that use them there."""
    before, after = _names(old), _names(new)
    found = {name for name, meaning in before.items() if after.get(name) != meaning}
    more = set(found)
    while more:
        more = {name for file in (old, new) if file is not None for name in _users(file, more)} - found
        found |= more
    return found


def _users(file: File, names: set[str]) -> set[str]:
    """Return the names in a file that use at least one of `names`."""
    return {
        _plain_name(name)
        for name, each in file.definitions.items()
        if any(_plain_name(used) in names for definition in each for used in definition.uses)
    }


def _names(file: File | None) -> dict[str, str]:
    """Map the names that a file defines to their meaning."""
    if file is None:
        return {}
    meanings = {_plain_name(name): "".join(each.digest for each in found) for name, found in file.definitions.items()}
    return {name: meaning for name, meaning in meanings.items() if name.isidentifier()}


def _plain_name(name: str) -> str:
    return name.lstrip(".'")
