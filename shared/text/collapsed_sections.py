"""Removal of sections that GitHub shows collapsed: people who approve a text may not have read them (pure)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from shared.text.code_spans import parts

LEFT_OUT = "[a folded section is left out]"

_MARK = re.compile(r"""<(/?)details(?![\w-])((?:[^<>"']|"[^"]*"|'[^']*')*+)>""", re.IGNORECASE)
_QUOTED = re.compile(r""""[^"]*"|'[^']*'""")
_OPEN = re.compile(r"(?:^|[\s/])open(?=[\s/=]|$)", re.IGNORECASE)


def unfolded(text: str) -> str:
    """Replace each `<details>` that is not `open` with a note; one without an end hides the rest.

    Text that is code for certain shows its tags as they are, and stays.
    """
    if "<details" not in text.lower():
        return text
    kept: list[str] = []
    sections: list[bool] = []
    """For each section around the current text, the innermost last: True if it is collapsed."""
    at = 0
    for found in _tags(text):
        hidden = any(sections)
        if found[1]:
            if sections:
                sections.pop()
        else:
            sections.append(_OPEN.search(_QUOTED.sub("", found[2])) is None)
        if not hidden:
            kept.append(text[at : found.start() if any(sections) else found.end()])
            kept.append(LEFT_OUT if any(sections) else "")
        at = found.end()
    return "".join(kept if any(sections) else [*kept, text[at:]])


def _tags(text: str) -> Iterator[re.Match[str]]:
    starts, codes, at = [], [], 0
    for part in parts(text):
        starts.append(at)
        codes.append(part.code)
        at += len(part.text)
    for found in _MARK.finditer(text):
        if not codes[bisect_right(starts, found.start()) - 1]:
            yield found
