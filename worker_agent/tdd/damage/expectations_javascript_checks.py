"""Checks of JavaScript and TypeScript: with `expect`, chai's `should`, `assert`, and the `t` of tap and its like."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from tree_sitter import Node

from worker_agent.tdd.damage.expectations_edits import (
    Check,
    Edit,
    Edits,
    after,
    around,
    both_ways,
    first_of,
    moved,
    over,
    word,
)
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Source
from worker_agent.tdd.syntax.units_found import arguments, child, field_text, statements

_EQUAL = frozenset(["toBe", "toEqual", "toStrictEqual", "equal", "equals", "eq", "eql", "deepEqual", "strictEqual"])
_LITERAL = _EQUAL | words(
    "toHaveLength toBeCloseTo toContain toContainEqual toHaveProperty toHaveBeenCalledTimes toHaveBeenCalledWith"
    " toHaveBeenLastCalledWith toMatchObject toMatchInlineSnapshot toThrowErrorMatchingInlineSnapshot toMatch"
    " include includes contain contains string lengthOf length property match a an members keys"
)
_THROWING = frozenset(["toThrow", "toThrowError", "throw", "throws", "Throw", "rejectedWith"])
_PROMISED = frozenset({"resolves", "rejects", "eventually", "rejectedWith", "rejected", "fulfilled", "become"})
_LOOSE = frozenset({"not", "or", "above", "below", "least", "most", "oneOf", "any"})

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

_ASSERTS_TRUE = frozenset({"ok", "truthy", "true", "isTrue", "isOk", "assert"})
_ASSERTS_FALSE = frozenset({"notOk", "falsy", "false", "isFalse", "isNotOk"})
_ASSERTS_EQUAL = words(
    "equal equals deepEqual deepEquals strictEqual strictEquals deepStrictEqual is same strictSame looseEquals"
    " deepLooseEqual eq"
)
_ASSERTS_OTHER = words(
    "notEqual notDeepEqual notStrictEqual notDeepStrictEqual match doesNotMatch throws doesNotThrow rejects"
    " doesNotReject not notSame like regex notRegex include lengthOf property isNull isUndefined isDefined"
    " isFunction isString isNumber isArray isObject instanceOf typeOf exists sameMembers partialDeepStrictEqual"
    " type instance notThrows throwsAsync notThrowsAsync snapshot hasStrict has isNotNull notInclude"
)
_ASSERTS_OF_PROMISE = frozenset({"rejects", "doesNotReject", "throwsAsync", "notThrowsAsync"})
_ASSERTS_FAILURE = frozenset({"throws", "rejects"})
_ASSERT = re.compile(r"(?:\w+\.)?assert(?:\.strict)?$|t$|assert\.not$|is$")

_NEVER = "/(?!)/"
"""A regular expression that matches nothing."""

_WORDS = {"true": "false", "false": "true", "null": "false", "undefined": "null"}
_WRAPPERS = frozenset({"parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"})


@dataclass(frozen=True, slots=True)
class _Chain:
    """`subject.one.two(arguments)`: the subject, the members after it with their names, the last call and its name."""

    subject: Node
    members: list[Node]
    words: list[str]
    call: Node | None
    matcher: str


def expectation_check(source: Source, expression: Node, *, is_settled: bool) -> Check | None:
    """Return the check of an expectation; of one about a promise only if the test waits for it (`is_settled`)."""
    chain = _chain(source, expression)
    if chain is None or not chain.members:
        return None
    is_polled = field_text(source, chain.subject, "function").endswith(".poll")
    if (not _PROMISED.isdisjoint(chain.words) or is_polled) and not is_settled:
        return None
    if "not" in chain.words:
        return Check(_without_not(source, chain))
    negated = chain.members[0] if chain.words[0] in {"resolves", "rejects"} else chain.subject
    return Check((after(negated, ".not"),), _literal(source, chain), _exception(chain))


def _chain(source: Source, expression: Node) -> _Chain | None:
    """Return the chain from `expect(...)` on, or from `.should` on."""
    members: list[Node] = []
    call: Node | None = None
    found: Node | None = expression
    while found is not None and found.type in {"member_expression", "call_expression"}:
        is_member = found.type == "member_expression"
        if field_text(source, found, "property") == "should" if is_member else _is_expect(source, found):
            members.reverse()
            names = [field_text(source, member, "property") for member in members]
            return _Chain(found, members, names, call, field_text(source, child(call, "function"), "property"))
        if is_member:
            members.append(found)
        else:
            call = call or found
        found = child(found, "object" if is_member else "function")
    return None


def _is_expect(source: Source, call: Node) -> bool:
    name = re.sub(r"\s", "", field_text(source, call, "function"))
    root, _, word = name.rpartition(".")
    return name == "expect" or (root.rpartition(".")[2] == "expect" and word in {"soft", "poll", "element"})


def _without_not(source: Source, chain: _Chain) -> Edits:
    member = chain.members[chain.words.index("not")]
    owner = child(member, "object")
    if owner is None or chain.words.count("not") > 1:
        return ()
    lines = source.content[owner.end_byte : member.end_byte].count(b"\n")
    return (Edit(owner.end_byte, member.end_byte, "\n" * lines),)


def _literal(source: Source, chain: _Chain) -> Edits:
    name, given = chain.matcher, arguments(chain.call) if chain.call is not None else []
    if not given or name not in _LITERAL or not _LOOSE.isdisjoint(chain.words):
        return ()
    if name in {"toHaveBeenCalledWith", "toHaveBeenLastCalledWith"}:
        return first_of(_changed(source, found) for found in given)
    if given[0].type == "regex" and name in {"toMatch", "match"}:
        return (over(given[0], _NEVER),)
    return _changed(source, given[0]) or (_other(source, given[0]) if name in _EQUAL else ())


def _exception(chain: _Chain) -> Edits:
    """Return edits that require the exception to match a pattern that matches nothing."""
    listed = child(chain.call, "arguments") if chain.matcher in _THROWING else None
    return () if listed is None else (over(listed, f"({_NEVER})"),)


def assertion_check(source: Source, expression: Node, *, is_settled: bool) -> Check | None:
    """Return the check of a call, if it is an assertion; its `negate` is empty if it has no opposite."""
    if expression.type != "call_expression":
        return None
    function = child(expression, "function")
    name, owner = _asserted_name(source, function)
    given = arguments(expression)
    if function is None or not given or (name in _ASSERTS_OF_PROMISE and not is_settled):
        return None
    if name in _ASSERTS_TRUE or name in _ASSERTS_FALSE:
        return Check(around(given[0], "!(", ")")) if given[0].type != "spread_element" else None
    if name not in _ASSERTS_EQUAL and name not in _ASSERTS_OTHER:
        return None
    is_node = owner.rpartition(".")[2] in {"assert", "strict"}
    literal = _asserted_literal(source, given) if name in _ASSERTS_EQUAL else ()
    exception = _asserted_exception(given) if name in _ASSERTS_FAILURE else ()
    return Check(_opposite(function, name) if is_node else (), literal, exception)


def _asserted_name(source: Source, function: Node | None) -> tuple[str, str]:
    """Return the assertion's name and its object; a bare `assert` is an assertion, too."""
    if function is None:
        return "", ""
    if function.type == "identifier":
        return ("assert", "") if source.text(function) == "assert" else ("", "")
    owner = child(function, "object")
    text = re.sub(r"\s", "", source.text(owner)) if owner is not None else ""
    return (field_text(source, function, "property"), text) if _ASSERT.match(text) else ("", "")


def _opposite(function: Node, name: str) -> Edits:
    word = child(function, "property")
    return (over(word, _OPPOSITES[name]),) if word is not None and name in _OPPOSITES else ()


def _asserted_literal(source: Source, arguments: list[Node]) -> Edits:
    if len(arguments) < 2 or any(found.type == "spread_element" for found in arguments[:2]):
        return ()
    return _changed(source, arguments[1]) or _changed(source, arguments[0]) or _other(source, arguments[1])


def _asserted_exception(given: list[Node]) -> Edits:
    return (after(given[0], f", {_NEVER}") if len(given) == 1 else over(given[1], _NEVER),)


def _changed(source: Source, node: Node) -> Edits:
    """Return the edit that changes a literal; empty if the node is none."""
    match node.type:
        case "string" | "template_string":
            return (Edit(node.end_byte - 1, node.end_byte - 1, word(source, node)),)
        case "number":
            return _number(source, node)
        case "true" | "false" | "null" | "undefined":
            return (over(node, _WORDS[node.type]),)
        case "unary_expression" if re.match(r"-\s*\d", source.text(node)):
            return _changed(source, node.named_children[0])
        case "array":
            return _first(source, node, list(statements(node)))
        case "object":
            pairs = list(statements(node))
            if any(found.type == "spread_element" for found in pairs):
                return ()
            return _first(source, node, [value for found in pairs if (value := child(found, "value")) is not None])
        case _:
            return _changed(source, node.named_children[0]) if node.type in _WRAPPERS else ()


def _other(source: Source, node: Node) -> Edits:
    """Return edits that put a computed expected value into an array."""
    return () if node.type == "spread_element" else around(node, f'["{word(source, node)}", ', "]")


def _first(source: Source, node: Node, values: list[Node]) -> Edits:
    if not node.named_children:
        name = word(source, node)
        return (over(node, f'["{name}"]' if node.type == "array" else f"{{ {name}: 1 }}"),)
    return first_of(_changed(source, value) for value in values)


def _number(source: Source, node: Node) -> Edits:
    text = source.text(node).replace("_", "").lower()
    big = "n" if text.endswith("n") else ""
    is_whole = bool(big) or re.match(r"0[xbo]|\d+$", text)
    try:
        value: int | float = int(text.removesuffix("n"), 0) if is_whole else float(text)
    except ValueError:
        return ()
    moved_on = value * 3 + moved(source, node)
    if not big and not (math.isfinite(moved_on) and abs(moved_on) < 1e15):
        return ()
    return (over(node, f"{moved_on}{big}"),)
