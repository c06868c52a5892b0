"""Changed functions that answer only the inputs of the tests (pure).

Doubtful cases pass: an honest table with more entries than the tests use, functions without parameters, methods that
others prescribe.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tree_sitter import Node

from worker_agent.tdd.damage.answers_literals import (
    LiteralTable,
    literal_tables,
    literals,
    shown_literal,
    test_literals,
)
from worker_agent.tdd.damage.code_changes import changes
from worker_agent.tdd.damage.code_edits import FunctionScope, named, named_parameters, without_raised
from worker_agent.tdd.damage.code_stubs import is_prescribed
from worker_agent.tdd.syntax.node_types import COMMENTS, words
from worker_agent.tdd.syntax.source import walk

_NAMES = words(
    "identifier property_identifier field_identifier constant name shorthand_property_identifier"
    " private_property_identifier instance_variable self this super"
)
_PLAIN = words(
    "hash str repr print len length size int tuple list dict sorted String get has includes equals contains JSON"
    " stringify json dumps hashlib sha1 sha256 md5 hexdigest encode digest strip lower upper trim toLowerCase"
    " toUpperCase Ok Some None Err from to_string to_owned into as_str as_ref Object freeze Map of console log fmt"
    " Println errors New nil undefined key fetch in_array array_key_exists is_eql eql include Number number_format"
)
"""Names of functions that cannot compute a result from an input, but only recognize it."""
_ARITHMETIC = words(
    "+ - * / % ** // < > <= >= << >> & ^ ~ += -= *= /= %= |= &= ^= <=> =~ ++ -- .. ..= ... @ //= **= >>> .="
)
_WORKING = words(
    "interpolation template_substitution lambda arrow_function await yield slice slice_expression"
    " while_statement regex new_expression object_creation_expression"
)
_FILLED = words("interpolation template_substitution interpolated_string_expression encapsed_string")
"""Texts with parts filled in at run time: each input gives another text."""
_EQUALS = re.compile(r".*\b(equals|eql|includes|has|contains|in_array|include|indexOf)$", re.DOTALL)
_COMPARISONS = words(
    "comparison_operator binary_expression binary case_clause case_pattern switch_case expression_case when pattern"
    " match_pattern switch_label match_condition_list constant_pattern"
)
_NAME = re.compile(r"[A-Za-z]\w{0,15}")
_WORD = re.compile(r"[A-Za-z_][\w-]{0,19}")


@dataclass(frozen=True, slots=True)
class _Answers:
    """The literals of a function: those it compares with, and those it returns."""

    inputs: set[str]
    outputs: set[str]


def answer_tables(base: Mapping[str, bytes], head: Mapping[str, bytes], tests: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return a sentence for each changed function that only answers the inputs of the tests.

    `base` and `head` hold code, `tests` the test files of the head with their data, all by path.
    """
    asked = test_literals(tests)
    return tuple(
        f"{change.path}:{place.function.name}: it answers only what the tests ask ({_examples(answers)}); "
        "compute the result from the input"
        for change in changes(base, head)
        for place in change.scopes
        if (answers := _only_answers(place, asked)) is not None
    )


def _examples(answers: _Answers) -> str:
    return ", ".join(map(shown_literal, sorted(answers.inputs or answers.outputs)[:3]))


def _only_answers(place: FunctionScope, asked: frozenset[str]) -> _Answers | None:
    source, body = place.source, place.function.body
    if body is None or place.nested or is_prescribed(place):
        return None
    parameters = _parameters(place)
    if not parameters or any(node.type in _FILLED for node in without_raised(walk(body))):
        return None
    tables = literal_tables(source)
    place = replace(place, node=body, nested=())
    if not _only_compares(place, parameters, tables):
        return None
    answers = _answers(place, tables)
    if not answers.outputs or not answers.inputs | answers.outputs <= asked or _is_enumeration(answers):
        return None
    return answers


def _is_enumeration(answers: _Answers) -> bool:
    """Return whether the inputs are words of a closed set (`red`, `green`), and the outputs are not made from them.

    A constant word that depends on no input is a name.
    """
    if not answers.inputs:
        return not any(
            each[0].isdigit() or (each.startswith("'") and not _NAME.fullmatch(each[1:])) for each in answers.outputs
        )
    plain = [each[1:].lower() for each in answers.inputs if each.startswith("'") and _WORD.fullmatch(each[1:])]
    if len(plain) != len(answers.inputs):
        return False
    made = [each.removeprefix("'").lower() for each in answers.outputs]
    return not any(len(word) > 1 and word in output and word != output for word in plain for output in made)


def _parameters(place: FunctionScope) -> set[str]:
    """Return the names of the parameters, without the object itself and those that are marked as unused."""
    found: set[str] = set()
    for each in named_parameters(place.node):
        bound = each.child_by_field_name("name") or each.child_by_field_name("pattern") or each
        found |= {place.text(inner) for inner in walk(bound) if inner.type in ("identifier", "variable_name")}
    return {name for name in found if name not in ("self", "cls", "this") and not name.startswith(("_", "$_"))}


def _only_compares(place: FunctionScope, parameters: set[str], tables: Mapping[str, LiteralTable]) -> bool:
    """Return whether a function consists of literals, its parameters, and equality comparisons between them."""
    allowed = {*parameters, *(name.removeprefix("$") for name in parameters), *tables, *_PLAIN, *_locals(place)}
    for node in without_raised(place.nodes):
        if node.type in _WORKING:
            return False
        if not node.is_named and node.type in _ARITHMETIC and not _is_sign(node):
            return False
        if node.type in _NAMES and node.child_count == 0 and place.text(node) not in allowed:
            return False
    return True


def _is_sign(node: Node) -> bool:
    """Return whether an operator belongs to a negative number, or refers to a value (Rust)."""
    above = node.parent
    return above is not None and node.type in ("-", "&") and len(named(above)) == 1


def _locals(place: FunctionScope) -> set[str]:
    found: set[str] = set()
    for node in place.nodes:
        if "call" in node.type or "invocation" in node.type or node.type in _NAMES:
            continue
        for name in ("left", "name", "pattern"):
            bound = node.child_by_field_name(name)
            if bound is not None:
                found |= {place.text(inner) for inner in walk(bound) if inner.type == "identifier"}
    return found


def _answers(place: FunctionScope, tables: Mapping[str, LiteralTable]) -> _Answers:
    found = _Answers(set(), set())
    for node, value in literals(place.source, without_raised(place.nodes)):
        (found.inputs if _is_compared(node, place.node) else found.outputs).add(value)
    used = {place.text(node) for node in place.nodes if node.type in _NAMES or node.type in COMMENTS}
    for name, table in tables.items():
        if name in used:
            found.inputs.update(table.keys)
            found.outputs.update(table.values)
    return found


def _is_compared(node: Node, top: Node) -> bool:
    """Return whether an input is compared with a literal: as an operand, a pattern, or a key."""
    inner, above = node, node.parent
    while above is not None and above.id != top.id:
        if above.type in _COMPARISONS and not _is_result(above, inner):
            return True
        if above.type in ("pair", "keyed_element", "array_element_initializer") and len(named(above)) == 2:
            return named(above)[0].id == inner.id
        if above.type in ("argument_list", "arguments") and _EQUALS.match(_called_name(above)):
            return True
        if above.type.endswith("_statement"):
            return False
        inner, above = above, above.parent
    return False


def _is_result(comparison: Node, inner: Node) -> bool:
    """Return whether a node is the result of a case, and not its pattern."""
    led = comparison.child_by_field_name("body") or comparison.child_by_field_name("consequence")
    value = comparison.child_by_field_name("value")
    if value is not None and value.start_byte <= inner.start_byte < value.end_byte:
        return False
    return led is not None and inner.start_byte >= led.start_byte


def _called_name(arguments: Node) -> str:
    call = arguments.parent
    if call is None:
        return ""
    named_by = ("function", "name", "method")
    found = next((each for name in named_by if (each := call.child_by_field_name(name))), None)
    return found.text.decode("utf-8", "replace") if found is not None and found.text is not None else ""
