"""Names of tests without what differs from run to run (pure)."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"0x[0-9a-f]{6,16}\b")
_ROOM = re.compile(r"[^\[\]\s'\"]*/run-[a-z0-9_]{8}/(?:tmp|home)\b")
"""The directories of a run, whose own name is drawn for each."""
_TEMPORARY = re.compile(r"(?:/private)?(?:/tmp|/var/tmp|/var/folders/[^/\]]+/[^/\]]+/T)(?=/)")
_DRAWN = re.compile(
    r"(?<=TMP)(?:/pytest-of-[^/\]]+/pytest-\d+|/pytest-\d+)?(?:/tmp[a-z0-9_]{8}\b|/[^/\]\s'\"-]*[A-Za-z0-9_]{6,}\b)?"
)
"""What pytest, `tempfile`, `mktemp` and their like put below the temporary directory."""


def stable(name: str) -> str:
    """A test's name without addresses of objects and temporary paths."""
    return _DRAWN.sub("", _TEMPORARY.sub("TMP", _ROOM.sub("TMP", _ADDRESS.sub("0x", name))))
