"""Ticks in the check boxes of acceptance criteria; they show progress and are no edit of the text (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection

from shared.specification.layout import unescape
from shared.specification.model import CRITERION_LIMIT, line_of
from shared.specification.reading import read
from shared.text.markdown import ticked

_BOXED = re.compile(r"(?:[ \t]|>)*(?:[-*+]|\d{1,9}[.)])[ \t]+\[ \][ \t]+(?:(?:\*\*|__)?(AC[1-9]\d{0,3})\b)?(.*)", re.I)


def tick(body: str, proved: Collection[str]) -> str:
    """Return `body` with a tick at each criterion whose id is among `proved`."""
    wanted = {one.id: one.text for one in read(body).criteria if one.id in proved and not one.implied}

    def is_proved(line: str) -> bool:
        found = _BOXED.fullmatch(line)
        if found is None:
            return False
        text = line_of(unescape(f"- {found[2]}").removeprefix("- "), CRITERION_LIMIT)
        if found[1]:
            return found[1].upper() in wanted
        return bool(text) and any(one.startswith(text) for one in wanted.values())

    return ticked(body, is_proved) if wanted else body
