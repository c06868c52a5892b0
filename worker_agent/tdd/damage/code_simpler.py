"""New functions made simpler than requested: they return an argument, always return the same, or fail."""

from __future__ import annotations

import re
from collections.abc import Iterator

from worker_agent.tdd.damage.code_bodies import (
    FunctionEntry,
    entry_of,
    is_generator,
    is_unfinished,
    raising,
    result_types,
    returned_sort,
    returning,
)
from worker_agent.tdd.damage.code_edits import FunctionScope
from worker_agent.tdd.damage.code_parameters import parameters
from worker_agent.tdd.damage.code_values import declared_type, sort_of_type
from worker_agent.tdd.syntax.source import Language, parse, replaced

ARGUMENTS = 2
"""The number of a function's first parameters that a simpler version may return."""

_ERROR = "damagedByTheProof"
_ERROR_TYPE = f'\n\ntype {_ERROR} struct{{}}\n\nfunc ({_ERROR}) Error() string {{ return "damaged" }}\n'.encode()
"""An error type for Go that needs no import."""

_NEVER = frozenset({"!", "never", "Never", "NoReturn"})
"""Types of functions that never return."""

_RUST_ERROR = 'Err("damaged".into())'

_CONSTRUCTORS = frozenset({"constructor", "__construct", "__init__", "__new__", "initialize"})


def simpler(place: FunctionScope) -> Iterator[tuple[str, bytes]]:
    """Yield the simpler versions of a function that can be written in its language, as whole files.

    What the function then does completes the sentence "one that ...".
    """
    entry = entry_of(place)
    is_constructor = place.function.name.rpartition(".")[2] in _CONSTRUCTORS
    if entry is None or is_constructor or is_unfinished(place) or is_generator(place):
        return
    for value, description in _values(place):
        statement = returning(place, entry.is_expression, value)
        content = None if statement is None else _with_first_statement(place, entry, statement)
        if content is not None:
            yield description, content
    if declared_type(place.source, place.node).rpartition(".")[2] in _NEVER:
        return
    failing = _with_first_statement(place, entry, _failing_statement(place) or raising(place, entry))
    if failing is not None:  # whoever expects any failure is content with it
        declares = place.language is Language.GO and _ERROR.encode() in failing
        yield "always fails", failing + _ERROR_TYPE if declares else failing


def _failing_statement(place: FunctionScope) -> str:
    """Return the statement that returns an error, if the function returns errors; empty if it raises."""
    if place.language is Language.GO and (types := result_types(place))[-1:] == ["error"]:
        return f"return {', '.join([*(f'*new({each})' for each in types[:-1]), f'{_ERROR}{{}}'])};"
    if place.language is Language.RUST and re.search(r"\bResult\b", declared_type(place.source, place.node)):
        calls = (node for node in place.nodes if node.type == "call_expression")
        errors = (place.text(node) for node in calls if place.text(node).startswith("Err("))
        return f"return {next(errors, _RUST_ERROR)};"
    return ""


def _values(place: FunctionScope) -> Iterator[tuple[str, str]]:
    """Yield each value that a simpler version returns, and the words for that."""
    sort = sort_of_type(declared_type(place.source, place.node)) or returned_sort(place)
    if sort == "bool":
        for value in ("True", "False") if place.language is Language.PYTHON else ("true", "false"):
            yield value, f"always returns {value}"
        return
    for name in parameters(place)[:ARGUMENTS]:
        yield f"{name}.into()" if place.language is Language.RUST else name, f"hands back its argument `{name}`"


def _with_first_statement(place: FunctionScope, entry: FunctionEntry, statement: str) -> bytes | None:
    before = place.source.content
    content = replaced(before, entry.start, entry.end, entry.filled(statement).encode())
    return content if content != before and parse(place.source.path, content) is not None else None
