"""The lines of a Markdown text: fences, headings, list items and check boxes, as far as the engine needs them (pure).

It follows CommonMark where a wrong answer would matter: text in a code fence is no
structure, and an unclosed fence runs to the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

_FENCE = re.compile(r" {0,3}(?:(`{3,60})([^`]*)|(~{3,60})(?!~)(.*))", re.DOTALL)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?")
_TICKED = re.compile(r"^((?:[ \t]|>)*(?:[-*+]|\d{1,9}[.)])[ \t]+)\[[xX]\](?=[ \t]|$)")
_UNTICKED = re.compile(r"^((?:[ \t]|>)*(?:[-*+]|\d{1,9}[.)])[ \t]+)\[ \](?=[ \t]|$)")
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,3}[.)])[ \t]+(\[[ xX]\](?:[ \t]+|$))?(.*)")


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its newline; `fenced` is True for the lines of a code fence and its two delimiters."""

    text: str
    fenced: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One list item as a single line; `boxed` is True if it has a check box, ticked or not."""

    text: str
    boxed: bool


def lines(text: str) -> Iterator[Line]:
    """Yield the lines of `text`, split at `\\n` only."""
    open_before = ""
    for line, open_after in _with_fences(text):
        yield Line(line, fenced=bool(open_before or open_after))
        open_before = open_after


def unticked(text: str) -> str:
    """Return `text` with every check box empty: a tick only shows progress."""
    if "[x]" not in text and "[X]" not in text:
        return text
    return "\n".join(line.text if line.fenced else _TICKED.sub(r"\1[ ]", line.text) for line in lines(text))


def ticked(text: str, which: Callable[[str], bool]) -> str:
    """Return `text` with a tick in the empty check box of each list item for whose line `which` is true."""

    def shown(line: Line) -> str:
        return _UNTICKED.sub(r"\1[x]", line.text) if not line.fenced and which(line.text) else line.text

    return "\n".join(shown(line) for line in lines(text))


LOG_LINES = 20
"""Lines from which on a block is collapsed: then it is a pasted log, seldom anything else."""

_STRUCTURE = re.compile(r"[ \t]*(?:[-*+>|#]|\d{1,9}[.)][ \t]|<)")


def fold_logs(text: str) -> str:
    """Put long code blocks, and long runs of bare lines, into sections that GitHub shows collapsed.

    No text is removed. Lists, tables, quotes and HTML stay as they are.
    """
    out: list[str] = []
    for block in _blocks(text):
        out += _collapse(block) if len(block) >= LOG_LINES else [line.text for line in block]
    return "\n".join(out)


def _blocks(text: str) -> Iterator[list[Line]]:
    """Yield each code fence with its two delimiters, each run of bare lines, and every other line alone."""
    block: list[Line] = []
    closing = ""
    for line in lines(text):
        opens = line.fenced and not closing
        bare = not line.fenced and bool(line.text.strip()) and not _STRUCTURE.match(line.text)
        if block and (opens or not (closing or (bare and not block[0].fenced))):
            yield block
            block = []
        block.append(line)
        if line.fenced:
            closing = _closing_after(line.text, closing)
        if not line.fenced and not bare:
            yield block
            block = []
    if block:
        yield block


def _collapse(block: list[Line]) -> list[str]:
    shown = [line.text for line in block]
    if not block[0].fenced:
        shown = ["~~~~text", *shown, "~~~~"]
    elif open_fence("\n".join(shown)):
        shown.append(open_fence("\n".join(shown)))
    return [f"<details><summary>{len(block)} lines</summary>", "", *shown, "", "</details>"]


def open_fence(text: str) -> str:
    """Return the delimiter that would close a fence left open at the end of `text`; empty if none is."""
    *_, (_, closing) = _with_fences(text)
    return closing


def _with_fences(text: str) -> Iterator[tuple[str, str]]:
    """Yield each line with the delimiter that would close the fence that is open after it; empty if none is."""
    closing = ""
    for line in text.split("\n"):
        closing = _closing_after(line, closing)
        yield line, closing


def _closing_after(line: str, closing: str) -> str:
    """Return the delimiter that would close the fence that is open after `line`; `closing` is the one before it."""
    fence = _FENCE.fullmatch(line) if "```" in line or "~~~" in line else None  # most lines need no expression
    if fence and not closing:
        return str(fence[1] or fence[3])
    return "" if fence and _closes(fence, closing) else closing


def _closes(fence: re.Match[str], opened: str) -> bool:
    marks, rest = (fence[1], fence[2]) if fence[1] else (fence[3], fence[4])
    return marks[0] == opened[0] and len(marks) >= len(opened) and not rest.strip()


def heading(line: Line) -> tuple[int, str] | None:
    """Return level and title of an ATX heading; None for any other line and inside a fence."""
    found = None if line.fenced else _HEADING.fullmatch(line.text)
    if found is None:
        return None
    return len(found[1]), re.sub(r"[ \t]+#+[ \t]*$", "", found[2] or "").strip()


def items(content: Iterable[Line]) -> list[Item]:
    """Return the outermost list items; nested lists and continued lines belong to the item above them."""
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
