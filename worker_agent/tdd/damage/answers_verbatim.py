"""Results that tests expect and that the changed code contains, verbatim or in another form (pure)."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from tree_sitter import Node

from worker_agent.tdd.damage.answers_literals import literals, shown_literal
from worker_agent.tdd.damage.code_changes import changes
from worker_agent.tdd.damage.code_edits import without_raised
from worker_agent.tdd.damage.expectations import ExpectedTest, expected_tests
from worker_agent.tdd.syntax.source import line_of, walk

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

LEAST_CHARS = 8
"""The fewest characters of a text that is decoded; shorter ones can hide no answer."""

MOST_CHARS = 100_000
"""The most characters of a text that is decoded; longer ones are no table of answers."""

LEAST_CODES = 5
"""The fewest numbers in a list that are read as the characters of a text."""

_BYTES: tuple[tuple[re.Pattern[str], Callable[[str], bytes]], ...] = (
    (re.compile(r"(?:[0-9a-fA-F]{2}\s?)+"), bytes.fromhex),
    (re.compile(r"[A-Za-z0-9+/\s]+={0,2}"), lambda text: base64.b64decode(_pad(text))),
    (re.compile(r"[A-Za-z0-9_-]+={0,2}"), lambda text: base64.urlsafe_b64decode(_pad(text))),
    (re.compile(r"[A-Z2-7]+=*"), base64.b32decode),
    (re.compile(r"[!-~]+"), base64.b85decode),
    (re.compile(r"[!-~]+"), base64.a85decode),
)
"""Encodings of bytes, each with a pattern of the encoded text."""


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
    expected: set[str] = set()
    for path, names in test_names.items():
        expected |= _expected_results(expected_tests(tests, {path: names}))
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
    return any(bare in each and bare not in texts for each in hidden(texts.splitlines(), numbers))


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


def _expected_results(tests: Iterable[ExpectedTest]) -> set[str]:
    """Return the results that tests of a file expect, without their inputs and short values."""
    results: set[str] = set()
    given: set[str] = set()
    for test in tests:
        start, end = test.node.start_byte, test.node.end_byte
        within = [node for node in walk(test.source.root) if start <= node.start_byte < end]
        for node, value in literals(test.source, within):
            is_result = any(node.start_byte <= at <= node.end_byte for at in test.places) or _ends_row(node)
            (results if is_result else given).add(value)
    return {value for value in results if _is_long_enough(value) and not any(value[1:] in each for each in given)}


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


def hidden(texts: Collection[str], numbers: Collection[str]) -> Iterator[str]:
    """Yield the readable texts hidden in `texts`, and in `numbers` (in the order of the code)."""
    for text in texts:
        if LEAST_CHARS <= len(text) <= MOST_CHARS:
            yield text[::-1]
            yield codecs.encode(text, "rot13")
            yield from _decodings(text)
    codes = [int(number) for number in numbers if re.fullmatch(r"0?[0-9]{2,3}", number) and 32 <= int(number) <= 126]
    if len(codes) >= LEAST_CODES:
        yield "".join(map(chr, codes))


def _decodings(text: str) -> Iterator[str]:
    text = text.strip()
    for form, decode in _BYTES:
        if form.fullmatch(text):
            try:
                found = decode(text)
            except (ValueError, binascii.Error):
                continue
            yield from filter(None, (_readable_text(found), _readable_text(_decompress(found))))


def _decompress(content: bytes) -> bytes:
    """Return the decompressed content, at most `MOST_CHARS` bytes of it; empty if it was not compressed."""
    for window in (zlib.MAX_WBITS, zlib.MAX_WBITS | 16, -zlib.MAX_WBITS):
        try:
            return zlib.decompressobj(window).decompress(content, MOST_CHARS)
        except zlib.error:
            continue
    return b""


def _readable_text(content: bytes) -> str:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return ""
    return text if all(char.isprintable() or char.isspace() for char in text) else ""


def _pad(text: str) -> str:
    bare = "".join(text.split()).rstrip("=")
    return bare + "=" * (-len(bare) % 4)
