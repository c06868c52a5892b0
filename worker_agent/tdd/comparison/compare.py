"""A comparison of the tests of two sides of a change by meaning (pure)."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from worker_agent.tdd.comparison.affected import affected
from worker_agent.tdd.comparison.files import file_entries
from worker_agent.tdd.comparison.model import ComparedTest, Comparison, What
from worker_agent.tdd.comparison.moves import settled
from worker_agent.tdd.comparison.project import File, Project
from worker_agent.tdd.comparison.unit_changes import Pair, unit_entries
from worker_agent.tdd.syntax.inline_tests import with_tests_of
from worker_agent.tdd.syntax.source import parse

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
    for path in sorted(affected(before, after)):
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
