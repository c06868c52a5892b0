"""Text of tests and models as inert Markdown: code spans, plain words, sentences with code in them (pure)."""

from __future__ import annotations

import re

from shared.text import neutralise, one_line

ID_CHARS = 200
SENTENCE_CHARS = 300


def code(text: str) -> str:
    """Return `text` as a code span that it cannot leave: no mention, link, cell border or hidden marker."""
    inert = neutralise(one_line(text, ID_CHARS)).replace("`", "'")
    return f"`{_cell(inert)}`" if inert.strip() else ""


def plain(text: str) -> str:
    """Return `text` as words and ordinary punctuation, on one line."""
    return _cell(_words(one_line(text, ID_CHARS)))


def mixed(text: str) -> str:
    """Return a sentence whose own code spans stay code; the rest becomes plain."""
    parts = re.split(r"`([^`]*)`", one_line(text, SENTENCE_CHARS))
    return "".join(code(part) if at % 2 else _cell(_words(part)) for at, part in enumerate(parts))


def _words(text: str) -> str:
    return neutralise(re.sub(r"[^\w .,:;()$'|-]", "", text))


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\\*+\|", r"\|", text)
