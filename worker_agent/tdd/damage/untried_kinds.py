"""Kinds of input that an acceptance criterion mentions, but no new test has (pure).

A criterion that no test covers says "also outside ASCII" or "one hyphen for each run of other signs", and every text
of the tests is plain, with single spaces.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import chain
from pathlib import PurePosixPath

from shared.specification import Criterion
from worker_agent.tdd.damage.code_changes import joined

UNTRIED = "{}: it speaks of {}, and no new test has any"
BYTES = "{}: it speaks of characters, the code goes by bytes (`{}` in {}), and no new test has any outside ASCII"
UNORDERED = "{}: it speaks of an order that is kept, and no list in the new tests is out of ascending order"

_OUTSIDE_ASCII = re.compile(
    r"[^\x00-\x7f]|\\u\{?[0-9a-f]|\\U[0-9a-f]|\\N\{|\\x[89a-f]|\bchr\(|fromCodePoint|fromCharCode", re.I
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
_LIST_OF_SEVERAL = re.compile(r"[\[({]\s*([^\[\](){}]*,[^\[\](){}]*?)\s*[\])}]")
_ITEM = re.compile(r"-?\d+(?:\.\d+)?|\"[^\"]*\"|'[^']*'")
_TEXT = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`([^`\\]*)`")
_RUN = re.compile(r"(?:[^\w\\]|_|\\[tnr]){2}")
_SPACES = (" ", "\t", "\n", "\\t", "\\n", "\\r")
DEEP = re.compile(r"[\[{][^\[\]{}();]*[\[{][^\[\]{}();]*[\[{]|(?<!\w)(?:(?:\w++/){2,}|(?:\w++\.){3,})\w")
"""Values that are nested three deep, or a path of three parts."""

_INNER = r"[\[({][^\[\](){}]*+[\])}]"
_ROWS = re.compile(rf"(?<!\w)(?:\w++)?{_INNER}(?:\s*+,\s*+(?:\w++)?{_INNER})++")
_LIST = re.compile(r"[\[({]([^\[\](){}]*+)[\])}]")
_REPEATS = re.compile(r"[\"'\])] ?\* ?\d|\.repeat\(|Repeat\(|\.fill\(|vec!\[[^;\]]*;")
_EXPECTED = re.compile(r"(?:==|\beq|toEqual|toStrictEqual)\s*\(?\s*[\[({][^\[\](){}]*[\])}]")
"""A list that is expected, and not passed in."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def untried(criteria: Collection[Criterion], tests: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return a sentence for each criterion and kind; `tests` are the files of the new tests."""
    text = joined(tests)
    found = []
    for criterion in (each for each in criteria if text and not each.implied):
        kinds = (kind for kind, mention, is_tried in _KINDS if mention.search(criterion.text) and not is_tried(text))
        found += [UNTRIED.format(criterion.id, kind) for kind in kinds]
        if _KEPT_ORDER.search(criterion.text) and _is_ascending(text):
            found.append(UNORDERED.format(criterion.id))
    return tuple(found)


def of_bytes(
    criteria: Collection[Criterion], tests: Mapping[str, bytes], base: Mapping[str, bytes], head: Mapping[str, bytes]
) -> tuple[str, ...]:
    """Return a sentence for each criterion about characters if new code splits texts by bytes and no test shows it."""
    text = joined(tests)
    asked = [each.id for each in criteria if not each.implied and _CHARACTERS.search(each.text)]
    if not text or not asked or _OUTSIDE_ASCII.search(text):
        return ()
    for path, content in sorted(head.items()):
        pattern = _BYTES.get(PurePosixPath(path).suffix)
        match = pattern.search(content.decode("utf-8", "replace")) if pattern is not None else None
        if match is not None and match[0].encode() not in base.get(path, b""):
            return tuple(BYTES.format(id, match[0], path) for id in asked)
    return ()


def _is_ascending(text: str) -> bool:
    """Return whether tests have lists of plain values, all in ascending order if repetitions are dropped."""
    lists = [list(dict.fromkeys(found)) for found in map(_items, _LIST_OF_SEVERAL.findall(text)) if len(found) > 1]
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
    firsts = (list(chain.from_iterable(each)) for each in rows if all(each))
    lists = _lists(tests) + [values for values in firsts if len(values) > 1]
    return not lists or any(values != sorted(values) for values in lists)


def _lists(tests: str) -> list[list[tuple[float, str]]]:
    return [values for match in _LIST.finditer(tests) if len(values := _values(match[1])) > 1]


def _is_repeated(tests: str) -> bool:
    """Return whether a list has one value twice, or there is no list, or one is built by repetition."""
    lists = _lists(tests)
    return not lists or _REPEATS.search(tests) is not None or any(len(set(each)) < len(each) for each in lists)


def _is_tied(tests: str) -> bool:
    """Return whether a list has values that occur equally often and are not ascending; or there is no list."""
    lists = _lists(_EXPECTED.sub("== (", tests))
    return not lists or any(_ties_unordered(each) for each in lists)


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


_KINDS: tuple[tuple[str, re.Pattern[str], Callable[[str], object]], ...] = (
    (
        "characters outside ASCII",
        re.compile(r"\b(?:non-?ascii|outside (?:of )?ascii|accent(?:s|ed)?|umlauts?|diacritics?|emojis?)\b", re.I),
        _OUTSIDE_ASCII.search,
    ),
    (
        "negative numbers",
        re.compile(r"\bnegative (?:numbers?|values?|amounts?|integers?|counts?|index(?:es)?|indices)\b", re.I),
        re.compile(r"(?<![\w)\]])-\s?\.?\d|(?<![\w)\]])-[A-Za-z]|\bneg", re.I).search,
    ),
    (
        "empty input",
        re.compile(
            r"(?<!not )(?<!non-)(?<!non)(?<!never )\bempty (?:\w+ )?(?:texts?|strings?|lists?|arrays?|inputs?)\b", re.I
        ),
        re.compile(
            r"\"\"(?!\")|''(?!')|``(?!`)|\[\s*\]|\{\s*\}|\(\s*\)\s*[,)\]]|\b(?:None|null|nil|empty\w*|list|set|str)\b"
        ).search,
    ),
    (
        "line breaks",
        re.compile(r"\b(?:line ?breaks?|newlines?|several lines|multiple lines|multi-?line)\b", re.I),
        re.compile(r"\\n|\\r|\"\"\"|'''|`[^`]*\n|<<[~-]?\w|splitlines|\blines?\b").search,
    ),
    (
        "runs of signs",
        re.compile(
            r"\brun of (?:\w+ )?(?:signs|\w*spaces?|hyphens|dashes|blanks|separators|other)\b"
            r"|\b(?:runs of|consecutive|several|multiple|repeated|adjacent) "
            r"(?:other )?(?:\w*spaces?|hyphens|dashes|blanks|signs|separators|commas)\b",
            re.I,
        ),
        _has_run,
    ),
    (
        "spaces around a text",
        re.compile(r"\b(?:leading|trailing|surrounding) (?:(?:and|or) \w+ )?\w*space\w*|\bspaces? around\b", re.I),
        _has_edge,
    ),
    (
        "values at any depth",
        re.compile(
            r"\b(?:any|every|arbitrary|whatever|all) (?:depths?|levels?|nesting)\b"
            r"|\b(?:arbitrarily|how|however) deep(?:ly)?\b|\bdeeply nested\b",
            re.I,
        ),
        DEEP.search,
    ),
    (
        "letters in any case",
        re.compile(
            r"\bin any case(?=\s*[.;)]|\s*$)|\bcase[- ]?insensitiv\w+"
            r"|\b(?:ignor\w+|regardless of|whatever) (?:the |their )?(?:letter )?case\b"
            r"|\bupper[- ]? ?(?:case)? or lower[- ]?case\b",
            re.I,
        ),
        _is_mixed,
    ),
    (
        "the first or last of several",
        re.compile(r"\b(?:first|last) (?:index|match|occurrence|position)\b", re.I),
        _is_repeated,
    ),
    (
        "values that are there equally often",
        re.compile(
            r"\bsame (?:frequency|count|number of (?:times|occurrences|appearances))\b"
            r"|\b(?:equally|as) (?:often|frequent)\b|\bties?\b[^.;]*\b(?:alphabet\w*|order\w*|ascending|smallest)\b",
            re.I,
        ),
        _is_tied,
    ),
    (
        "input in any order",
        re.compile(
            r"\bwherever (?:they|it) (?:stands?|is|are|occurs?|comes?)\b|\bin any order\b|\bunsorted\b|\bout of order\b"
            r"|\b(?:regardless of|whatever|independent(?:ly)? of) (?:the |their )?order\b",
            re.I,
        ),
        _is_unordered,
    ),
)
"""Kinds of input, the words by which criteria name them, and functions that find some in the tests' text."""
