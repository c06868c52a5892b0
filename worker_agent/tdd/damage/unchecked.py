"""Acceptance criteria compared with the new tests: too few checks, errors or values that no test expects (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from shared.specification import Criterion
from shared.text import one_line
from worker_agent.tdd.damage.expectations import expected_tests
from worker_agent.tdd.syntax.source import Language, Source
from worker_agent.tdd.syntax.units_checks import checks_in

FEWER = "{} acceptance criteria, and the new tests check a result {}: something is not tested"
FOR_ALL = "{}: it says `{}`, and the new tests check a result {}"
NO_ERROR = "{}: it asks for an error, and no new test expects one"

_OF_TEXTS = re.compile(r"\b(?:document\w*|docs?|readme|changelog|release notes|tests?|lint\w*|typed?|types|ci)\b", re.I)
"""Words of criteria that no test checks."""

_MANY = re.compile(r"\b(?:for|while|loop|each\w*|forEach|map|every|given|proptest|quickcheck|fuzz|F\.Add)\b")
"""Code that checks many results with one check."""

EXAMPLES = 3
"""The fewest results that must be checked for a criterion about every input."""

_ROWS = re.compile(r"@\w*(?:Source|DataProvider|ParameterizedTest)|@dataProvider|rstest|\bshared_examples")
_ALL = re.compile(
    r"(?<!without )(?<!not )(?<!never )(?<!nor )"
    r"\b(?:every|any(?! case\b)|anything|whatever|whichever|regardless|arbitrary|no matter)\b",
    re.IGNORECASE,
)
"""Words by which criteria mean all inputs."""

_ERROR = re.compile(r"\b(?:errors?|exceptions?|raises?|throws?|panics?)\b|\b\w+(?:Error|Exception)\b")
_NO_ERROR_ASKED = re.compile(
    r"\b(?:(?:is|are) not|no|without|instead of|rather than|never|nor)\s+(?:\w+\s+){0,2}?"
    r"(?:errors?|exceptions?|raises?|throws?|panics?|raise|throw|panic)\b"
    r"|\berror (?:messages?|pages?|logs?|rates?|codes?|handl\w+|report\w*|output|streams?|channel)"
    r"|\b(?:standard|std) ?errors?\b|\b(?:rounding|margin of|mean|squared|relative|absolute) errors?\b",
    re.I,
)
"""Criteria that mention errors and ask for none, or for more than one."""

_GO_NOISE = re.compile(r"\b\w\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow|Log|Logf)\b|\berr\b\s*!=\s*nil|\bNoError\b")
_EXPECTS = re.compile(
    r"error|exception|raise|throw|reject|refus|fail|invalid|illegal|panic|is_err"
    r"|\bErr\(|\berr\w*(?:\(\))? == nil|catch|rescue|\bexcept\b|[45]\d\d\b|stderr|\.err\b|exit|returncode|warns|status",
    re.I,
)
"""Words by which tests mention errors that they expect."""

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


def unchecked(
    criteria: Collection[Criterion], tests: Mapping[str, bytes], test_counts: Mapping[str, Mapping[str, int]]
) -> tuple[str, ...]:
    """Return the sentences about gaps of the new tests, however many they are.

    `test_counts` names the new tests by file, each with the number of its cases; `tests` are their files. If a test
    cannot be read, or checks many results with one check, numbers are not mentioned.
    """
    asked = [criterion for criterion in criteria if not criterion.implied and not _OF_TEXTS.search(criterion.text)]
    read = list(_read_tests(tests, test_counts))
    counts = [count for _, count in read]
    found = []
    are_read = bool(read) and len(read) == sum(len(names) for names in test_counts.values())
    times = "once" if sum(counts) == 1 else f"{sum(counts)} times"
    is_known = are_read and all(counts)
    if is_known and len(asked) > 1 and sum(counts) < len(asked):
        found.append(FEWER.format(len(asked), times))
    if is_known and sum(counts) < EXAMPLES:
        said = ((criterion.id, _ALL.search(criterion.text)) for criterion in asked)
        found += [FOR_ALL.format(id, word[0].lower(), times) for id, word in said if word is not None]
    if are_read and not any(_EXPECTS.search(_GO_NOISE.sub(" ", text)) for text, _ in read):
        stated = [criterion for criterion in criteria if not criterion.implied]
        found += [NO_ERROR.format(criterion.id) for criterion in stated if _asks_for_error(criterion.text)]
    return tuple(found)


def _asks_for_error(text: str) -> bool:
    return bool(_ERROR.search(text)) and not _NO_ERROR_ASKED.search(text)


def _read_tests(tests: Mapping[str, bytes], test_counts: Mapping[str, Mapping[str, int]]) -> Iterator[tuple[str, int]]:
    """Yield the text of each wanted test with its name, and the number of results it checks; 0 if unknown."""
    for test in expected_tests(tests, test_counts):
        checks = sum(1 for _ in checks_in(test.source, test.node))
        is_countable = checks and not _MANY.search(test.text) and not _is_helped(test.source, test.text)
        count = max(checks, test_counts[test.source.path][test.name]) if is_countable else 0
        yield f"{test.name}\n{test.text}", count


def _is_helped(source: Source, text: str) -> bool:
    """Return whether helpers may check more: their names say so (`check_all(...)`), or rows are given."""
    if source.language is Language.PYTHON and "parametrize" in text:
        return False
    return _ROWS.search(text) is not None


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
