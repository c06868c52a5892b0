"""The lines of a Markdown text: fences, headings and list items, as far as a parser of ours needs them (pure).

It follows CommonMark where a wrong answer would matter: what stands in a code fence is no
structure, and an unclosed fence runs to the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_FENCE = re.compile(r" {0,3}(?:(`{3,60})([^`]*)|(~{3,60})(?!~)(.*))", re.DOTALL)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?")
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,3}[.)])[ \t]+(\[[ xX]\](?:[ \t]+|$))?(.*)")


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its newline; `fenced` for the lines of a code fence and its two delimiters."""

    text: str
    fenced: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One list item as a single line; `boxed` when it has a check box, ticked or not."""

    text: str
    boxed: bool


def lines(text: str) -> Iterator[Line]:
    """The lines of `text`, split at `\\n` only."""
    closing = ""
    for line in text.split("\n"):
        fence = _FENCE.fullmatch(line)
        if not closing:
            closing = (fence[1] or fence[3]) if fence else ""
            yield Line(line, fenced=bool(closing))
            continue
        yield Line(line, fenced=True)
        if fence and _closes(fence, closing):
            closing = ""


def open_fence(text: str) -> str:
    """The delimiter that would close a fence left open at the end of `text`; empty when none is."""
    closing = ""
    for line in text.split("\n"):
        fence = _FENCE.fullmatch(line)
        if not closing:
            closing = (fence[1] or fence[3]) if fence else ""
        elif fence and _closes(fence, closing):
            closing = ""
    return closing


def _closes(fence: re.Match[str], opened: str) -> bool:
    marks, rest = (fence[1], fence[2]) if fence[1] else (fence[3], fence[4])
    return marks[0] == opened[0] and len(marks) >= len(opened) and not rest.strip()


def heading(line: Line) -> tuple[int, str] | None:
    """Level and title of an ATX heading; None for any other line and inside a fence."""
    found = None if line.fenced else _HEADING.fullmatch(line.text)
    if found is None:
        return None
    return len(found[1]), re.sub(r"[ \t]+#+[ \t]*$", "", found[2] or "").strip()


def items(content: Iterable[Line]) -> list[Item]:
    """The outermost list items; nested lists and continued lines belong to the item above them."""
    found: list[tuple[bool, list[str]]] = []
    outermost: int | None = None
    attached = False
    for line in content:
        item = None if line.fenced else _ITEM.fullmatch(line.text)
        indent = len(item[1].expandtabs(4)) if item else 0
        if item and (outermost is None or indent <= outermost + 1):
            outermost = indent if outermost is None else outermost
            found.append((bool(item[2]), [item[3]]))
            attached = True
        elif not line.text.strip():
            attached = False
        elif found and heading(line) is None and (attached or line.fenced or line.text[0] in " \t"):
            found[-1][1].append(line.text)
    return [Item(" ".join(" ".join(parts).split()), boxed) for boxed, parts in found]
