"""Statements of Python: the calls and contexts in them, and their place on the line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from worker_agent.tdd.syntax.source import Source, walk
from worker_agent.tdd.syntax.units_found import child, statements

_BROAD = re.compile(r"\b(?:Exception|BaseException|AssertionError)\b")


def local_name(name: str) -> str:
    """Return a called name as the reader has it: `self.check` is `.check`."""
    owner, _, last = name.rpartition(".")
    return f".{last}" if owner in {"self", "cls"} else name


def call_of(statement: Node) -> Node | None:
    """Return the call that is the statement, or whose result the statement keeps."""
    found: Node | None = statement
    if statement.type in {"expression_statement", "return_statement"}:
        found = next(statements(statement), None)
    if found is not None and found.type == "assignment":
        found = child(found, "right")
    if found is not None and found.type == "await":
        found = next(statements(found), None)
    return found if found is not None and found.type == "call" else None


def context_calls(statement: Node) -> Iterator[Node]:
    """Yield the calls that are contexts of a `with`."""
    return (value for value in contexts(statement) if value.type == "call")


def contexts(statement: Node) -> Iterator[Node]:
    """Yield the contexts of a `with`, without names and parentheses."""
    clauses = [found for found in statement.named_children if found.type == "with_clause"]
    for item in (found for clause in clauses for found in walk(clause) if found.type == "with_item"):
        value = child(item, "value")
        while value is not None and value.type in {"as_pattern", "parenthesized_expression", "tuple"}:
            value = next(statements(value), None)
        if value is not None:
            yield value


def is_broad(source: Source, handler: Node) -> bool:
    listed = list(statements(handler))
    return len(listed) < 2 or any(_BROAD.search(source.text(found)) for found in listed[:-1])


def stands_alone(source: Source, statement: Node) -> bool:
    """Return whether a statement is alone on its line, so that it may become a compound one."""
    start = source.content.rfind(b"\n", 0, statement.start_byte) + 1
    lead = source.content[start : statement.start_byte]
    end = source.content.find(b"\n", statement.end_byte)
    tail = source.content[statement.end_byte : end if end >= 0 else None]
    return not lead.strip() and not tail.strip().startswith(b";")
