"""What a change does, in a few sentences: found in the last words of a coder, and in a pull request (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shared.text import one_line
from shared.text.markdown import heading, items, lines

MOST_SENTENCES = 4
"""So many describe a change in its pull request."""

MOST_CHARS = 900

BEGIN, END = "<!-- engine-summary -->", "<!-- end of engine-summary -->"
"""Around the sentences in a pull request's body: the commit of its merge repeats the first two."""

_ASKED = re.compile(r"^[ \t*_#>-]*pull request[ \t*_]*:[*_]*[ \t]*", re.IGNORECASE | re.MULTILINE)
"""How the paragraph begins that a coder is asked for."""

_NEXT = re.compile(r"(?<=[.!?])[\"'`)\]]*\s+(?=[\"'`(\[]?[A-Z0-9`])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|cf|vs|approx|no|st)|\b[A-Z])\.$", re.IGNORECASE)


def of_coder(said: str) -> str:
    """Up to four sentences on the change, from the last words of a coder; empty when they say nothing of the kind.

    What it marks as meant for the pull request counts, else its last paragraph of prose.
    """
    marked = list(_ASKED.finditer(said))
    wanted = list(_paragraphs(said[marked[-1].end() :]))[:1] if marked else list(_paragraphs(said))[-1:]
    return first_sentences(" ".join(wanted), MOST_SENTENCES)


def first_sentences(text: str, most: int) -> str:
    """The first sentences of a text, on one line."""
    kept = " ".join(list(_sentences(" ".join(text.split())))[:most])
    return one_line(kept, MOST_CHARS)


def written(text: str) -> str:
    """The sentences as a part of a body that `read` finds again; `text` is harmless already."""
    return f"{BEGIN}\n{text}\n{END}"


def read(body: str) -> str:
    """The sentences in a pull request's body, as they stand there now; empty when it has none."""
    _, begin, rest = body.replace("\r\n", "\n").partition(f"{BEGIN}\n")
    text, end, _ = rest.partition(f"\n{END}")
    return text.strip() if begin and end else ""


def _paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of prose: no code, lists, tables, quotes and headings."""
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
