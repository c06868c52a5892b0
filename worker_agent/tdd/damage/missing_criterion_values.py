"""Values of an acceptance criterion that occur neither in the tests nor in the code of the change (pure).

A criterion that no test covers mentions `1900` or `2 boxes`, and no file of the change has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from shared.specification import Criterion
from shared.text import one_line

UNASKED = "{}: it names {}, which stands neither in the tests nor in the code of the change"

SHOWN = 3
"""The most values of one criterion that are named."""

CHARS = 40
"""The most characters of a quoted value; a longer quotation is a sentence."""

_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|“([^”]+)”")
_NUMBER = re.compile(r"(?<![\w.#/:-])\d{3,9}(?![\w%/:-]|\.\d)")
_NAME = re.compile(r"[\w$.@:<>?*&\[\]-]*\w[\w$.@:<>?*&\[\]-]*")
_AMOUNT = re.compile(r"\d+(?:\.\d+)?[a-zA-Z%]{1,3}(?:\d+[a-zA-Z]{1,3})*")
_ROW = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:, ?-?\d+(?:\.\d+)?){2,}(?![\w.]*\w)")
_PLACEHOLDER = re.compile(r"(?<!\w)[A-Z](?!\w)|<\w[\w -]*>|\{\w+\}|\.\.\.|…")
"""Placeholders for any value in an example: `N`, `<name>`, `{name}`, dots."""

_FAILURE = re.compile(r"(?:\w+[.:])*\w*(?:Error|Exception)")
_STANDARD = re.compile(r"\b(?:ISO|RFC|IEEE|ECMA|DIN|CVE|PEP|BCP|ANSI)[ -]?\d[\d-]*")
"""Names of standards with a number in them."""

_CODE = re.compile(r"\w\(|^--?\w|^\w+=|[/\\]\w|=>|->|^[A-Z]{2,} ")


def unasked(criteria: Iterable[Criterion], files: Iterable[bytes]) -> tuple[str, ...]:
    """Return a sentence for each criterion with such values; `files` are the touched files, as the head has them.

    Values are numbers of three digits and more, three numbers or more in a row, and quotations, except code, names and
    paths.
    """
    text = re.sub(r"\s+", "", b"\n".join(files).decode("utf-8", "replace")).casefold()
    plain = re.sub(r"(?<=\d)_(?=\d)", "", text)
    found = []
    for criterion in (each for each in criteria if not each.implied):
        missing = [value for value in _values(criterion) if not all(part in plain for part in _parts(value))]
        if missing:
            named = ", ".join(f"`{one_line(value, CHARS)}`" for value in missing[:SHOWN])
            found.append(UNASKED.format(criterion.id, named))
    return tuple(found)


def _values(criterion: Criterion) -> Iterator[str]:
    """Yield the values that one criterion names, each once."""
    quoted = [next(filter(None, match.groups())) for match in _QUOTED.finditer(criterion.text)]
    values = [value.strip() for value in quoted if _is_value(value.strip())]
    rest = _STANDARD.sub(" ", _QUOTED.sub(" ", criterion.text))
    yield from dict.fromkeys([*values, *_ROW.findall(rest), *_NUMBER.findall(rest)])


def _parts(value: str) -> list[str]:
    """Return a value without spaces, split at its placeholders."""
    return [re.sub(r"\s+", "", part).casefold() for part in _PLACEHOLDER.split(value)]


def _is_value(text: str) -> bool:
    """Return whether a quotation is a value that a test would pass or expect."""
    if not text or len(text) > CHARS or _CODE.search(text):
        return False
    if _FAILURE.fullmatch(text):
        return True
    if re.fullmatch(r"-?\d+(?:\.\d+)?", text):
        return len(text) > 1
    return bool(_AMOUNT.fullmatch(text)) or not (_NAME.fullmatch(text) and text.isascii())
