"""The fewest paths that cover everything but some files (pure)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import PurePosixPath


def other_paths(
    selected: Collection[str], paths: Collection[str], counts: Callable[[PurePosixPath], bool]
) -> frozenset[str]:
    """Return all counted paths except the `selected` ones; directories as a whole if no wanted path is below."""
    kept = {str(parent) for file in selected for parent in PurePosixPath(file).parents} | {"."}
    found: set[str] = set()
    for path in paths:
        file = PurePosixPath(path)
        if path not in selected and counts(file):
            found.add(next((str(p) for p in reversed(file.parents) if str(p) not in kept), path))
    return frozenset(found)
