"""A pull request's diff as one review sees it: cut to size by file, with the lines that take a remark (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shared.git.patch_policy import FLAGGED, MANIFESTS, PROTECTED, matches
from shared.text import one_line

_SECTION = re.compile(r"^(?=diff --git )", re.MULTILINE)
_SAME = re.compile(r"diff --git a/(?P<path>.*) b/(?P=path)")
_NAMED = re.compile(r"^(?:--- a/|\+\+\+ b/|(?:rename|copy) (?:from|to) )([^\t\n]+)", re.MULTILINE)

_OLD = re.compile(r"^(?P<how>--- a/|rename from )(?P<path>[^\t\n]+)", re.MULTILINE)

_BINARY = re.compile(r"^(?:Binary files |GIT binary patch)", re.MULTILINE)
"""Sections of binary files, whose contents a text difference does not show."""

_PLACES = re.compile(r"^(?:index [0-9a-f]+\.\.[0-9a-f]+|@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@.*)", re.MULTILINE)
"""Lines that tell where a change is, not what it is: if the base moves, they change."""


NAMES = 20
"""Maximum number of missing files that are named."""

UNREADABLE = "(a file whose name git quotes)"


@dataclass(frozen=True, slots=True)
class Patch:
    """A diff cut to size: `text` is shown, `lines` are the new side's line numbers in it, `missing` is left out."""

    text: str
    paths: frozenset[str]
    lines: Mapping[str, frozenset[int]]
    missing: tuple[str, ...] = ()
    lessened: frozenset[str] = frozenset()
    """Old paths of files that lose lines or are moved."""
    size: int = 0
    """Number of lines added or removed in the whole change, without files that are deleted as a whole."""

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Files that only a person's merge may change: CI, ownership, instructions, dependencies, code nobody calls."""
        patterns = (*PROTECTED, *MANIFESTS, *FLAGGED)
        return tuple(sorted(path for path in self.paths if path == UNREADABLE or matches(path, tuple(patterns))))

    def has(self, path: str, line: int | None) -> bool:
        """Return whether a remark can be placed on this line."""
        return line in self.lines.get(path, frozenset())


def read(diff: str, limit_bytes: int) -> Patch:
    """Read a diff; files that do not fit into `limit_bytes` are left out, and the text says so."""
    sections = [section for section in _SECTION.split(diff) if section.startswith("diff --git ")]
    shown, missing, room = [], [], limit_bytes
    for section in sections:
        size = len(section.encode("utf-8", "replace"))
        if size <= room:
            shown.append(section)
            room -= size
        else:
            missing.append(one_line(", ".join(sorted(_paths(section))), 200))
    text = "".join(shown)
    if missing:
        text += f"\n{_statement_of_missing(missing, len(sections), limit_bytes)}\n"
    return Patch(
        text,
        frozenset(path for section in sections for path in _paths(section)),
        {path: lines for section in shown for path, lines in _lines(section)},
        tuple(missing),
        frozenset(path for section in sections for path in _lessened_paths(section)),
        sum(map(_size, sections)),
    )


def is_same(before: str, after: str) -> bool:
    """Return whether two unified diffs remove and add the same lines, between the same others."""
    if _BINARY.search(after) or _BINARY.search(before):
        return False
    return _PLACES.sub("@@", before) == _PLACES.sub("@@", after)


def _statement_of_missing(missing: Sequence[str], files: int, limit_bytes: int) -> str:
    named = ", ".join(missing[:NAMES]) + (" and more" if len(missing) > NAMES else "")
    return (
        f"[PARTS ARE MISSING: {len(missing)} of {files} changed files are not shown, "
        f"because a review sees at most {limit_bytes} bytes: {named}]"
    )


def _paths(section: str) -> frozenset[str]:
    """Return every path that a file's header names, old and new."""
    header = section.partition("\n@@ ")[0]
    first = header.partition("\n")[0]
    if '"' in first:
        return frozenset({UNREADABLE})
    same = _SAME.fullmatch(first)
    found = frozenset(_NAMED.findall(header)) | ({same["path"]} if same else frozenset())
    return found or frozenset({UNREADABLE})


def _size(section: str) -> int:
    """Return the number of lines that somebody has to read to know what a file's section does."""
    header, _, body = section.partition("\n@@ ")
    if "\ndeleted file mode " in header:
        return 0
    return sum(line.startswith(("+", "-")) for line in body.split("\n")[1:])  # the first ends the hunk's header


def _lessened_paths(section: str) -> Iterator[str]:
    header, _, body = section.partition("\n@@ ")
    old = _OLD.search(header)
    if old is not None and (old["how"] == "rename from " or "\n-" in body):
        yield old["path"]


def _lines(section: str) -> Iterator[tuple[str, frozenset[int]]]:
    from unidiff.errors import UnidiffParseError  # loaded when there is something to review
    from unidiff.patch import PatchSet

    try:
        files = PatchSet(section)
    except UnidiffParseError:
        return  # its findings go into the summary
    for file in files:
        numbers = (line.target_line_no for hunk in file for line in hunk if line.is_added or line.is_context)
        yield file.path, frozenset(number for number in numbers if number is not None)
