"""One edit of a damage before it is made, the place in which edits are looked for, and the words for people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from worker_agent.tdd.damage.model import DamageKind
from worker_agent.tdd.syntax.functions import Function, own
from worker_agent.tdd.syntax.node_types import NODE_TYPES, NodeTypes, words
from worker_agent.tdd.syntax.source import Language, Source, line_of, replaced

TYPED = frozenset({Language.GO, Language.RUST, Language.JAVA, Language.CSHARP})
"""Languages in which a value of another type does not compile."""

_SHOWN = 32
_CALLS = words(
    "call call_expression method_invocation invocation_expression function_call_expression"
    " member_call_expression scoped_call_expression macro_invocation new_expression object_creation_expression"
)
RAISES = frozenset({"raise_statement", "throw_statement", "throw_expression"})
IFS = words("if_statement if_expression if unless if_modifier unless_modifier")
BLOCKS = words("block statement_block compound_statement")
_PARAMETER_LISTS = words("parameters formal_parameters parameter_list method_parameters")
_MESSAGES = re.compile(
    r"(\w+[.:])*(log(g(er|ing))?|console|fmt\.(Print|Fprint|Errorf)|warnings?|print(ln|f)?|e?println|puts|panic"
    r"|System\.(out|err)|Console|Debug|raise|warn|debug|info|errors\.New|format!?|error_log|trigger_error)\b"
)


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement in a file: the bytes from `start` to `end` become `by`."""

    kind: DamageKind
    start: int
    end: int
    by: str
    what: str
    line: int
    quiet: bool = True
    weak: bool = False
    """True for a message for people or the condition of a loop: tried last."""


@dataclass(frozen=True)
class EditScope:
    """The part of a file in which edits are looked for: one function, or one statement outside of functions.

    `lines` are the lines of the file that the change touched.
    """

    source: Source
    node: Node
    nested: tuple[Node, ...]
    lines: frozenset[int]

    @property
    def language(self) -> Language:
        """The language of the file."""
        return self.source.language

    @property
    def kinds(self) -> NodeTypes:
        """The node types of its grammar."""
        return NODE_TYPES[self.source.language]

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The place's own nodes: without named functions inside, comments, documentation and types."""
        return tuple(own(self.source, self.node, self.nested))

    def text(self, node: Node) -> str:
        """Return the text of a node."""
        return self.source.text(node)

    def text_with(self, node: Node, part: tuple[int, int], by: str) -> str:
        """Return the text of a node with a part of it, from byte to byte of the file, replaced."""
        content = self.source.content[node.start_byte : node.end_byte]
        start, end = part
        return replaced(content, start - node.start_byte, end - node.start_byte, by.encode()).decode("utf-8", "replace")

    def replace(self, kind: DamageKind, node: Node, by: str, description: str = "", *, weak: bool = False) -> Edit:
        """Return the edit that puts `by` in the place of a node."""
        told = description or became(self.text(node), by)
        is_weak = weak or _is_message(self.source, node)
        return Edit(kind, node.start_byte, node.end_byte, by, told, line_of(node), weak=is_weak)


@dataclass(frozen=True)
class FunctionScope(EditScope):
    """A scope that is one function."""

    function: Function


def became(old: str, new: str) -> str:
    """Return the words for a replacement, on one line of at most 80 characters."""
    return f"`{shown(old)}` became `{shown(new)}`"


def shown(text: str, limit: int = _SHOWN) -> str:
    """Return a piece of code on one line, cut in the middle."""
    line = " ".join(text.split()).replace("`", "'")
    if len(line) <= limit:
        return line
    half = (limit - 1) // 2
    return f"{line[: limit - 1 - half]}…{line[-half:]}"


def _is_message(source: Source, node: Node) -> bool:
    """Return whether a node belongs to a message for people: an argument of a call that logs, prints or raises."""
    above = node.parent
    for _ in range(5):
        if above is None:
            return False
        if above.type in RAISES:
            return True
        if above.type in _CALLS:
            return _MESSAGES.match(source.text(above)) is not None
        if above.type.endswith("_statement") and above.type != "expression_statement":
            return False
        above = above.parent
    return False


def parent_of(node: Node) -> str:
    """Return the type of the node above, or an empty text."""
    return node.parent.type if node.parent is not None else ""


def named(node: Node) -> list[Node]:
    """Return the children of a node, without punctuation and comments."""
    return [child for child in node.named_children if not child.is_extra]


def named_parameters(function: Node) -> list[Node]:
    """Return the parameters of a function that has a list of them."""
    listed = function.child_by_field_name("parameters")
    return named(listed) if listed is not None and listed.type in _PARAMETER_LISTS else []


def closure_of(place: EditScope, node: Node) -> Node:
    """Return the function, named or not, that a node belongs to; the place's own node if there is none between."""
    above = node.parent
    while above is not None and above.id != place.node.id:
        if above.type in place.kinds.closures or above.type in place.kinds.functions:
            return above
        above = above.parent
    return place.node


def body_of(branch: Node) -> Node | None:
    """Return the node that runs if a branch is taken."""
    return branch.child_by_field_name("consequence") or branch.child_by_field_name("body")


def block_statements(body: Node) -> list[Node]:
    """Return the statements of a branch's body: of a block, or the body itself if it is one statement."""
    return without_lists(named(body) if body.type in BLOCKS or body.type == "then" else [body])


def without_lists(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes, with the statements of Go's statement lists in their place."""
    return [each for node in nodes for each in (named(node) if node.type == "statement_list" else [node])]


def without_raised(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield the nodes, in the order of the text, except those of raised errors: a refusal of inputs is no result."""
    end = -1
    for node in nodes:
        if node.start_byte >= end and node.type in RAISES:
            end = node.end_byte
        elif node.start_byte >= end:
            yield node


def python_separator(source: Source, statement: Node) -> str:
    """Return the text between a new statement of Python and the one that it is put before."""
    begin = source.content.rfind(b"\n", 0, statement.start_byte) + 1
    margin = source.content[begin : statement.start_byte].decode("utf-8", "replace")
    return f"\n{margin}" if not margin.strip() else "; "


def with_edits(content: bytes, edits: Iterable[tuple[int, int, str]]) -> bytes:
    """Return a file with all replacements (start, end, text) made; of those that overlap, with the last one."""
    taken = len(content) + 1
    for start, end, by in sorted(edits, reverse=True):
        if end <= taken:
            content = replaced(content, start, end, by.encode())
            taken = start
    return content
