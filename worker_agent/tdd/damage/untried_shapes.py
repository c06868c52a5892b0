"""Shapes of input that criteria mention, and their detection in the literals of tests (pure).

A criterion says "one hyphen for each run of other signs", and every text of the tests has single spaces.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

_TEXT = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`([^`\\]*)`")
_RUN = re.compile(r"(?:[^\w\\]|_|\\[tnr]){2}")
_SPACES = (" ", "\t", "\n", "\\t", "\\n", "\\r")
_DEEP = re.compile(r"[\[{][^\[\]{}();]*[\[{][^\[\]{}();]*[\[{]|(?<!\w)(?:(?:\w++/){2,}|(?:\w++\.){3,})\w")
_INNER = r"[\[({][^\[\](){}]*+[\])}]"
_ROWS = re.compile(rf"(?<!\w)(?:\w++)?{_INNER}(?:\s*+,\s*+(?:\w++)?{_INNER})++")
_LIST = re.compile(r"[\[({]([^\[\](){}]*+)[\])}]")
_REPEATS = re.compile(r"[\"'\])] ?\* ?\d|\.repeat\(|Repeat\(|\.fill\(|vec!\[[^;\]]*;")
_EXPECTED = re.compile(r"(?:==|\beq|toEqual|toStrictEqual)\s*\(?\s*[\[({][^\[\](){}]*[\])}]")
"""A list that is expected, and not passed in."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Shape:
    """The words by which criteria name a shape of input, and a function that finds it in the tests' text."""

    name: str
    mention: re.Pattern[str]
    is_tried: Callable[[str], bool]


def _texts(tests: str) -> Iterator[str]:
    """Yield the texts in quotes."""
    for match in _TEXT.finditer(tests):
        yield next((group for group in match.groups() if group is not None), "")


def _has_run(tests: str) -> bool:
    """Return whether a text has two signs in a row that are no letters, or is built by repetition."""
    return any(_RUN.search(text) for text in _texts(tests)) or bool(
        re.search(r"[\"'] ?\* ?\d|\.repeat\(|Repeat\(", tests)
    )


def _has_edge(tests: str) -> bool:
    """Return whether a text begins or ends with a space."""
    return any(text.startswith(_SPACES) or text.endswith(_SPACES) for text in _texts(tests))


def _is_deep(tests: str) -> bool:
    """Return whether values are nested three deep, or a path has three parts."""
    return bool(_DEEP.search(tests))


def _is_mixed(tests: str) -> bool:
    """Return whether two texts differ only in the case of letters, or one is part of the other in that way."""
    texts = sorted({text for text in _texts(tests) if re.search(r"[^\W\d_]", text)}, key=len)[:80]
    return any(
        small.casefold() in large.casefold() and small not in large
        for position, small in enumerate(texts)
        for large in texts[position + 1 :]
    ) or bool(re.search(r"(?:upper|lower|swapcase|casefold|toUpperCase|ToUpper|upcase)\w*\(?", tests))


def _is_unordered(tests: str) -> bool:
    """Return whether a list of values, or of rows by their first values, is not ascending, or there is no list."""
    rows = [[_values(found[1])[:1] for found in _LIST.finditer(match[0])] for match in _ROWS.finditer(tests)]
    lists = [_values(match[1]) for match in _LIST.finditer(tests)] + [
        list(chain.from_iterable(each)) for each in rows if all(each)
    ]
    known = [values for values in lists if len(values) > 1]
    return not known or any(values != sorted(values) for values in known)


def _lists(tests: str) -> list[list[tuple[float, str]]]:
    return [values for match in _LIST.finditer(tests) if len(values := _values(match[1])) > 1]


def _is_repeated(tests: str) -> bool:
    """Return whether a list has one value twice, or there is no list, or one is built by repetition."""
    known = _lists(tests)
    return not known or _REPEATS.search(tests) is not None or any(len(set(each)) < len(each) for each in known)


def _is_tied(tests: str) -> bool:
    """Return whether a list has values that occur equally often and are not ascending; or there is no list."""
    known = _lists(_EXPECTED.sub("== (", tests))
    return not known or any(_ties_unordered(each) for each in known)


def _ties_unordered(values: list[tuple[float, str]]) -> bool:
    counts = Counter(values)
    groups = [[value for value in counts if counts[value] == times] for times in set(counts.values())]
    return any(group != sorted(group) for group in groups)


def _values(row: str) -> list[tuple[float, str]]:
    """Return the numbers and texts of a list for sorting; empty if it has others."""
    found = []
    for part in (part.strip() for part in row.split(",") if part.strip()):
        if _NUMBER.fullmatch(part):
            found.append((float(part), ""))
        elif len(part) > 1 and part[0] in "\"'" and part[-1] == part[0]:
            found.append((0.0, part[1:-1]))
        else:
            return []
    return found


SHAPES = (
    Shape(
        "runs of signs",
        re.compile(
            r"\brun of (?:\w+ )?(?:signs|\w*spaces?|hyphens|dashes|blanks|separators|other)\b"
            r"|\b(?:runs of|consecutive|several|multiple|repeated|adjacent) "
            r"(?:other )?(?:\w*spaces?|hyphens|dashes|blanks|signs|separators|commas)\b",
            re.I,
        ),
        _has_run,
    ),
    Shape(
        "spaces around a text",
        re.compile(r"\b(?:leading|trailing|surrounding) (?:(?:and|or) \w+ )?\w*space\w*|\bspaces? around\b", re.I),
        _has_edge,
    ),
    Shape(
        "values at any depth",
        re.compile(
            r"\b(?:any|every|arbitrary|whatever|all) (?:depths?|levels?|nesting)\b"
            r"|\b(?:arbitrarily|how|however) deep(?:ly)?\b|\bdeeply nested\b",
            re.I,
        ),
        _is_deep,
    ),
    Shape(
        "letters in any case",
        re.compile(
            r"\bin any case(?=\s*[.;)]|\s*$)|\bcase[- ]?insensitiv\w+"
            r"|\b(?:ignor\w+|regardless of|whatever) (?:the |their )?(?:letter )?case\b"
            r"|\bupper[- ]? ?(?:case)? or lower[- ]?case\b",
            re.I,
        ),
        _is_mixed,
    ),
    Shape(
        "the first or last of several",
        re.compile(r"\b(?:first|last) (?:index|match|occurrence|position)\b", re.I),
        _is_repeated,
    ),
    Shape(
        "values that are there equally often",
        re.compile(
            r"\bsame (?:frequency|count|number of (?:times|occurrences|appearances))\b"
            r"|\b(?:equally|as) (?:often|frequent)\b|\bties?\b[^.;]*\b(?:alphabet\w*|order\w*|ascending|smallest)\b",
            re.I,
        ),
        _is_tied,
    ),
    Shape(
        "input in any order",
        re.compile(
            r"\bwherever (?:they|it) (?:stands?|is|are|occurs?|comes?)\b|\bin any order\b|\bunsorted\b|\bout of order\b"
            r"|\b(?:regardless of|whatever|independent(?:ly)? of) (?:the |their )?order\b",
            re.I,
        ),
        _is_unordered,
    ),
)
