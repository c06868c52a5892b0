"""A test as a language's reader finds it, before its meaning is computed; functions that all readers share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from tree_sitter import Node

from worker_agent.tdd.syntax.source import Source

_CONDITIONAL = re.compile(
    r"\b(?:skipif|skipIf|skipUnless|importorskip|runIf|Enabled\w*|Disabled(?:On|If|For)\w*|Requires\w*|needs_\w+)\b"
)
_ALWAYS = re.compile(
    r"\b(?:skipif|skipIf)\(\s*(?:True|true|1|not False|['\"](?:True|1)['\"])\s*[,)]|skipUnless\(\s*False\b"
)


def is_conditional(skipped: str) -> bool:
    """Return whether a reason for skipping holds only in some places: then only a run shows whether it is skipped."""
    return _CONDITIONAL.search(skipped) is not None and _ALWAYS.search(skipped) is None


@dataclass(frozen=True, slots=True)
class Case:
    """One set of values that a test runs with: `key` names its table."""

    key: str
    node: Node


@dataclass(frozen=True, slots=True)
class FoundTest:
    """A test as nodes: `node` with all that belongs to it, `parts` that make its meaning, `body` that runs.

    `around` is code that also acts on it: set-up of its class or block; `beside` are statements of the file that may do
    so, which count without the code that they use. `owner` are the classes around it, for calls of
    its own helper methods. `tables` are nodes inside of `parts` whose elements are its cases. `made_by` names the
    function whose call makes the test, which the file may define itself.
    """

    name: str
    node: Node
    parts: tuple[Node, ...]
    body: Node | None
    around: tuple[Node, ...] = ()
    owner: tuple[Node, ...] = ()
    cases: tuple[Case, ...] = ()
    tables: tuple[Node, ...] = ()
    skipped: str = ""
    dynamic: str = ""
    made_by: str = ""
    beside: tuple[Node, ...] = ()


def child(node: Node | None, name: str) -> Node | None:
    """Return the child in a field, of a node that may be None."""
    return None if node is None else node.child_by_field_name(name)


def field_text(source: Source, node: Node | None, name: str) -> str:
    """Return the text of the child in a field; empty if there is none."""
    found = child(node, name)
    return "" if found is None else source.text(found)


def inside(node: Node, ancestor: Node) -> bool:
    """Return whether a node is within another, or is that node."""
    return ancestor.start_byte <= node.start_byte and node.end_byte <= ancestor.end_byte


def statements(block: Node | None) -> Iterator[Node]:
    """Yield the statements of a block, without comments."""
    if block is not None:
        yield from (found for found in block.named_children if "comment" not in found.type)


def first_text(source: Source, block: Node | None) -> str:
    """Return the text of the first statement of a block; empty for an empty one."""
    first = next(statements(block), None)
    return "" if first is None else source.text(first)


def without_unfocused(every: Iterable[tuple[FoundTest, bool]], reason: str) -> Iterator[FoundTest]:
    """Yield the tests, each given with True if it is focused; if any is, the others count as skipped."""
    listed = list(every)
    any_focused = any(focused for _, focused in listed)
    for found, focused in listed:
        is_hidden = any_focused and not focused and not found.skipped
        yield replace(found, skipped=reason) if is_hidden else found


def arguments(call: Node) -> list[Node]:
    """Return the arguments of a call, without comments."""
    return list(statements(child(call, "arguments")))
