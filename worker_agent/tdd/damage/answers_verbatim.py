"""Results that tests expect and that the changed code contains verbatim, however they are looked up (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from tree_sitter import Node

from worker_agent.tdd.damage import answers_encoded
from worker_agent.tdd.damage.answers_literals import literals, shown_literal
from worker_agent.tdd.damage.code_changes import changes
from worker_agent.tdd.damage.code_edits import without_raised
from worker_agent.tdd.damage.expectations import expected_places
from worker_agent.tdd.syntax.source import Source, line_of, parse, walk

LEAST = 2
"""The fewest results in the code that are reported: a single constant word is a name."""

SHARE = 0.75
"""The least part of all expected results that is reported."""

CHARS, DIGITS = 3, 2
"""The most characters of texts, and fewest digits of numbers: shorter ones occur everywhere."""

_ROWS = frozenset({"list", "tuple", "array", "array_creation_expression", "literal_value", "array_expression"})

LONG = 5
"""The fewest characters, with its quote, of one result that is reported alone if it is there in another form."""

HIDDEN = "{}: results that its tests expect stand there in another form (encoded, reversed, by their characters): {}"
TOLD = "{}: the results that its tests expect stand there word for word: {}"


def verbatim_answers(
    base: Mapping[str, bytes],
    head: Mapping[str, bytes],
    tests: Mapping[str, bytes],
    test_names: Mapping[str, Collection[str]],
) -> tuple[str, ...]:
    """Return a sentence for each changed file that holds nearly all results that the `test_names` tests expect.

    `base` and `head` hold code and its data, `tests` test files of the head, all by path; `test_names` names tests by
    file. Messages of raised errors, and results that the tests pass in themselves, do not count.
    """
    expected = frozenset().union(
        *(_expected_results(parse(path, tests[path]), names) for path, names in test_names.items())
    )
    found = []
    for path, texts, numbers in _new_values(base, head):
        there = [each for each in sorted(expected) if _is_there(each, texts, numbers)]
        if len(there) >= LEAST and len(there) >= SHARE * len(expected):
            found.append(TOLD.format(path, ", ".join(shown_literal(each) for each in there[:4])))
            continue
        disguised = [each for each in sorted(expected) if _is_hidden(each, texts, numbers)]
        if len(disguised) >= LEAST or any(len(each) > LONG for each in disguised):
            found.append(HIDDEN.format(path, ", ".join(shown_literal(each) for each in disguised[:4])))
    return tuple(found)


def _is_hidden(value: str, texts: str, numbers: Sequence[str]) -> bool:
    """Return whether a text, or a number among such texts, is in the code in another form only."""
    if _is_there(value, texts, numbers) or value.lower() == value[::-1].lower().removesuffix("'"):
        return False
    bare = value.removeprefix("'")
    return any(bare in each and bare not in texts for each in answers_encoded.hidden(texts.splitlines(), numbers))


def _is_there(value: str, texts: str, numbers: Collection[str]) -> bool:
    return value[1:] in texts if value.startswith("'") else value in numbers


def _new_values(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield path, new texts and new numbers of each changed file, in the order of the code."""
    for change in changes(base, head):
        if change.source is not None:
            found = literals(change.source, without_raised(walk(change.source.root)))
            values = [value for node, value in found if line_of(node) in change.lines]
            texts = "\n".join(value[1:] for value in values if value.startswith("'"))
            yield change.path, texts, [value for value in values if not value.startswith("'")]
        else:
            yield change.path, change.text, list(dict.fromkeys(re.findall(r"\d+(?:\.\d+)?", change.text)))


def _expected_results(source: Source | None, names: Collection[str]) -> frozenset[str]:
    """Return the results that tests of a file expect, without their inputs and short values."""
    if source is None:
        return frozenset()
    results: set[str] = set()
    given: set[str] = set()
    for test, places in expected_places(source, names):
        within = [node for node in walk(source.root) if test.start_byte <= node.start_byte < test.end_byte]
        for node, value in literals(source, within):
            is_result = any(node.start_byte <= at <= node.end_byte for at in places) or _ends_row(node)
            (results if is_result else given).add(value)
    return frozenset(
        value for value in results if _is_long_enough(value) and not any(value[1:] in each for each in given)
    )


def _ends_row(node: Node) -> bool:
    """Return whether a literal is the last entry of a row in a table."""
    row = node.parent
    if row is None or row.type not in _ROWS or row.named_child_count < 2 or row.named_children[-1].id != node.id:
        return False
    above = row.parent
    while above is not None and above.type in ("literal_element", "keyed_element", "array_element_initializer"):
        above = above.parent
    return above is not None and above.type in _ROWS


def _is_long_enough(value: str) -> bool:
    return len(value) > CHARS if value.startswith("'") else sum(each.isdigit() for each in value) >= DIGITS
