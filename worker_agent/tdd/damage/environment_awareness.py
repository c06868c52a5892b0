"""Changed functions whose result depends on their environment, if no new test mentions that (pure).

Any program may look for a file beside it, for today's date or for the terminal. A test shows nothing about facts that
it does not mention: such code can do anything else on another machine, or next year.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from worker_agent.tdd.damage.code_changes import FileChange, changes, joined
from worker_agent.tdd.damage.code_edits import FunctionScope, shown
from worker_agent.tdd.damage.environment_kinds import CLOCK, KINDS, Surrounding, read_by
from worker_agent.tdd.damage.expectations import expected_places
from worker_agent.tdd.damage.test_awareness import DEPENDS
from worker_agent.tdd.syntax.source import Source, parse

_YEAR = re.compile(r"(?<![\w.])(?:20(?:2[7-9]|[3-9]\d)|2[1-9]\d\d|[3-9]\d\d\d)(?![\w.])")
_MOMENT = re.compile(r"(?<![\w.])(?:(?:1[789]|[2-9]\d)\d{8}(?:\d{3})?|(?:1[789]|[2-9]\d)e(?:8|11))(?![\w.])")
"""Patterns of a year, and of seconds or milliseconds since 1970, in the future or nearly so."""

AHEAD = "{}::{}: what it does changes at a moment that is written in it (`{}`): no run of a test shows what comes then"


def surrounded(
    base: Mapping[str, bytes],
    head: Mapping[str, bytes],
    tests: Mapping[str, bytes],
    test_names: Mapping[str, Collection[str]],
) -> tuple[str, ...]:
    """Return a sentence for each changed function that reads its environment as no code of `base` does.

    `test_names` names the new tests by file, of those in `tests`. A test counts as aware if it mentions files, time,
    the terminal or whatever else the code reads.
    """
    before = joined(base)
    mentioned = _words("\n".join(_test_texts(tests, test_names)))
    found: list[str] = []
    for change in changes(base, head):
        for place in change.scopes:
            found += _describe_dependence(change, place, before, mentioned)
    return tuple(found)


def _describe_dependence(
    change: FileChange, place: FunctionScope, before: str, mentioned: frozenset[str]
) -> Iterator[str]:
    name, code = place.function.name, read_by(change, place)
    moment = _moment(place.source, code) if CLOCK.code_pattern.search(code) else ""
    is_ahead = bool(moment) and moment not in before
    if is_ahead:
        yield AHEAD.format(change.path, name, moment)
    for kind in KINDS:
        if kind is not CLOCK or not is_ahead:
            unmentioned = _unmentioned(kind, code, before, mentioned)
            yield from (DEPENDS.format(f"{change.path}::{name}", shown(text, 40)) for text in unmentioned)


def _unmentioned(kind: Surrounding, code: str, before: str, mentioned: frozenset[str]) -> Iterator[str]:
    """Yield the code that reads one kind of environment, if no test mentions it and no code did so before."""
    match = kind.code_pattern.search(code)
    if match is not None and match[0] not in before and not mentioned.intersection(kind.words):
        yield match[0]


def _moment(source: Source, code: str) -> str:
    """Return a moment that is written in a function, or in a constant of the file that it names."""
    constants = re.findall(
        r"^[ \t]*(?:export |const |let |var |final |static )*(\w+)\s*(?::?=|:\s*\w+\s*=)([^\n]*)$",
        source.content.decode("utf-8", "replace"),
        re.MULTILINE,
    )
    values = [value for name, value in constants if re.search(rf"\b{re.escape(name)}\b", code)]
    texts = [re.sub(r"(?<=\d)_(?=\d)", "", text) for text in (code, *values)]
    return next((match[0] for text in texts if (match := _YEAR.search(text) or _MOMENT.search(text))), "")


def _test_texts(tests: Mapping[str, bytes], test_names: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Yield the texts of the wanted tests, and their names."""
    for path, names in test_names.items():
        source = parse(path, tests[path]) if path in tests else None
        yield from names
        if source is not None:
            yield from (source.text(test) for test, _ in expected_places(source, names))


def _words(text: str) -> frozenset[str]:
    """Return the words of a text, split within compound names, with their singular forms."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)
    return frozenset(part.lower() for part in parts) | frozenset(part.lower().removesuffix("s") for part in parts)
