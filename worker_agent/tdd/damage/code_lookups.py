"""New functions that look for the very inputs of the tests, by their numbers or by a checksum of them (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from tree_sitter import Node

from worker_agent.tdd.damage.answers_literals import literal_tables, literals, test_literals
from worker_agent.tdd.damage.code_changes import FileChange, changes, read_by
from worker_agent.tdd.damage.code_edits import FunctionScope, named, shown
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Source, walk

ASKED = "{}::{}: it asks for {}, which the tests give and no criterion names: what is it for other inputs?"
SUMMED = "{}::{}: a checksum of its input decides (`{}`): what is it for other inputs?"

_PAIRS = words("pair keyed_element array_element_initializer")
_COMPARISONS = words("comparison_operator binary_expression binary")
_CASES = words(
    "case_clause case_pattern switch_case expression_case when pattern match_pattern switch_label case_statement"
)
_WRAPPERS = words("expression_list literal_element unary_operator unary_expression integer_literal")
_EQUAL = words("== === eq in")
_PLAIN = re.compile(r"'?-?\d+(?:\.\d+)?")
_CHECKSUM = re.compile(
    r"(?:\b(?:crc32|adler32|hash|hashCode|fnv\w*|Sum32|Sum64|ChecksumIEEE|md5|sha\d+|blake2\w|digest|hexdigest)\b"
    r"|createHash)[^\n;{}]{0,100}?(?:[=!]==?|\bnot in\b|\bin\b|\.includes\(|\.has\(|include\?)"
)
"""A checksum that is compared with something."""

_LITERAL = re.compile(r"\s*(?:frozenset|set|new Set)?[\[({]*\s*[\"']?[0-9a-fA-F]*\d")


def asking(
    base: Mapping[str, bytes], head: Mapping[str, bytes], tests: Mapping[str, bytes], criteria: Collection[str]
) -> tuple[str, ...]:
    """Return a sentence for each such function; `tests` are the files of the new tests, `criteria` their texts.

    Numbers count if there are criteria, the function looks for two or more, the tests have all of them, and no
    criterion has one.
    """
    given, said = test_literals(tests), " ".join(criteria)
    return tuple(
        sentence
        for change in changes(base, head)
        for place in change.new_scopes
        for sentence in (*_checksums(change, place), *_asked_numbers(place, given, said))
    )


def _checksums(change: FileChange, place: FunctionScope) -> Iterator[str]:
    code = read_by(change, place)
    for match in _CHECKSUM.finditer(code):
        after = code[match.end() :]
        name = re.match(r"\s*\(?([A-Za-z_]\w*)", after)
        given = re.search(rf"\b{name[1]}\b[^=\n]*=(?!=)", code) if name is not None else None
        if _LITERAL.match(after) or (given is not None and _LITERAL.match(code[given.end() :])):
            yield SUMMED.format(change.path, place.function.name, shown(match[0], 40))
            return


def _asked_numbers(place: FunctionScope, in_tests: frozenset[str], criteria: str) -> Iterator[str]:
    keys = {value for value in _keys(place.source, place.node) if _PLAIN.fullmatch(value)} if criteria else set()
    numbers = {value.removeprefix("'") for value in keys}
    if len(keys) > 1 and keys <= in_tests and not numbers.intersection(re.findall(r"-?\d+(?:\.\d+)?", criteria)):
        told = ", ".join(f"`{number}`" for number in sorted(numbers)[:3])
        yield ASKED.format(place.source.path, place.function.name, told)


def _keys(source: Source, function: Node) -> Iterator[str]:
    """Yield the literals by which a function looks up: keys, patterns, and values that it compares as equal."""
    names = set(re.findall(r"\w+", source.text(function)))
    for name, table in literal_tables(source).items():
        yield from table.keys if name in names else ()
    for node, value in literals(source, walk(function)):
        if _is_key(node):
            yield value


def _is_key(node: Node) -> bool:
    above = node.parent
    if above is not None and above.type in _WRAPPERS:
        above = above.parent
    if above is None:
        return False
    if above.type in _PAIRS:
        inside = named(above)
        return len(inside) == 2 and inside[0].start_byte <= node.start_byte < inside[0].end_byte
    if above.type in _COMPARISONS:
        return any(not each.is_named and each.type in _EQUAL for each in above.children)
    return above.type in _CASES
