"""Changes of files beside the tests: data, snapshots, helpers, code that runs unasked, and unreadable files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from tree_sitter import Node

from worker_agent.tdd.comparison.model import ComparedTest, What
from worker_agent.tdd.comparison.project import File
from worker_agent.tdd.syntax import units_javascript, units_python
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Language, Source, language_of, line_of
from worker_agent.tdd.syntax.units_found import field_text, statements
from worker_agent.tdd.syntax.units_meaning import digest
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


def _hooks(path: str, old: File | None, new: File | None) -> Iterator[ComparedTest]:
    """Yield new and missing code that acts on tests which do not call it: hooks, autouse fixtures, code of modules."""
    before, after = _acting_code(old), _acting_code(new)
    for meaning, (line, text) in after.items():
        if meaning not in before:
            said = f"{path}:{line}: new code acts on its own: {_first_line(text)}"
            yield ComparedTest(path, "", line, What.HOOK, said, "", text)
    for meaning, (line, text) in before.items() if new is not None else ():
        if meaning not in after:
            said = f"{path}:{line}: code that acted on its own is gone: {_first_line(text)}"
            yield ComparedTest(path, "", line, What.HOOK, said, text)


def _acting_code(file: File | None) -> dict[str, tuple[int, str]]:
    """Map the meaning of each piece of such code in a file to its line and its text."""
    source = None if file is None else file.source
    if source is None:
        return {}
    acting = (node for node in statements(source.root) if _acts(source, node))
    return {digest(source, node): (line_of(node), source.text(node)) for node in acting}


def _acts(source: Source, statement: Node) -> bool:
    match source.language:
        case Language.PYTHON:
            return units_python.acts_on_its_own(source, statement)
        case Language.JAVASCRIPT | Language.TYPESCRIPT | Language.TSX:
            return units_javascript.acts_on_its_own(source, statement)
        case Language.GO:
            return field_text(source, statement, "name") in {"TestMain", "init"}
        case Language.RUBY:
            return re.match(r"(?:RSpec|Minitest)\.\w+", source.text(statement)) is not None
        case _:
            return False


def _first_line(text: str) -> str:
    return text.splitlines()[0][:80]
