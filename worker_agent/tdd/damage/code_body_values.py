"""The first result of a damaged function: nothing, or another value of the declared or visible type."""

from __future__ import annotations

import re

from worker_agent.tdd.damage.code_edits import SCRIPTS, TYPED, FunctionScope, closure_of, named
from worker_agent.tdd.damage.code_values import declared_type, other, sort_of, sort_of_type, zero
from worker_agent.tdd.syntax.node_types import RETURNS
from worker_agent.tdd.syntax.source import Language

BLOCKS = frozenset({"block", "statement_block", "compound_statement", "constructor_body", "body_statement"})
"""Bodies of functions that hold statements."""
_YIELDS = frozenset({"yield", "yield_expression", "yield_statement"})
_CONSTRUCTORS = frozenset({"constructor", "__construct", "initialize"})


def nothing(place: FunctionScope, *, whole: bool) -> str | None:
    """Return the statement that returns nothing, or the zero value; its value if the `whole` body is an expression.

    None if that is impossible.
    """
    if _must_run(place):
        return None
    declared = declared_type(place.source, place.node)
    if is_generator(place):
        return {Language.CSHARP: "yield break;", Language.PYTHON: "return"}.get(place.language, "return;")
    if place.language is Language.GO:
        values = ", ".join(f"*new({each})" for each in result_types(place))
        return f"return {values};" if values else "return;"
    if place.language is Language.CSHARP and (special := _task(place, declared)):
        return special if not whole else None
    sort = sort_of_type(declared) or returned_sort(place)
    if sort == "none" or (not declared and place.language in TYPED):
        return {Language.JAVA: "if (true) return;", Language.PYTHON: "return None"}.get(place.language, "return;")
    return returning(place, whole, zero(place.language, sort, declared))


def another(place: FunctionScope, *, whole: bool) -> str | None:
    """Return the same as `nothing`, for another value of the sort that the function visibly returns."""
    if is_generator(place) or _must_run(place):
        return None
    if place.language is Language.GO:
        return _go_another(result_types(place))
    declared = declared_type(place.source, place.node)
    task = re.fullmatch(r"Task<(\w+)>", declared) if place.language is Language.CSHARP else None
    if task and "async" in place.text(place.node).split("(")[0]:
        declared = task.group(1)
    promise = re.fullmatch(r"Promise<(\w+)>", declared)
    sort = sort_of_type(promise.group(1) if promise else declared) or returned_sort(place)
    return returning(place, whole, other(place.language, sort, declared))


def result_types(place: FunctionScope) -> list[str]:
    """Return the types of the results of a function in Go, one for each value."""
    result = place.node.child_by_field_name("result")
    if result is None:
        return []
    if result.type != "parameter_list":
        return [place.text(result)]
    found = []
    for each in named(result):
        declared = each.child_by_field_name("type")
        count = max(1, len(each.children_by_field_name("name")))
        found += [place.text(declared)] * count if declared is not None else []
    return found


def is_generator(place: FunctionScope) -> bool:
    """Return whether the function yields; False in Ruby, where `yield` is a call."""
    if place.language is Language.RUBY:
        return False
    return any(node.type in _YIELDS and closure_of(place, node).id == place.node.id for node in place.nodes)


def _go_another(types: list[str]) -> str | None:
    values = [other(Language.GO, sort_of_type(each)) for each in types]
    at = next((at for at, value in enumerate(values) if value), None)
    if at is None:
        return None
    each = [values[at] if number == at else f"*new({declared})" for number, declared in enumerate(types)]
    return f"return {', '.join(str(value) for value in each)};"


def returning(place: FunctionScope, whole: bool, value: str | None) -> str | None:
    """Return the statement that returns a value at once; the value itself if the `whole` body is an expression."""
    if value is None:
        return None
    if whole:
        return f"({value})" if value.startswith("{") else value
    match place.language:
        case Language.PYTHON:
            return f"return {value}"
        case Language.JAVA:
            return f"if (true) return {value};"
        case _:
            return f"return {value};"


def _task(place: FunctionScope, declared: str) -> str:
    """Return a C# method's result if the method runs in the background."""
    if not re.match(r"(Value)?Task\b", declared):
        return ""
    inner = re.fullmatch(r"(?:Value)?Task<(.*)>", declared, re.DOTALL)
    if "async" in place.text(place.node).split("(")[0].split():
        return "return default!;" if inner else "return;"
    if declared.startswith("Value"):
        return "return default;"
    tasks = "System.Threading.Tasks.Task"
    return f"return {tasks}.FromResult<{inner.group(1)}>(default!);" if inner else f"return {tasks}.CompletedTask;"


def _must_run(place: FunctionScope) -> bool:
    """Return whether a constructor has to call another, or the language forbids it to end early."""
    node = place.node
    if node.type in ("constructor_declaration", "compact_constructor_declaration"):
        return place.language is Language.JAVA
    name = place.function.name.rpartition(".")[2]
    return name in _CONSTRUCTORS and place.language in SCRIPTS and any(each.type == "super" for each in place.nodes)


def returned_sort(place: FunctionScope) -> str:
    """Return the one sort of all returned values, if it is visible."""
    sorts = set()
    for node in place.nodes:
        if node.type in RETURNS and closure_of(place, node).id == place.node.id and named(node):
            value = named(node)[-1]
            if value.type == "argument_list" and named(value):
                value = named(value)[0]
            sorts.add(sort_of(place.source, value))
    body = place.function.body
    if body is not None and body.type not in BLOCKS:
        inner = named(body)[-1] if body.type == "arrow_expression_clause" else body
        sorts.add(sort_of(place.source, inner))
    return sorts.pop() if len(sorts) == 1 else ""
