"""Checks with `assert` of Node and chai, and with the `t` of tap, tape, ava and node:test."""

from __future__ import annotations

import re

from tree_sitter import Node

from worker_agent.tdd.damage.expectations_edits import Check, Edits, after, around, both_ways, over
from worker_agent.tdd.damage.expectations_javascript_values import NEVER, changed, other
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Source
from worker_agent.tdd.syntax.units_found import arguments, child, field_text

_OPPOSITES = both_ways(
    {
        "equal": "notEqual",
        "deepEqual": "notDeepEqual",
        "strictEqual": "notStrictEqual",
        "deepStrictEqual": "notDeepStrictEqual",
        "match": "doesNotMatch",
        "throws": "doesNotThrow",
        "rejects": "doesNotReject",
    }
)

_TRUE = frozenset({"ok", "truthy", "true", "isTrue", "isOk", "assert"})
_FALSE = frozenset({"notOk", "falsy", "false", "isFalse", "isNotOk"})
_EQUAL = words(
    "equal equals deepEqual deepEquals strictEqual strictEquals deepStrictEqual is same strictSame looseEquals"
    " deepLooseEqual eq"
)
_OTHER = words(
    "notEqual notDeepEqual notStrictEqual notDeepStrictEqual match doesNotMatch throws doesNotThrow rejects"
    " doesNotReject not notSame like regex notRegex include lengthOf property isNull isUndefined isDefined"
    " isFunction isString isNumber isArray isObject instanceOf typeOf exists sameMembers partialDeepStrictEqual"
    " type instance notThrows throwsAsync notThrowsAsync snapshot hasStrict has isNotNull notInclude"
)
_PROMISED = frozenset({"rejects", "doesNotReject", "throwsAsync", "notThrowsAsync"})
_THROWING = frozenset({"throws", "rejects"})
_SUBJECT = re.compile(r"(?:\w+\.)?assert(?:\.strict)?$|t$|assert\.not$|is$")


def assertion_check(source: Source, expression: Node, *, is_settled: bool) -> Check | None:
    """Return the check of a call, if it is an assertion; its `negate` is empty if it has no opposite."""
    if expression.type != "call_expression":
        return None
    function = child(expression, "function")
    name, owner = _name(source, function)
    given = arguments(expression)
    if function is None or not given or (name in _PROMISED and not is_settled):
        return None
    if name in _TRUE or name in _FALSE:
        return Check(around(given[0], "!(", ")")) if given[0].type != "spread_element" else None
    if name not in _EQUAL and name not in _OTHER:
        return None
    is_node = owner.rpartition(".")[2] in {"assert", "strict"}
    literal = _literal(source, given) if name in _EQUAL else ()
    exception = _exception(given) if name in _THROWING else ()
    return Check(_opposite(function, name) if is_node else (), literal, exception)


def _name(source: Source, function: Node | None) -> tuple[str, str]:
    """Return the assertion's name and its object; a bare `assert` is an assertion, too."""
    if function is None:
        return "", ""
    if function.type == "identifier":
        return ("assert", "") if source.text(function) == "assert" else ("", "")
    owner = child(function, "object")
    text = re.sub(r"\s", "", source.text(owner)) if owner is not None else ""
    return (field_text(source, function, "property"), text) if _SUBJECT.match(text) else ("", "")


def _opposite(function: Node, name: str) -> Edits:
    word = child(function, "property")
    return (over(word, _OPPOSITES[name]),) if word is not None and name in _OPPOSITES else ()


def _literal(source: Source, arguments: list[Node]) -> Edits:
    if len(arguments) < 2 or any(found.type == "spread_element" for found in arguments[:2]):
        return ()
    return changed(source, arguments[1]) or changed(source, arguments[0]) or other(source, arguments[1])


def _exception(arguments: list[Node]) -> Edits:
    """Return edits that require the exception to match a pattern that matches nothing."""
    if len(arguments) == 1:
        return (after(arguments[0], f", {NEVER}"),)
    return (over(arguments[1], NEVER),)
