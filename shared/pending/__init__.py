"""Tests that wait in a repository for their code: the places of their markers, and the mark of an issue about one."""

from __future__ import annotations

from dataclasses import dataclass

SPEC = "spec:"
"""Prefix, in either case, of the reason of a marker that stands for a specification."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A test that waits for its code. `test` is its id as runs report it, or the id of a class, for all its tests.

    `cuts` are the byte ranges of its markers in the file; `line` counts from 1. A `bare` one is a
    placeholder without a body: there is nothing to run when its statement is taken out.
    """

    test: str
    reason: str
    line: int
    cuts: tuple[tuple[int, int], ...]
    bare: bool = False


def is_spec(reason: str) -> bool:
    """Return whether a reason says that the code is still to be written."""
    return reason.strip().casefold().startswith(SPEC)
