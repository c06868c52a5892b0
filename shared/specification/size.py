"""How hard the work of a specification is: a visible line, because a larger size begins with a dearer model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum


class Size(StrEnum):
    """How hard a specification is to implement."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


LOUD_SIZE = re.compile(r"^((?:[-*+][ \t]+)?[*_]{0,2}size[*_]{0,2}[ \t]*)(\\*:)", re.IGNORECASE)
"""How a line begins that says a size, or seems to; a backslash before the colon makes it text."""

_LINE = re.compile(
    rf"(?:[-*+][ \t]+)?[*_]{{0,2}}size[*_]{{0,2}}[ \t]*:[*_]{{0,2}}[ \t]*`?({'|'.join(Size)})[`*_.;]*", re.IGNORECASE
)


def said_size(line: str) -> Size | None:
    """The size that a line like `Size: large` says; None for any other line, such as `Size: 10 MB`."""
    found = _LINE.fullmatch(line.rstrip())
    return Size(found[1].casefold()) if found else None


def size_of(lines: Iterable[str]) -> Size | None:
    """The first size that one of these lines says."""
    return next((size for line in lines if (size := said_size(line)) is not None), None)
