"""Pending tests of one file, whatever its language, and the file with one of them activated (pure)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping

from shared.pending import Marked, javascript, python

FILE_BYTES = 1_000_000
"""Files with more bytes are not scanned."""

ID_CHARS = 1_000
"""Tests with a longer id are left out, and so are ids with unprintable characters: they fit into no issue."""

_HINT = re.compile(rb"spec:|\btodo\b|\bfixme\b", re.IGNORECASE)
"""Words of which each pending test has one: files without them are not scanned."""

_SCANNERS: Mapping[str, Callable[[str, bytes], tuple[Marked, ...]]] = {
    ".py": python.scan,
    **dict.fromkeys((".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"), javascript.scan),
}


def scan(path: str, content: bytes) -> tuple[Marked, ...]:
    """Return the pending tests of a file in the order of the text; never raises for its content.

    Tests that share a name are left out, because nobody could tell which one is meant.
    """
    scanner = _SCANNERS.get("." + path.rpartition(".")[2])
    if scanner is None or len(content) > FILE_BYTES or not _HINT.search(content):
        return ()
    found = scanner(path, content)
    times = Counter(one.test for one in found)
    fit = (one for one in found if len(one.test) <= ID_CHARS and one.test.isprintable())
    return tuple(one for one in fit if times[one.test] == 1)


def find(path: str, content: bytes, test: str) -> Marked | None:
    """Return the pending test with this id, or None."""
    return next((one for one in scan(path, content) if one.test == test), None)


def activated(content: bytes, marked: Marked) -> bytes:
    """Return the file without the marker of one test; every other byte stays."""
    for start, end in sorted(marked.cuts, reverse=True):
        content = content[:start] + content[end:]
    return content


def path_of(test: str) -> str:
    """Return the path of the file that a test id names."""
    return test.partition("::")[0]
