"""The summary of a change in a few sentences: taken from a coder's output, and kept in its pull request (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shared.text import one_line
from shared.text.markdown import heading, items, lines

MOST_SENTENCES = 4
"""Sentences, at most, that describe a change in its pull request."""

MOST_CHARS = 900

BEGIN, END = "<!-- engine-summary -->", "<!-- end of engine-summary -->"
"""Delimiters of the summary in a pull request's body: its merge commit repeats the first two sentences."""

_ASKED = re.compile(r"^[ \t*_#>-]*pull request[ \t*_]*:[*_]*[ \t]*", re.IGNORECASE | re.MULTILINE)
"""Start of the paragraph that a coder is asked to write."""

_NEXT = re.compile(r"(?<=[.!?])[\"'`)\]]*\s+(?=[\"'`(\[]?[A-Z0-9`])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|cf|vs|approx|no|st)|\b[A-Z])\.$", re.IGNORECASE)


def of_coder(text: str) -> str:
    """Return up to four sentences on the change, from a coder's output; empty if it has none.

    The paragraph marked for the pull request counts, else the last paragraph of prose.
    """
    marked = list(_ASKED.finditer(text))
    wanted = list(_paragraphs(text[marked[-1].end() :]))[:1] if marked else list(_paragraphs(text))[-1:]
    return first_sentences(" ".join(wanted), MOST_SENTENCES)


def first_sentences(text: str, most: int) -> str:
    """Return the first `most` sentences of a text, on one line."""
    kept = " ".join(list(_sentences(" ".join(text.split())))[:most])
    return one_line(kept, MOST_CHARS)


def written(text: str) -> str:
    """Wrap the sentences, so that `read` finds them in a body; `text` is harmless already."""
    return f"{BEGIN}\n{text}\n{END}"


def read(body: str) -> str:
    """Return the summary in a pull request's body as it is now; empty if there is none."""
    _, begin, rest = body.replace("\r\n", "\n").partition(f"{BEGIN}\n")
    text, end, _ = rest.partition(f"\n{END}")
    return text.strip() if begin and end else ""


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of prose: no code, lists, tables, quotes and headings."""
    block: list[str] = []
    for line in [*lines(text.strip()), *lines("\n")]:
        other = line.fenced or heading(line) is not None or line.text.lstrip().startswith((">", "|", "<"))
        if line.text.strip() and not other:
            block.append(line.text.strip())
            continue
        if block and not items(lines(block[0])):
            yield " ".join(block)
        block = []


def _sentences(text: str) -> Iterator[str]:
    begun = ""
    for part in _NEXT.split(text):
        begun = f"{begun} {part}".strip()
        if not _ABBREVIATION.search(begun):
            yield begun
            begun = ""
    if begun:
        yield begun
