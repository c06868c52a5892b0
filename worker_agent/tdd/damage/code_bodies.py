"""Damage to a whole function: it raises, returns nothing, or returns another value of its type.

A statement is inserted before the others, which stay: nothing becomes unused, so that compilers accept the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from worker_agent.tdd.damage.code_edits import (
    TYPED,
    Edit,
    FunctionScope,
    closure_of,
    named,
    python_separator,
    without_lists,
)
from worker_agent.tdd.damage.code_values import declared_type, other, sort_of, sort_of_type, zero
from worker_agent.tdd.damage.model import DamageKind
from worker_agent.tdd.syntax.functions import is_documentation, text_without
from worker_agent.tdd.syntax.node_types import RETURNS, words
from worker_agent.tdd.syntax.source import SCRIPTS, Language, line_of

RAISING = {
    Language.PYTHON: "raise RuntimeError('damaged')",
    Language.GO: 'panic("damaged");',
    Language.RUST: 'panic!("damaged");',
    Language.JAVA: 'if (true) throw new IllegalStateException("damaged");',
    Language.PHP: 'throw new \\RuntimeException("damaged");',
    Language.RUBY: 'raise "damaged";',
    Language.CSHARP: 'throw new System.InvalidOperationException("damaged");',
    **dict.fromkeys(SCRIPTS, 'throw new Error("damaged");'),
}
"""The statement that raises, in each language."""

_BLOCKS = words("block statement_block compound_statement constructor_body body_statement")
"""Bodies of functions that hold statements."""

_YIELDS = words("yield yield_expression yield_statement")
_CONSTRUCTORS = words("constructor __construct initialize")
_UNFINISHED = re.compile(
    r"raise NotImplementedError.*|(todo|unimplemented|unreachable) ! .*|pass|\.\.\."
    r"|(if \( true \) )?throw new [\w.\\ ]*(NotImplemented|NotSupported|UnsupportedOperation|BadMethodCall)\w* .*"
    r"|throw new Error \( ([\"'])(not (yet )?implemented|todo).*|panic \( \"?(not implemented|todo).*",
    re.IGNORECASE | re.DOTALL,
)
_RETURNS_NOTHING = words("return returnNone returnundefined returnnil returnnull")
_NOTHING = words("None undefined nil null")


@dataclass(frozen=True, slots=True)
class FunctionEntry:
    """The place of a function's first statement: bytes to insert before, or an expression to replace."""

    start: int
    end: int
    before: str
    after: str

    @property
    def is_expression(self) -> bool:
        """True if the function consists of one expression and holds no statement."""
        return self.end > self.start

    def filled(self, statement: str) -> str:
        """Return the text to put there."""
        return f"{self.before}{statement}{self.after}"


def body_edits(place: FunctionScope) -> Iterator[Edit]:
    """Yield the damages to the function of a place as a whole."""
    name, entry = place.function.name, entry_of(place)
    if entry is None or is_unfinished(place):
        return
    yield _edit(place, entry, DamageKind.RAISE, raising(place, entry), f"`{name}` raised", quiet=False)
    whole = entry.is_expression
    values = {DamageKind.NONE: _nothing(place, whole=whole), DamageKind.LIKE: _another(place, whole=whole)}
    for kind, value in values.items():
        if value is not None and not _returns_only(place, value):
            told = value.removesuffix(";").removeprefix("if (true) ")
            told = told if told.startswith(("return", "yield")) else f"return {told}"
            yield _edit(place, entry, kind, value, f"`{name}` began with `{told}`")


def entry_of(place: FunctionScope) -> FunctionEntry | None:
    """Return the beginning of the body; None for an empty body in Ruby."""
    body = place.function.body
    if body is None:
        return None
    if place.language is Language.PYTHON:
        return _python_entry(place, body)
    if place.language is Language.RUBY:
        return _ruby_entry(body)
    if body.type == "arrow_expression_clause":
        inner = named(body)[-1]
        return FunctionEntry(inner.start_byte, inner.end_byte, "", "")
    if not (body.children and body.children[0].type == "{"):
        return FunctionEntry(body.start_byte, body.end_byte, "", "")
    first = next((child for child in named(body) if child.type == "explicit_constructor_invocation"), body.children[0])
    return FunctionEntry(first.end_byte, first.end_byte, " ", "")


def raising(place: FunctionScope, entry: FunctionEntry) -> str:
    """Return the statement, or the expression, that raises."""
    statement = RAISING[place.language]
    if not entry.is_expression:
        return statement
    if place.language in SCRIPTS:
        return f"{{ {statement} }}"
    return statement.removesuffix(";").replace('raise "damaged"', 'raise("damaged")')


def is_unfinished(place: FunctionScope) -> bool:
    """Return whether a function has no statement, or one that says it is not implemented."""
    texts = [text_without(place.source, child, ()).removesuffix(" ;") for child in body_statements(place)]
    return not texts or (len(texts) == 1 and _UNFINISHED.fullmatch(texts[0]) is not None)


def body_statements(place: FunctionScope) -> list[Node]:
    """Return the statements of the function's body without documentation; its expression if it has none."""
    body = place.function.body
    if body is None:
        return []
    found = named(body) or ([] if body.children and body.children[0].type == "{" else [body])
    if place.language is Language.GO:
        found = without_lists(found)
    if body.type not in _BLOCKS:
        return [body] if body.type != "arrow_expression_clause" else found
    return [child for child in found if not is_documentation(place.source, child)]


def _edit(
    place: FunctionScope,
    entry: FunctionEntry,
    kind: DamageKind,
    statement: str,
    description: str,
    *,
    quiet: bool = True,
) -> Edit:
    if len(description) > 80:
        description = f"{description[:78]}…`" if description.endswith("`") else f"{description[:79]}…"
    return Edit(kind, entry.start, entry.end, entry.filled(statement), description, line_of(place.node), quiet=quiet)


def _python_entry(place: FunctionScope, body: Node) -> FunctionEntry | None:
    first = next((each for each in named(body) if not is_documentation(place.source, each)), None)
    if first is None:
        return None
    return FunctionEntry(first.start_byte, first.start_byte, "", python_separator(place.source, first))


def _ruby_entry(body: Node) -> FunctionEntry:
    if body.type == "body_statement":
        return FunctionEntry(body.start_byte, body.start_byte, "", " ")
    return FunctionEntry(body.start_byte, body.end_byte, "", "")


def _returns_only(place: FunctionScope, value: str) -> bool:
    """Return whether a function already does nothing but `value`."""
    statements = body_statements(place)
    if len(statements) != 1:
        return False
    plain = re.sub(r"[\s;()]", "", place.text(statements[0])).replace('"', "'")
    asked = re.sub(r"[\s;()]", "", value.removeprefix("if (true) ")).replace('"', "'")
    same = {asked, asked.removeprefix("return")}
    if asked in _RETURNS_NOTHING:
        same |= _RETURNS_NOTHING | _NOTHING
    return plain in same


def _nothing(place: FunctionScope, *, whole: bool) -> str | None:
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


def _another(place: FunctionScope, *, whole: bool) -> str | None:
    """Return the same as `_nothing`, for another value of the sort that the function visibly returns."""
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
    if body is not None and body.type not in _BLOCKS:
        inner = named(body)[-1] if body.type == "arrow_expression_clause" else body
        sorts.add(sort_of(place.source, inner))
    return sorts.pop() if len(sorts) == 1 else ""
