"""Changes of files beside the tests: data, snapshots, helpers, code that runs unasked, and unreadable files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from worker_agent.tdd.comparison.hooks import hooks_in
from worker_agent.tdd.comparison.model import ComparedTest, What
from worker_agent.tdd.comparison.project import File
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import language_of
from worker_agent.tdd.test_file_names import is_named_like_tests

_SNAPSHOT = re.compile(rb"^(?:exports\[`.*?`\]|# name: .*)", re.MULTILINE)
_DATA = words(".snap .ambr .json .yml .yaml .toml .txt .md .csv .xml .html .golden .out .svg .snapshot")
_SHOWN = 100_000
"""The most bytes of a file that are kept for its diff."""


def file_entries(path: str, old: File | None, new: File | None) -> Iterator[ComparedTest]:
    """Yield the changes of a file as a whole, apart from its tests."""
    if old is not None and new is not None and old.content == new.content:
        return
    yield from _hooks(path, old, new)
    if (old is not None and old.has_tests) or (new is not None and new.has_tests):
        yield from _unreadable_file(path, old, new)
    elif _is_whole_test(path):
        yield from _unknown_language(path, old, new)
    elif old is None or new is None:
        yield from _added_or_deleted(path, old, new)
    elif old.source is not None:
        yield _entry(path, What.SUPPORT_FILE, "changed", old, new)
    elif not _snapshots_kept(old.content, new.content):
        yield _entry(path, What.DATA, "changed", old, new)
    else:
        yield _entry(path, What.ADDED, "has new snapshots", old, new)


def _added_or_deleted(path: str, old: File | None, new: File | None) -> Iterator[ComparedTest]:
    kind = What.DATA if language_of(path) is None else What.SUPPORT_FILE
    if new is None:
        yield _entry(path, kind, "deleted", old, new)
    elif old is None and kind is What.DATA:
        yield _entry(path, What.ADDED, "new data", old, new)


def _unreadable_file(path: str, old: File | None, new: File | None) -> Iterator[ComparedTest]:
    """Yield a file with tests on one side only, because the other side cannot be read."""
    if old is not None and old.has_tests and new is not None and new.source is None:
        yield _entry(path, What.REMOVED, "cannot be read any more", old, new)
    elif old is not None and old.source is None:
        yield from _unknown_language(path, old, new)


def _unknown_language(path: str, old: File | None, new: File | None) -> Iterator[ComparedTest]:
    """Yield the change of a test file in an unknown language: text may only be added at its end."""
    if old is None:
        yield _entry(path, What.ADDED, "a new test file", old, new)
    elif new is None:
        yield _entry(path, What.REMOVED, "deleted", old, new)
    elif new.content.startswith(old.content.rstrip()):
        yield _entry(path, What.ADDED, "grew at its end", old, new)
    else:
        yield _entry(path, What.EXPECTATIONS, "changed", old, new, loses=True)


def _is_whole_test(path: str) -> bool:
    file = PurePosixPath(path)
    is_source = file.suffix.lower() not in _DATA and language_of(path) is None
    return is_source and is_named_like_tests(path)


def _hooks(path: str, old: File | None, new: File | None) -> Iterator[ComparedTest]:
    before = hooks_in(old.source) if old is not None and old.source is not None else {}
    after = hooks_in(new.source) if new is not None and new.source is not None else {}
    for meaning, (line, first, text) in after.items():
        if meaning not in before:
            yield ComparedTest(path, "", line, What.HOOK, f"{path}:{line}: new code acts on its own: {first}", "", text)
    for meaning, (line, first, text) in before.items():
        if meaning not in after and new is not None:
            yield ComparedTest(
                path, "", line, What.HOOK, f"{path}:{line}: code that acted on its own is gone: {first}", text
            )


def _snapshots_kept(old: bytes, new: bytes) -> bool:
    """Return whether all snapshots of a file are still in it, so that others were only added."""
    before, after = _snapshots(old), _snapshots(new)
    return bool(before) and before <= after


def _snapshots(content: bytes) -> set[bytes]:
    starts = [found.start() for found in _SNAPSHOT.finditer(content)]
    return {content[start:end].strip() for start, end in zip(starts, [*starts[1:], len(content)], strict=False)}


def _entry(
    path: str, kind: What, sentence: str, old: File | None, new: File | None, *, loses: bool = False
) -> ComparedTest:
    return ComparedTest(path, "", 1, kind, f"{path}: {sentence}", _text(old), _text(new), loses=loses)


def _text(file: File | None) -> str:
    if file is None or b"\0" in file.content[:8000]:
        return ""
    return file.content[:_SHOWN].decode("utf-8", "replace")
