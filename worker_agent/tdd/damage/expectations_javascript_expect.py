"""Checks with `expect(value)` of jest, vitest, Playwright and chai, and with chai's `value.should`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from worker_agent.tdd.damage.expectations_edits import Check, Edit, Edits, after, first_of, over
from worker_agent.tdd.damage.expectations_javascript_values import NEVER, changed, other
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Source
from worker_agent.tdd.syntax.units_found import arguments, child, field_text

_EQUAL = frozenset(["toBe", "toEqual", "toStrictEqual", "equal", "equals", "eq", "eql", "deepEqual", "strictEqual"])
_LITERAL = _EQUAL | words(
    "toHaveLength toBeCloseTo toContain toContainEqual toHaveProperty toHaveBeenCalledTimes toHaveBeenCalledWith"
    " toHaveBeenLastCalledWith toMatchObject toMatchInlineSnapshot toThrowErrorMatchingInlineSnapshot toMatch"
    " include includes contain contains string lengthOf length property match a an members keys"
)
_THROWING = frozenset(["toThrow", "toThrowError", "throw", "throws", "Throw", "rejectedWith"])
_PROMISED = frozenset({"resolves", "rejects", "eventually", "rejectedWith", "rejected", "fulfilled", "become"})
_LOOSE = frozenset({"not", "or", "above", "below", "least", "most", "oneOf", "any"})


@dataclass(frozen=True, slots=True)
class _Chain:
    """`subject.one.two(arguments)`: the subject, the members after it, the last call if it ends in one."""

    subject: Node
    members: tuple[Node, ...]
    calls: tuple[Node, ...]

    def words(self, source: Source) -> list[str]:
        return [field_text(source, found, "property") for found in self.members]


def expectation_check(source: Source, expression: Node, *, is_settled: bool) -> Check | None:
    """Return the check of an expectation; of one about a promise only if the test waits for it (`is_settled`)."""
    chain = _chain(source, expression)
    if chain is None or not chain.members:
        return None
    words = chain.words(source)
    if (not _PROMISED.isdisjoint(words) or _is_polled(source, chain.subject)) and not is_settled:
        return None
    if "not" in words:
        return Check(_without_not(source, chain, words))
    negate = _with_not(chain, words)
    return Check(negate, _literal(source, chain, words), _exception(source, chain))


def _chain(source: Source, expression: Node) -> _Chain | None:
    """Return the chain from `expect(...)` on, or from `.should` on."""
    members: list[Node] = []
    calls: list[Node] = []
    found: Node | None = expression
    while found is not None:
        if found.type == "member_expression":
            if field_text(source, found, "property") == "should":
                return _Chain(found, tuple(reversed(members)), tuple(reversed(calls)))
            members.append(found)
            found = child(found, "object")
        elif found.type == "call_expression":
            if _is_expect(source, found):
                return _Chain(found, tuple(reversed(members)), tuple(reversed(calls)))
            calls.append(found)
            found = child(found, "function")
        else:
            return None
    return None


def _is_expect(source: Source, call: Node) -> bool:
    name = re.sub(r"\s", "", field_text(source, call, "function"))
    root, _, word = name.rpartition(".")
    return name == "expect" or (root.rpartition(".")[2] == "expect" and word in {"soft", "poll", "element"})


def _is_polled(source: Source, subject: Node) -> bool:
    return field_text(source, subject, "function").endswith(".poll")


def _with_not(chain: _Chain, words: list[str]) -> Edits:
    """Return the edit that puts `.not` after the subject; after `resolves` and `rejects`, which come first."""
    if words[0] in {"resolves", "rejects"}:
        return (after(chain.members[0], ".not"),)
    return (after(chain.subject, ".not"),)


def _without_not(source: Source, chain: _Chain, words: list[str]) -> Edits:
    member = chain.members[words.index("not")]
    owner = child(member, "object")
    if owner is None or words.count("not") > 1:
        return ()
    lines = source.content[owner.end_byte : member.end_byte].count(b"\n")
    return (Edit(owner.end_byte, member.end_byte, "\n" * lines),)


def _last_call(source: Source, chain: _Chain) -> tuple[str, Node] | None:
    """Return the matcher that ends the chain, with its call."""
    if not chain.calls:
        return None
    call = chain.calls[-1]
    return field_text(source, child(call, "function"), "property"), call


def _literal(source: Source, chain: _Chain, words: list[str]) -> Edits:
    last = _last_call(source, chain)
    if last is None or last[0] not in _LITERAL or not _LOOSE.isdisjoint(words):
        return ()
    name, call = last
    given = arguments(call)
    if not given:
        return ()
    if name in {"toHaveBeenCalledWith", "toHaveBeenLastCalledWith"}:
        return first_of(changed(source, found) for found in given)
    if given[0].type == "regex" and name in {"toMatch", "match"}:
        return (over(given[0], NEVER),)
    return changed(source, given[0]) or (other(source, given[0]) if name in _EQUAL else ())


def _exception(source: Source, chain: _Chain) -> Edits:
    """Return edits that require the exception to match a pattern that matches nothing."""
    last = _last_call(source, chain)
    if last is None or last[0] not in _THROWING:
        return ()
    listed = child(last[1], "arguments")
    return () if listed is None else (over(listed, f"({NEVER})"),)
