"""Kinds of input that an acceptance criterion mentions, but no new test has (pure).

A criterion that no test covers says "also outside ASCII", and every text of the tests is plain.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from shared.specification import Criterion
from worker_agent.tdd.damage.untried_shapes import SHAPES

UNTRIED = "{}: it speaks of {}, and no new test has any"
BYTES = "{}: it speaks of characters, the code goes by bytes (`{}` in {}), and no new test has any outside ASCII"
UNORDERED = "{}: it speaks of an order that is kept, and no list in the new tests is out of ascending order"


@dataclass(frozen=True, slots=True)
class _Kind:
    """The words by which criteria name a kind of input, and the code by which tests show that they have some."""

    name: str
    mention: re.Pattern[str]
    tried: re.Pattern[str]


_KINDS = (
    _Kind(
        "characters outside ASCII",
        re.compile(r"\b(?:non-?ascii|outside (?:of )?ascii|accent(?:s|ed)?|umlauts?|diacritics?|emojis?)\b", re.I),
        re.compile(
            r"[^\x00-\x7f]|\\u\{?[0-9a-f]|\\U[0-9a-f]|\\N\{|\\x[89a-f]|\bchr\(|fromCodePoint|fromCharCode", re.I
        ),
    ),
    _Kind(
        "negative numbers",
        re.compile(r"\bnegative (?:numbers?|values?|amounts?|integers?|counts?|index(?:es)?|indices)\b", re.I),
        re.compile(r"(?<![\w)\]])-\s?\.?\d|(?<![\w)\]])-[A-Za-z]|\bneg", re.I),
    ),
    _Kind(
        "empty input",
        re.compile(
            r"(?<!not )(?<!non-)(?<!non)(?<!never )\bempty (?:\w+ )?(?:texts?|strings?|lists?|arrays?|inputs?)\b", re.I
        ),
        re.compile(
            r"\"\"(?!\")|''(?!')|``(?!`)|\[\s*\]|\{\s*\}|\(\s*\)\s*[,)\]]|\b(?:None|null|nil|empty\w*|list|set|str)\b"
        ),
    ),
    _Kind(
        "line breaks",
        re.compile(r"\b(?:line ?breaks?|newlines?|several lines|multiple lines|multi-?line)\b", re.I),
        re.compile(r"\\n|\\r|\"\"\"|'''|`[^`]*\n|<<[~-]?\w|splitlines|\blines?\b"),
    ),
)
_CHARACTERS = re.compile(r"\b(?:characters?|letters?)\b", re.IGNORECASE)
_BYTES = {
    ".go": re.compile(r":?=\s*\[\]byte\(\w+\)"),
    ".rs": re.compile(r"\.(?:as_)?bytes\(\)"),
    ".php": re.compile(r"\b(?:strrev|strlen|substr|str_split|ucfirst|ucwords|wordwrap|str_pad)\("),
}
"""Code that takes texts apart, in languages whose texts are bytes."""

_KEPT_ORDER = re.compile(
    r"\b(?:keep|keeps|kept|preserv\w+|retain\w*|maintain\w*)\b[^.;]{0,30}\border\b|\boriginal order\b"
    r"|\border (?:in which|of (?:first )?(?:appearance|occurrence|insertion))\b",
    re.IGNORECASE,
)
_LIST = re.compile(r"[\[({]\s*([^\[\](){}]*,[^\[\](){}]*?)\s*[\])}]")
_ITEM = re.compile(r"-?\d+(?:\.\d+)?|\"[^\"]*\"|'[^']*'")


def untried(criteria: Collection[Criterion], tests: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return a sentence for each criterion and kind; `tests` are the files of the new tests."""
    text = "\n".join(content.decode("utf-8", "replace") for content in tests.values())
    return tuple(_untried(criteria, text)) if text else ()


def of_bytes(
    criteria: Collection[Criterion], tests: Mapping[str, bytes], base: Mapping[str, bytes], head: Mapping[str, bytes]
) -> tuple[str, ...]:
    """Return a sentence for each criterion about characters if new code splits texts by bytes and no test shows it."""
    text = "\n".join(content.decode("utf-8", "replace") for content in tests.values())
    asked = [one.id for one in criteria if not one.implied and _CHARACTERS.search(one.text)]
    if not text or not asked or _KINDS[0].tried.search(text):
        return ()
    for path, content in sorted(head.items()):
        pattern = _BYTES.get(PurePosixPath(path).suffix)
        seen = pattern.search(content.decode("utf-8", "replace")) if pattern is not None else None
        if seen is not None and seen[0].encode() not in base.get(path, b""):
            return tuple(BYTES.format(id, seen[0], path) for id in asked)
    return ()


def _untried(criteria: Collection[Criterion], text: str) -> Iterator[str]:
    for criterion in (each for each in criteria if not each.implied):
        for kind in _KINDS:
            if kind.mention.search(criterion.text) and not kind.tried.search(text):
                yield UNTRIED.format(criterion.id, kind.name)
        for shape in SHAPES:
            if shape.mention.search(criterion.text) and not shape.is_tried(text):
                yield UNTRIED.format(criterion.id, shape.name)
        if _KEPT_ORDER.search(criterion.text) and _is_ascending(text):
            yield UNORDERED.format(criterion.id)


def _is_ascending(text: str) -> bool:
    """Return whether tests have lists of plain values, all in ascending order if repetitions are dropped."""
    lists = [list(dict.fromkeys(found)) for found in map(_items, _LIST.findall(text)) if len(found) > 1]
    return bool(lists) and all(values == sorted(values) for values in lists)


def _items(text: str) -> list[tuple[float, str]]:
    """Return the plain values of a list, all numbers or all texts, for sorting; empty if it has others."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(_ITEM.fullmatch(part) for part in parts):
        return []
    texts = [part for part in parts if part[0] in "\"'"]
    if texts and len(texts) < len(parts):
        return []
    return [(0.0, part) for part in texts] or [(float(part), "") for part in parts]
