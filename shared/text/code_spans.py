"""The parts of a Markdown text that are shown as code, whatever surrounds them (pure).

Doubt counts as text: code is posted unchanged, so a wrong guess would let a
mention or an image work. See https://spec.commonmark.org/0.31.2/ and GitHub's tables on top of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_MARKS = re.compile(r"(?P<indent>[ \t]*)(?:(?P<ticks>`{3,})[^`]*|(?P<tildes>~{3,}).*)")
_SPAN = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`)")
_TAG = re.compile(r"<[A-Za-z/!?]")
_RAW = re.compile(r"<(?:[!?]|(?:pre|script|style|textarea)\b)", re.IGNORECASE)
"""HTML that ends neither with its line nor at a blank one."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of a text: within one line, with its line end, or a whole text that has no code."""

    text: str
    code: bool = False


@dataclass(slots=True)
class _Known:
    """State of the scan after the lines so far."""

    html: bool = False
    """True if the lines since the last blank one may be an HTML block: neither fences nor spans are code there."""
    open_span: bool = False
    """True if a code span or a tag of the paragraph may still be open."""
    fences_lost: bool = False
    """True if it is unclear whether a fence is open."""
    raw: bool = False
    """True if HTML may be open whose end is not looked for."""


def parts(text: str) -> Iterator[TextPiece]:
    """Yield `text` in pieces, in order; `code` is True for pieces that are code for certain.

    A fence counts if both its delimiters are at the start of a line; a span if it ends in its
    line, and nothing before it in its paragraph can have taken one of its backticks.
    """
    without_code = "`" not in text and "~~~" not in text
    if without_code or "\r" in text.replace("\r\n", ""):  # which is a line end for GitHub, and none for us
        yield TextPiece(text)
        return
    rows = text.split("\n")
    rows = [f"{row}\n" for row in rows[:-1]] + rows[-1:]
    state, at = _Known(), 0
    while at < len(rows):
        opened = _MARKS.fullmatch(rows[at].rstrip("\r\n"))
        if opened is None or state.raw or state.fences_lost:
            yield from _line(rows[at], state)
            at += 1
            continue
        end, code = _fence(rows, at, opened, state)
        yield from (TextPiece(row, code=code) for row in rows[at:end])
        state.open_span = not code
        at = end


def _fence(rows: Sequence[str], at: int, opened: re.Match[str], state: _Known) -> tuple[int, bool]:
    """Return the line after the fence that opens at `at`, and whether it is code; set `fences_lost` if unclear."""
    marks, indent = opened["ticks"] or opened["tildes"], opened["indent"]
    closing = re.compile(rf"(?P<indent>[ \t]*){re.escape(marks)}{re.escape(marks[0])}*[ \t]*")
    for end in range(at + 1, len(rows)) if not state.html else ():
        row = rows[end].rstrip("\r\n")
        closed = closing.fullmatch(row)
        if indent and row.strip(" \t") and (not row.startswith(indent) or (closed and closed["indent"] != indent)):
            break  # it may have been a list item's, and ended with it
        if closed and (indent or re.match(r" {0,3}[`~]", row)):
            return end + 1, not indent and not closed["indent"]
    state.fences_lost = True
    return at + 1, False


def _line(row: str, state: _Known) -> Iterator[TextPiece]:
    if not row.strip(" \t\r\n"):
        state.html = state.open_span = False
        yield TextPiece(row)
        return
    state.html = state.html or row.lstrip(" \t").startswith("<")
    spans = [] if state.raw or state.html or state.open_span else _spans(row)
    rest = _without(row, spans)
    state.open_span = state.open_span or "`" in rest or bool(_TAG.search(rest))
    state.raw = state.raw or bool(_RAW.search(_without_comments(rest)))
    if state.open_span:
        yield TextPiece(row)
        return
    start = 0
    for span in spans:
        yield TextPiece(row[start : span.start()])
        yield TextPiece(span[0], code=True)
        start = span.end()
    yield TextPiece(row[start:])


def _without_comments(row: str) -> str:
    """Return a line without the comments that end in it; linear even with many comments that never end."""
    kept, at = [], 0
    while (start := row.find("<!--", at)) >= 0 and (end := row.find("-->", start + 4)) >= 0:
        kept.append(row[at:start])
        at = end + 3
    return "".join([*kept, row[at:]])


def _spans(row: str) -> list[re.Match[str]]:
    """Return the code spans of a line; none if an escape or a table's cells could change them."""
    found = list(_SPAN.finditer(row))
    return [] if "\\`" in row or any("|" in span[0] for span in found) else found


def _without(row: str, spans: Sequence[re.Match[str]]) -> str:
    kept = [0, *(edge for span in spans for edge in span.span()), len(row)]
    return " ".join(row[start:end] for start, end in zip(kept[::2], kept[1::2], strict=True))
