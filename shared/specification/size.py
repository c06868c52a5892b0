"""The size of a specification's work: a visible line, because a larger size begins with a more expensive model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum


class Size(StrEnum):
    """The difficulty of implementing a specification."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


LOUD_SIZE = re.compile(r"^((?:[-*+][ \t]+)?[*_]{0,2}size[*_]{0,2}[ \t]*)(\\*:)", re.IGNORECASE)
"""Start of a line that names a size, or seems to; a backslash before the colon makes it plain text."""

_LINE = re.compile(
    rf"(?:[-*+][ \t]+)?[*_]{{0,2}}size[*_]{{0,2}}[ \t]*:[*_]{{0,2}}[ \t]*`?({'|'.join(Size)})[`*_.;]*", re.IGNORECASE
)


def said_size(line: str) -> Size | None:
    """Return the size in a line like `Size: large`; None for any other line, such as `Size: 10 MB`."""
    found = _LINE.fullmatch(line.rstrip())
    return Size(found[1].casefold()) if found else None


def size_of(lines: Iterable[str]) -> Size | None:
    """Return the first size that one of these lines names."""
    return next((size for line in lines if (size := said_size(line)) is not None), None)
