"""Places of lines in a patch, which decide whether an inline comment can be placed. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lab.github.world.pulls import DiffPlace

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a patch: its number on either side, its place below the first hunk header."""

    text: str
    old: int | None
    new: int | None
    position: int
    hunk: str


def lines(patch: str) -> Iterator[DiffLine]:
    """Every line of one file's patch, except the first hunk header."""
    old = new = 0
    hunk = ""
    for position, text in enumerate(patch.split("\n")):
        header = _HUNK.match(text)
        if header:
            old, new, hunk = int(header[1]), int(header[2]), text
            continue
        hunk = f"{hunk}\n{text}"
        match text[:1]:
            case "+":
                yield DiffLine(text[1:], None, new, position, hunk)
                new += 1
            case "-":
                yield DiffLine(text[1:], old, None, position, hunk)
                old += 1
            case " ":
                yield DiffLine(text[1:], old, new, position, hunk)
                old, new = old + 1, new + 1
            case _:
                continue  # "\\ No newline at end of file"


def place(path: str, patch: str | None, *, line: int, side: str, start_line: int | None = None) -> DiffPlace | None:
    """The place of a line on one side (LEFT old, RIGHT new); None when the patch does not show it."""
    for found in lines(patch or ""):
        if line == (found.new if side == "RIGHT" else found.old):
            return DiffPlace(path, line, side, found.hunk, found.text, found.position, start_line)
    return None


def place_at(path: str, patch: str | None, position: int) -> DiffPlace | None:
    """The place that GitHub's older `position` names; None when the patch is shorter."""
    for found in lines(patch or ""):
        if found.position == position:
            side = "LEFT" if found.new is None else "RIGHT"
            return DiffPlace(path, found.new or found.old or 0, side, found.hunk, found.text, position)
    return None
