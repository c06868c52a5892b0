"""The text format of a specification issue, shared by its reader and its writer.

Text that would be taken for structure is written with a backslash, as Markdown does it, so that
reading what was written gives back the same.
"""

from __future__ import annotations

import re
from enum import StrEnum

from shared.specification.kind import LOUD_LINE, LOUD_SIZE
from shared.specification.model import Trailer
from shared.text import digest, normalised
from shared.text.markdown import lines, unticked

MARK = "engine-spec"
PURPOSE = "spec"
"""Purpose of the MAC of a specification; its number is the story's."""


class SectionName(StrEnum):
    """The sections of a body, by the heading that the writer gives them."""

    GOAL = "Goal"
    CRITERIA = "Acceptance criteria"
    FILES = "Files"
    MAY_CHANGE = "Tests that may change"
    OUT_OF_SCOPE = "Out of scope"


_HEADINGS = {
    SectionName.GOAL: re.compile(r"goals?"),
    SectionName.MAY_CHANGE: re.compile(r"tests that may change"),
    SectionName.CRITERIA: re.compile(r".*(?:acceptance|criteri(?:a|on)).*"),
    SectionName.FILES: re.compile(r"files(?: to change| affected| involved)?"),
    SectionName.OUT_OF_SCOPE: re.compile(r"(?:out of|not in) scope|non-?goals"),
}

_NUMBERS = r"#\d{1,9}(?!\d)(?:(?:[ \t]*[,&][ \t]*(?:and[ \t]+)?|[ \t]+and[ \t]+)#\d{1,9}(?!\d))*"
RELATION = re.compile(rf"\b(depends on|blocked by|part of):?[ \t]+({_NUMBERS})", re.IGNORECASE)
RELATION_LINE = re.compile(rf"\s*(?:[-*+]\s+)?{RELATION.pattern}[.;\s]*", re.IGNORECASE)
NAMES_AN_ISSUE = re.compile(
    r"(?<![\w&\\])#[1-9]\d{0,8}\b|(?<![\w.-])[\w.-]++/[\w.-]++#[1-9]\d{0,8}\b"
    r"|https?://[^\s/]{1,200}(?:/[^\s/]{1,200}){0,6}?/issues/[1-9]"
)
TDD_LINE = re.compile(r"\s*@tdd-(max-attempts|timeout)\b[ \t:=]*(\S*)\s*", re.IGNORECASE)

_LOUD = (
    re.compile(r"^( {0,3})(\\*#{1,6}(?:[ \t]|$))"),
    re.compile(r"^(\s*)(\\*@tdd-(?:max-attempts|timeout)\b)", re.IGNORECASE),
    re.compile(r"(\b(?:depends on|blocked by|part of):?[ \t]+)(\\*#\d)", re.IGNORECASE),
    LOUD_LINE,
    LOUD_SIZE,
)
_QUIET = tuple(re.compile(pattern.pattern.replace(r"(\\*", r"\\(\\*", 1), pattern.flags) for pattern in _LOUD)


def part_of(title: str) -> SectionName | None:
    """Return the section that a heading opens, or None."""
    title = title.strip("*_: \t").casefold()
    return next((part for part, pattern in _HEADINGS.items() if pattern.fullmatch(title)), None)


def escape(content: str) -> str:
    """Escape everything in `content` that `read` would take for structure."""
    return "\n".join(line.text if line.fenced else _each(_LOUD, r"\1\\\2", line.text) for line in lines(content))


def unescape(content: str) -> str:
    """Undo `escape`."""
    if "\\" not in content:
        return content
    return "\n".join(line.text if line.fenced else _each(_QUIET, r"\1\2", line.text) for line in lines(content))


def _each(patterns: tuple[re.Pattern[str], ...], replacement: str, line: str) -> str:
    for pattern in patterns:
        line = pattern.sub(replacement, line)
    return line


_TRAILER = re.compile(
    rf"<!-- {MARK}/1 parent=(\d{{1,9}}) key=([A-Za-z0-9._-]+) plan=([0-9a-f]{{8}}) body=([0-9a-f]{{64}}) mac=\S* -->"
)


def trailer_of(body: str) -> tuple[str, Trailer] | None:
    """Return the text above the engine's last line, and that line parsed; None if the last line is none of ours."""
    content, _, last = normalised(body).rpartition("\n")
    found = _TRAILER.fullmatch(last)
    return (content, Trailer(int(found[1]), found[2], found[3], found[4])) if found else None


def content_sha256(content: str) -> str:
    """Return the hash of the text above the trailer, its `body=`."""
    return digest(normalised(content))


def body_sha256(title: str, body: str) -> str:
    """Return the hash of title and body to which an approval is bound.

    Line ends, trailing space and empty lines at either end do not count: GitHub's editor changes them.
    Nor do ticks in check boxes, and the engine's own counter in the title.
    """
    return digest(f"{plain_title(title)}\0{unticked(normalised(body))}")


_COUNTER = re.compile(r"(?<!\s)\s*+\| attempt \d{1,3}/\d{1,3}\s*$")


def plain_title(title: str) -> str:
    """Return a title without the counter of attempts that the worker may show there."""
    return _COUNTER.sub("", title).strip()
