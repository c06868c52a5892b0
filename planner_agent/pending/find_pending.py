"""Which tests of the base commit wait for their code, in the configured order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from anyio import to_thread

from shared.git.failures import TooMuchOutput
from shared.pending.marked import Marked
from shared.pending.source import path_of, scan

FILES = 5_000
"""Files that are looked through at most, the first by path."""

CHUNK = 40
"""Files that one git command reads; together they fit into what may be read at once."""


class Files(Protocol):
    """The files of a commit."""

    async def paths(self, commit: str) -> tuple[str, ...]: ...

    async def contents(self, commit: str, paths: Sequence[str]) -> tuple[bytes | None, ...]: ...


class Globs:
    """Patterns for paths: `*` and `?` stay inside a directory, `**/` spans any number of them."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = tuple(re.compile(_regular(one)) for one in patterns)

    def rank(self, path: str) -> int | None:
        """The position of the first pattern that fits; None when none does."""
        return next((at for at, one in enumerate(self._patterns) if one.fullmatch(path)), None)


_PARTS = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _regular(pattern: str) -> str:
    pieces = re.split(r"(\*\*/|\*\*|\*|\?)", pattern.removeprefix("./"))
    return "".join(_PARTS.get(piece, re.escape(piece)) for piece in pieces)


async def pending_tests(files: Files, commit: str, globs: Sequence[str], order: str) -> tuple[Marked, ...]:
    """Every pending test of a commit: by `order` ("globs": by pattern, then path; "path": by path), then by line."""
    wanted = Globs(globs)
    ranked = [(rank, path) for path in await files.paths(commit) if (rank := wanted.rank(path)) is not None]
    paths = [path for _, path in sorted(ranked, key=lambda one: one[1])][:FILES]
    ranks = {path: rank if order == "globs" else 0 for rank, path in ranked}
    found: list[Marked] = []
    for start in range(0, len(paths), CHUNK):
        chunk = paths[start : start + CHUNK]
        for path, content in zip(chunk, await _read(files, commit, chunk), strict=True):
            found += await to_thread.run_sync(scan, path, content or b"")
    return tuple(sorted(found, key=lambda one: (ranks[path_of(one.test)], path_of(one.test), one.line)))


async def _read(files: Files, commit: str, paths: Sequence[str]) -> Sequence[bytes | None]:
    """All at once; where that is too much, one by one, without those that are too large."""
    try:
        return await files.contents(commit, paths)
    except TooMuchOutput:
        if len(paths) == 1:
            return (None,)
    return [(await _read(files, commit, [path]))[0] for path in paths]
