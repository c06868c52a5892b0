"""Code that acts on tests which do not call it: a runner's hooks, autouse fixtures, code that runs on import."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Language, Source, line_of
from worker_agent.tdd.syntax.units_found import field_text, statements
from worker_agent.tdd.syntax.units_javascript import BLOCKS, TESTS, call_of
from worker_agent.tdd.syntax.units_meaning import digest
from worker_agent.tdd.syntax.units_python import decorators, definition_of

_DEFINES = words(
    "import_statement import_from_statement future_import_statement class_definition pass_statement comment"
    " type_alias_statement"
)
_SETTINGS = re.compile(r"(?:pytest_plugins|collect_ignore(?:_glob)?|pytest_\w+)\b")
_TYPES_ONLY = re.compile(r"if (?:\w+\.)?TYPE_CHECKING|if __name__ ==")


def hooks_in(source: Source) -> dict[str, tuple[int, str, str]]:
    """Map the meaning of each piece of such code in a file to its line, first line and whole text."""
    return {digest(source, node): (line_of(node), _first(source, node), source.text(node)) for node in _hooks(source)}


def _hooks(source: Source) -> Iterator[Node]:
    match source.language:
        case Language.PYTHON:
            yield from (node for node in statements(source.root) if _acts_in_python(source, node))
        case Language.JAVASCRIPT | Language.TYPESCRIPT | Language.TSX:
            yield from (node for node in statements(source.root) if _acts_in_javascript(source, node))
        case Language.GO:
            names = {"TestMain", "init"}
            yield from (node for node in statements(source.root) if field_text(source, node, "name") in names)
        case Language.RUBY:
            pattern = re.compile(r"(?:RSpec|Minitest)\.\w+")
            yield from (node for node in statements(source.root) if pattern.match(source.text(node)))
        case _:
            return


def _acts_in_python(source: Source, statement: Node) -> bool:
    node = definition_of(statement)
    if node.type == "function_definition":
        is_hook = field_text(source, node, "name").startswith("pytest_")
        return is_hook or any("autouse=True" in source.text(found).replace(" ", "") for found in decorators(statement))
    if node.type in _DEFINES:
        return False
    if node.type == "if_statement":
        return not _TYPES_ONLY.match(source.text(node))
    if node.type == "expression_statement":
        inner = node.named_children[0]
        if inner.type == "assignment":
            left = field_text(source, inner, "left")
            return bool(_SETTINGS.match(left)) or not re.fullmatch(r"[\w, ()*]+", left)
        return inner.type != "string"
    return True


def _acts_in_javascript(source: Source, statement: Node) -> bool:
    if statement.type in {"if_statement", "for_statement"}:
        return True
    if statement.type != "expression_statement" or not statement.named_children:
        return False
    inner = statement.named_children[0]
    if inner.type == "call_expression":
        return call_of(source, inner).root not in TESTS | BLOCKS
    return inner.type in {"assignment_expression", "await_expression"}


def _first(source: Source, node: Node) -> str:
    return source.text(node).splitlines()[0][:80]
