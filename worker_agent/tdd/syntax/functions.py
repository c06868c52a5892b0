"""The functions of a source file, each with its own text, and the statements outside of them.

Also the names of functions and classes: their own, or the name that a function without one is bound to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from tree_sitter import Node

from worker_agent.tdd.syntax.node_types import COMMENTS, NODE_TYPES, words
from worker_agent.tdd.syntax.source import SCRIPTS, Language, Source, enclosing, outermost

_TYPED_ONLY = re.compile(r"(typing\.|t\.)?TYPE_CHECKING|import\.meta\.vitest( !== undefined)?")
_RUST_TEST = re.compile(r"#\[\s*(cfg\s*\(\s*(test|all\s*\(\s*test)|([a-z_]+::)?test\b|rstest\b|bench\b)")
_DECLARED = re.compile(r"\b(overload|abstractmethod|abstractproperty|abstractclassmethod|singledispatch)\b")
_STATEMENT_PLACES = words(
    "module program source_file compilation_unit block class_body declaration_list statement_block"
    " body_statement enum_body enum_member_declaration_list enum_declaration_list enum_body_declarations"
)
_THROUGH = words(
    "decorated_definition export_statement namespace_definition namespace_declaration"
    " file_scoped_namespace_declaration expression_statement"
)


@dataclass(frozen=True, slots=True)
class Function:
    """A named function: `name` is qualified by its classes and functions, `body` is None for Ruby's empty ones.

    `nested` are the named functions inside; `text` is its code: its tokens without theirs, and without comments,
    documentation and annotations.
    """

    name: str
    node: Node
    body: Node | None
    nested: tuple[Node, ...]
    text: str

    @property
    def owner(self) -> str:
        """The name without its last part: the class, or the function, around it."""
        return self.name.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a module or a class, outside of functions; `text` as for `Function`."""

    node: Node
    nested: tuple[Node, ...]
    text: str


def functions(source: Source) -> tuple[Function, ...]:
    """Return the functions with a name and a body in the order of the text, without tests inside Rust code."""
    found = []
    for name, node in _named_functions(source):
        body = node.child_by_field_name("body")
        if body is None and source.language is Language.CSHARP:
            body = node.child_by_field_name("value")
        if body is None and source.language is not Language.RUBY:
            continue
        inside = nested(source, node)
        found.append(Function(name, node, body, inside, text_without(source, node, inside)))
    return tuple(found)


def statements(source: Source) -> tuple[Statement, ...]:
    """Return the statements of modules and classes outside of functions, in the order of the text."""
    found = []
    pending = [source.root]
    while pending:
        node = pending.pop()
        for child in node.named_children:
            if child.type in COMMENTS or _is_unit(source, child) or is_left_out(source, child):
                continue
            inner = _place(source, child)
            if inner is not None:
                pending.append(inner)
                if child.type in _THROUGH or child.type in NODE_TYPES[source.language].classes:
                    found.extend(_header(source, child, inner))
            else:
                inside = nested(source, child)
                found.append(Statement(child, inside, text_without(source, child, inside)))
    return tuple(sorted(found, key=lambda statement: statement.node.start_byte))


def _is_unit(source: Source, node: Node) -> bool:
    """Return whether a node is a function with a name of its own, or known by the variable or call it is given to."""
    kinds = NODE_TYPES[source.language]
    return node.type in kinds.functions or (node.type in kinds.closures and bool(_bound_name(source, node)))


def is_left_out(source: Source, node: Node) -> bool:
    """Return whether a node never counts: code for type checkers, tests inside code, declarations without a body."""
    if source.language is Language.RUST:
        return node.type in ("mod_item", "function_item") and _is_rust_test(source, node)
    if node.type != "if_statement":
        return False
    condition = node.child_by_field_name("condition")
    return condition is not None and _TYPED_ONLY.fullmatch(source.text(condition).strip("()")) is not None


def is_documentation(source: Source, node: Node) -> bool:
    """Return whether a node is a statement of just a string: documentation, or a directive such as "use strict"."""
    if node.type != "expression_statement" or node.named_child_count != 1:
        return False
    only = node.named_children[0].type
    return only in NODE_TYPES[source.language].strings or only == "concatenated_string"


def is_declared_only(source: Source, node: Node) -> bool:
    """Return whether a Python function stands for others: an overload, an abstract method, one of a protocol."""
    if source.language is not Language.PYTHON:
        return False
    above = node.parent
    if above is not None and above.type == "decorated_definition":
        decorators = (child for child in above.named_children if child.type == "decorator")
        if any(_DECLARED.search(source.text(child)) for child in decorators):
            return True
        above = above.parent
    owner = above.parent if above is not None else None
    if owner is None or owner.type != "class_definition":
        return False
    bases = owner.child_by_field_name("superclasses")
    return bases is not None and re.search(r"\bProtocol\b", source.text(bases)) is not None


def own(source: Source, node: Node, nested: tuple[Node, ...] = ()) -> Iterator[Node]:
    """Yield a node and its descendants in the order of the text, without `nested`, comments, documentation and types.

    Strings of Python and PHP are not entered: code in their gaps cannot be changed freely.
    """
    left_out = {inner.id for inner in nested}
    kinds = NODE_TYPES[source.language]
    closed = kinds.strings if source.language in (Language.PYTHON, Language.PHP) else frozenset()
    pending = [node]
    while pending:
        found = pending.pop()
        if found.id in left_out or found.type in COMMENTS or found.type in kinds.ignored:
            continue
        if is_documentation(source, found) or is_left_out(source, found):
            continue
        yield found
        if found.type not in closed:
            pending.extend(reversed(found.children))


def nested(source: Source, node: Node) -> tuple[Node, ...]:
    """Return the outermost named functions below a node."""
    return tuple(unit for child in node.children for unit in outermost(child, partial(_is_unit, source)))


def text_without(source: Source, node: Node, inside: tuple[Node, ...]) -> str:
    """Return the tokens of a node joined by blanks, with a mark for each of the functions `inside`."""
    left_out = {inner.id for inner in inside}
    kinds = NODE_TYPES[source.language]
    tokens = []
    pending = [node]
    while pending:
        found = pending.pop()
        if found.id in left_out:
            tokens.append(f"<function {_own_name(source, found)}>")
        elif is_unread(source, found):
            continue
        elif found.child_count == 0 or found.type in kinds.strings:
            tokens.append(source.text(found))
        else:
            pending.extend(reversed(found.children))
    return " ".join(tokens)


def is_unread(source: Source, node: Node) -> bool:
    """Return whether a node means nothing to the machine: a comment, documentation, an annotation with its sign."""
    unread = NODE_TYPES[source.language].unread
    if node.type in COMMENTS or node.type in unread or is_documentation(source, node):
        return True
    after = node.next_sibling if node.type in (":", "->") else None
    return after is not None and after.type in unread


def _named_functions(source: Source) -> Iterator[tuple[str, Node]]:
    """Yield each function that is a unit, with its qualified name."""
    kinds = NODE_TYPES[source.language]
    pending: list[tuple[str, Node]] = [("", source.root)]
    while pending:
        above, node = pending.pop()
        if is_left_out(source, node):
            continue
        name = above
        if _is_unit(source, node):
            name = joined(above, _own_name(source, node))
            yield name, node
        elif node.type in kinds.classes:
            name = joined(above, _class_name(source, node))
        pending.extend((name, child) for child in reversed(node.named_children))


def _is_rust_test(source: Source, node: Node) -> bool:
    before = node.prev_named_sibling
    while before is not None and before.type in ("attribute_item", *COMMENTS):
        if before.type == "attribute_item" and _RUST_TEST.match(source.text(before)):
            return True
        before = before.prev_named_sibling
    return False


def _place(source: Source, node: Node) -> Node | None:
    """Return the node with the statements inside a class, a namespace, or a mere wrapper; None for others."""
    kinds = NODE_TYPES[source.language]
    if node.type in _STATEMENT_PLACES:
        return node
    body = node.child_by_field_name("body")
    if node.type in kinds.classes or "namespace" in node.type:
        return body
    if node.type in _THROUGH:
        wrapped = [child for child in node.named_children if child.type in (*kinds.classes, *kinds.functions)]
        return node if wrapped else None
    return None


def _header(source: Source, node: Node, inner: Node) -> list[Statement]:
    """Return the parts of a class outside of its body: decorators and arguments of its bases."""
    if inner.id == node.id:
        return []
    named = [child for child in node.named_children if child.id != inner.id and child.type not in COMMENTS]
    return [
        Statement(child, (), text_without(source, child, ()))
        for child in named
        if child.type in ("argument_list", "superclass", "class_heritage")
    ]


_NAME = 60
"""The most characters of a name that are kept; names can be computed."""
_BOUND_BY = {"variable_declarator": "name", "pair": "key", "assignment_expression": "left", "var_spec": "name"}
_FIELDS = frozenset({"public_field_definition", "field_definition"})


def _own_name(source: Source, node: Node) -> str:
    """Return a function's name without its classes; in Go with its receiver's type; for `get x` with the word."""
    named = node.child_by_field_name("name")
    if node.type in NODE_TYPES[source.language].closures or named is None:
        return _bound_name(source, node) or node.type
    name = source.text(named)
    receiver = node.child_by_field_name("receiver") if source.language is Language.GO else None
    if receiver is not None:
        owner = re.search(r"(\w+)\s*(\[[^\]]*\])?\s*\)$", source.text(receiver))
        name = f"{owner.group(1)}.{name}" if owner else name
    accessor = next((child.type for child in node.children if child.type in ("get", "set")), "")
    return f"{accessor} {name}" if accessor and accessor != name else name


def _bound_name(source: Source, node: Node) -> str:
    """Return a closure's name: of its variable or property, or of the top-level call that takes it."""
    parent = node.parent
    if parent is None or source.language not in (*SCRIPTS, Language.GO, Language.PHP):
        return ""
    while parent.type in ("expression_list", "parenthesized_expression", "await_expression") and parent.parent:
        if parent.type == "parenthesized_expression" and parent.parent.type == "call_expression":
            return ""
        parent = parent.parent
    if parent.type in _FIELDS:
        named = parent.child_by_field_name("name") or parent.child_by_field_name("property")
        return source.text(named) if named else ""
    named = parent.child_by_field_name(_BOUND_BY.get(parent.type, "-"))
    if named is not None:
        return source.text(named).removeprefix("module.exports.").removeprefix("exports.")
    if parent.type == "export_statement":
        return "default"
    taker = parent.parent if parent.type == "arguments" else None
    called = taker.child_by_field_name("function") if taker is not None else None
    kinds = NODE_TYPES[source.language]
    if called is None or enclosing(parent, kinds.functions | kinds.closures) is not None:
        return ""
    return f"{''.join(source.text(called).split('(')[0].split())}()"


def _class_name(source: Source, node: Node) -> str:
    """Return the name of a class, a module, or the type that an `impl` is for."""
    named = node.child_by_field_name("name") or node.child_by_field_name("type")
    return re.sub(r"[<\[].*", "", source.text(named), flags=re.DOTALL) if named else ""


def joined(above: str, name: str) -> str:
    """Return the qualified name, on one line."""
    plain = " ".join(name.split())[:_NAME]
    return f"{above}.{plain}" if above and plain else above or plain
