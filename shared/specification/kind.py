"""The kinds and sizes of the work that a specification can ask for, and the lines that name them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from enum import StrEnum


class SpecificationKind(StrEnum):
    """The kind of work. Only a feature needs new tests that fail without it; the other kinds define their own proof."""

    FEATURE = "feature"
    REFACTORING = "refactoring"
    DOCUMENTATION = "documentation"
    REMOVAL = "removal"
    DEPENDENCY = "dependency"
    CONFIGURATION = "configuration"


_KINDS = frozenset(SpecificationKind)

LOUD_LINE = re.compile(r"^((?:[-*+][ \t]+)?[*_]{0,2}kind[*_]{0,2}[ \t]*)(\\*:)", re.IGNORECASE)
"""Start of a line that names a kind, or seems to; a backslash before the colon makes it plain text."""

_LINE = re.compile(r"(?:[-*+][ \t]+)?[*_]{0,2}kind[*_]{0,2}[ \t]*:[*_]{0,2}[ \t]*(\S.{0,39})", re.IGNORECASE)
_WORDS = 2
"""More words after the colon are a sentence that happens to begin with "Kind:"."""


def word_of(line: str) -> str:
    """Return the word of a line like `Kind: refactoring`, in lower case; empty for any other line."""
    found = _LINE.fullmatch(line.rstrip())
    word = found[1].strip(" \t*_`.;").casefold() if found else ""
    return word if len(word.split()) <= _WORDS else ""


def says_kind(line: str) -> bool:
    """Return whether a line names one of the kinds and nothing else."""
    return word_of(line) in _KINDS


def kind_of(words: Iterable[str], remarks: list[str]) -> SpecificationKind:
    """Return the first of `words` that is a kind, else FEATURE; unknown and further kinds become remarks."""
    found: SpecificationKind | None = None
    for word in dict.fromkeys(words):
        if word not in _KINDS:
            remarks.append(f"'Kind: {word}' is ignored: there is no such kind; {_near(word)}.")
        elif found is None:
            found = SpecificationKind(word)
        else:
            remarks.append(f"'Kind: {word}' is ignored: the kind is {found} already; say one.")
    return found or SpecificationKind.FEATURE


def _near(word: str) -> str:
    near = difflib.get_close_matches(word, list(SpecificationKind), 1) or [
        one for one in SpecificationKind if one[:3] == word[:3]
    ]
    return f"{near[0]} is one" if near else f"there are {', '.join(SpecificationKind)}"


# A larger size begins with a more expensive model, which the planner's model is not told: it reads the docstring.
class Size(StrEnum):
    """The difficulty of implementing a specification."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


LOUD_SIZE = re.compile(r"^((?:[-*+][ \t]+)?[*_]{0,2}size[*_]{0,2}[ \t]*)(\\*:)", re.IGNORECASE)
"""Start of a line that names a size, or seems to; a backslash before the colon makes it plain text."""

_SIZE_LINE = re.compile(
    rf"(?:[-*+][ \t]+)?[*_]{{0,2}}size[*_]{{0,2}}[ \t]*:[*_]{{0,2}}[ \t]*`?({'|'.join(Size)})[`*_.;]*", re.IGNORECASE
)


def said_size(line: str) -> Size | None:
    """Return the size in a line like `Size: large`; None for any other line, such as `Size: 10 MB`."""
    found = _SIZE_LINE.fullmatch(line.rstrip())
    return Size(found[1].casefold()) if found else None


def size_of(lines: Iterable[str]) -> Size | None:
    """Return the first size that one of these lines names."""
    return next((size for line in lines if (size := said_size(line)) is not None), None)
