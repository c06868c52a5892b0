"""Acceptance criteria compared with the new tests: fewer checks than criteria, an error that no test expects (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from shared.specification import Criterion
from worker_agent.tdd.damage.expectations import expected_places
from worker_agent.tdd.syntax.source import Language, Source, parse
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


def unchecked(
    criteria: Collection[Criterion], tests: Mapping[str, bytes], test_counts: Mapping[str, Mapping[str, int]]
) -> tuple[str, ...]:
    """Return the sentences about gaps of the new tests, however many they are.

    `test_counts` names the new tests by file, each with the number of its cases; `tests` are their files. If a test
    cannot be read, or checks many results with one check, numbers are not mentioned.
    """
    asked = [criterion for criterion in criteria if not criterion.implied and not _OF_TEXTS.search(criterion.text)]
    read = list(_read_tests(tests, test_counts))
    told = [text for text, _ in read]
    found = []
    counts = [count for _, count in read]
    every = sum(len(names) for names in test_counts.values())
    times = "once" if sum(counts) == 1 else f"{sum(counts)} times"
    is_known = bool(counts) and len(read) == every and all(counts)
    if is_known and len(asked) > 1 and sum(counts) < len(asked):
        found.append(FEWER.format(len(asked), times))
    if is_known and sum(counts) < EXAMPLES:
        said = ((criterion.id, _ALL.search(criterion.text)) for criterion in asked)
        found += [FOR_ALL.format(id, word[0].lower(), times) for id, word in said if word is not None]
    if told and len(read) == every and not any(_EXPECTS.search(_GO_NOISE.sub(" ", text)) for text in told):
        found += [
            NO_ERROR.format(criterion.id)
            for criterion in criteria
            if not criterion.implied and _asks_for_error(criterion.text)
        ]
    return tuple(found)


def _asks_for_error(text: str) -> bool:
    return bool(_ERROR.search(text)) and not _NO_ERROR_ASKED.search(text)


def _read_tests(tests: Mapping[str, bytes], test_counts: Mapping[str, Mapping[str, int]]) -> Iterator[tuple[str, int]]:
    """Yield the text of each wanted test with its name, and the number of results it checks; 0 if unknown."""
    for path, cases in test_counts.items():
        source = parse(path, tests[path]) if path in tests else None
        if source is None:
            continue
        for name, count in cases.items():
            for node, _ in expected_places(source, {name}):
                text = source.text(node)
                checks = len(list(checks_in(source, node)))
                is_countable = checks and not _MANY.search(text) and not _is_helped(source, text)
                yield f"{name}\n{text}", max(checks, count) if is_countable else 0


def _is_helped(source: Source, text: str) -> bool:
    """Return whether helpers may check more: their names say so (`check_all(...)`), or rows are given."""
    if source.language is Language.PYTHON and "parametrize" in text:
        return False
    return bool(
        re.search(r"@\w*(?:Source|DataProvider|ParameterizedTest)|@dataProvider|rstest|\bshared_examples", text)
    )
