"""Changed functions whose result depends on their surroundings, where no new test speaks of these (pure).

Any program may ask for a file beside it, for today's date or for the terminal. What a test says nothing of, it does not
show: such code can do anything else on another machine, or next year.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from worker_agent.tdd.damage.code_changes import FileChange, changes
from worker_agent.tdd.damage.code_edits import shown
from worker_agent.tdd.damage.environment_kinds import CLOCK, KINDS, Surrounding, read_by
from worker_agent.tdd.damage.expectations import expected_places
from worker_agent.tdd.damage.test_awareness import DEPENDS
from worker_agent.tdd.syntax.functions import Function
from worker_agent.tdd.syntax.source import Source, parse

_YEAR = re.compile(r"(?<![\w.])(?:20(?:2[7-9]|[3-9]\d)|2[1-9]\d\d|[3-9]\d\d\d)(?![\w.])")
_MOMENT = re.compile(r"(?<![\w.])(?:(?:1[789]|[2-9]\d)\d{8}(?:\d{3})?|(?:1[789]|[2-9]\d)e(?:8|11))(?![\w.])")
"""A year, and seconds or milliseconds since 1970, that are still ahead or nearly so."""

AHEAD = "{}::{}: what it does changes at a moment that is written in it (`{}`): no run of a test shows what comes then"


def surrounded(
    base: Mapping[str, bytes],
    head: Mapping[str, bytes],
    tests: Mapping[str, bytes],
    wanted: Mapping[str, Collection[str]],
) -> tuple[str, ...]:
    """A sentence for each changed function that asks for its surroundings as no code of `base` does.

    `wanted` names the new tests by file, of those in `tests`. A test that speaks of files, of time, of the terminal or
    whatever else the code asks for knows of it.
    """
    before = "\n".join(content.decode("utf-8", "replace") for content in base.values())
    said = _words("\n".join(_told(tests, wanted)))
    found: list[str] = []
    for change in changes(base, head):
        for function in change.functions if change.source is not None else ():
            found += _asked(change, function, before, said)
    return tuple(found)


def _asked(change: FileChange, function: Function, before: str, said: frozenset[str]) -> Iterator[str]:
    assert change.source is not None
    place, own = f"{change.path}::{function.name}", read_by(change, function)
    moment = _moment(change.source, own) if CLOCK.asked.search(own) else ""
    is_ahead = bool(moment) and moment not in before
    if is_ahead:
        yield AHEAD.format(change.path, function.name, moment)
    for kind in KINDS:
        if kind is not CLOCK or not is_ahead:
            yield from (DEPENDS.format(place, shown(text, 40)) for text in _unsaid(kind, own, before, said))


def _unsaid(kind: Surrounding, own: str, before: str, said: frozenset[str]) -> Iterator[str]:
    """How code asks for surroundings of one kind where no test speaks of them and no code did before."""
    seen = kind.asked.search(own)
    if seen is not None and seen[0] not in before and not said.intersection(kind.words):
        yield seen[0]


def _moment(source: Source, own: str) -> str:
    """A moment that stands in a function, or in a constant of the file that it names."""
    constants = re.findall(
        r"^[ \t]*(?:export |const |let |var |final |static )*(\w+)\s*(?::?=|:\s*\w+\s*=)([^\n]*)$",
        source.content.decode("utf-8", "replace"),
        re.MULTILINE,
    )
    values = [value for name, value in constants if re.search(rf"\b{re.escape(name)}\b", own)]
    texts = [re.sub(r"(?<=\d)_(?=\d)", "", text) for text in (own, *values)]
    return next((seen[0] for text in texts if (seen := _YEAR.search(text) or _MOMENT.search(text))), "")


def _told(tests: Mapping[str, bytes], wanted: Mapping[str, Collection[str]]) -> Iterator[str]:
    """The texts of the wanted tests, and their names."""
    for path, names in wanted.items():
        source = parse(path, tests[path]) if path in tests else None
        yield from names
        if source is not None:
            yield from (source.text(test) for test, _ in expected_places(source, names))


def _words(text: str) -> frozenset[str]:
    """The words of a text, those in compound names apart, in the singular."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)
    return frozenset(part.lower() for part in parts) | frozenset(part.lower().removesuffix("s") for part in parts)
