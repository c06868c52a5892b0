"""Commits and changed files as values, and how they are read from git's output. No I/O.

Places of lines in a patch, which decide whether an inline comment can be placed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from lab.github.world.pulls import DiffPlace

LOG_FORMAT = "--format=tformat:%H%x00%P%x00%T%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"
"""For `git log -z`: ten fields, each ended by NUL, so that no message can be taken for a field."""

_FIELDS = 10
_NO_OBJECT = "0" * 40
_STATUS = {"A": "added", "M": "modified", "D": "removed", "R": "renamed", "C": "copied", "T": "changed"}


@dataclass(frozen=True, slots=True)
class Signature:
    """Author or committer, and time (UTC)."""

    name: str
    email: str
    date: datetime


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """One commit; `tree` and `parents` are 40 hex digits."""

    sha: str
    parents: tuple[str, ...]
    tree: str
    author: Signature
    committer: Signature
    message: str


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file of a comparison, with GitHub's words for `status`; `patch` is None for binary files."""

    path: str
    previous_path: str | None
    status: str
    additions: int
    deletions: int
    sha: str
    patch: str | None


def git_date(signature: Signature) -> str:
    """A signature's time as git takes it from its variables."""
    return f"@{int(signature.date.timestamp())} +0000"


def commits(log: bytes) -> list[CommitInfo]:
    """Parse the output of `git log -z LOG_FORMAT`."""
    fields = log.decode("utf-8", "replace").split("\0")[:-1]
    rows = [fields[at : at + _FIELDS] for at in range(0, len(fields), _FIELDS)]
    return [
        CommitInfo(
            sha, tuple(parents.split()), tree, _signature(an, ae, ad), _signature(cn, ce, cd), message.rstrip("\n")
        )
        for sha, parents, tree, an, ae, ad, cn, ce, cd, message in rows
    ]


def files(diff: bytes) -> list[ChangedFile]:
    """Parse the output of `git diff --raw -p --no-abbrev -z`."""
    raw, _, patch = diff.partition(b"\0\0")
    sections = _sections(patch.decode("utf-8", "replace"))
    rows = _rows(raw.decode("utf-8", "replace"))
    return [_file(*row, section) for row, section in zip(rows, sections, strict=True)]


def _signature(name: str, email: str, date: str) -> Signature:
    return Signature(name, email, datetime.fromisoformat(date).astimezone(UTC))


def _rows(raw: str) -> Iterator[tuple[str, str, str, str | None]]:
    """Letter, blob, path and previous path of each changed file."""
    fields = iter(raw.split("\0") if raw else ())
    for header in fields:
        _, _, old, new, letter = header.split(" ")
        first = next(fields)
        path, previous = (next(fields), first) if letter[0] in "RC" else (first, None)
        yield letter[0], old if new == _NO_OBJECT else new, path, previous


def _sections(patch: str) -> list[str]:
    """The patch cut into files; a file that changes its type has two sections with one header line."""
    starts = itertools.accumulate(line.startswith("diff --git ") for line in patch.split("\n"))
    groups = itertools.groupby(zip(starts, patch.split("\n"), strict=True), key=lambda pair: pair[0])
    sections: list[list[str]] = []
    for _, group in groups:
        lines = [line for _, line in group]
        if sections and sections[-1][0] == lines[0]:
            sections[-1] += lines
        elif lines[0]:
            sections.append(lines)
    return ["\n".join(lines) for lines in sections]


def _file(letter: str, sha: str, path: str, previous: str | None, section: str) -> ChangedFile:
    _, mark, hunks = section.partition("\n@@ ")
    lines = hunks.split("\n")[1:]
    return ChangedFile(
        path=path,
        previous_path=previous,
        status=_STATUS[letter],
        additions=sum(line.startswith("+") for line in lines),
        deletions=sum(line.startswith("-") for line in lines),
        sha=sha,
        patch=f"@@ {hunks}".rstrip("\n") if mark else None,
    )


_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a patch: its number on either side, its place below the first hunk header."""

    text: str
    old: int | None
    new: int | None
    position: int
    hunk: str


def patch_lines(patch: str) -> Iterator[DiffLine]:
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
    for found in patch_lines(patch or ""):
        if line == (found.new if side == "RIGHT" else found.old):
            return DiffPlace(path, line, side, found.hunk, found.text, found.position, start_line)
    return None


def place_at(path: str, patch: str | None, position: int) -> DiffPlace | None:
    """The place that GitHub's older `position` names; None when the patch is shorter."""
    for found in patch_lines(patch or ""):
        if found.position == position:
            side = "LEFT" if found.new is None else "RIGHT"
            return DiffPlace(path, found.new or found.old or 0, side, found.hunk, found.text, position)
    return None
