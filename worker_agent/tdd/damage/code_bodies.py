"""Damage to a whole function: it raises, returns nothing, or returns another value of its type.

A statement is inserted before the others, which stay: nothing becomes unused, so that compilers accept the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from worker_agent.tdd.damage.code_body_values import BLOCKS, another, nothing
from worker_agent.tdd.damage.code_edits import SCRIPTS, Edit, FunctionScope, named, python_separator, without_lists
from worker_agent.tdd.damage.model import DamageKind
from worker_agent.tdd.syntax.functions import is_documentation, text_without
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Language, line_of

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

_FIRST = frozenset({"explicit_constructor_invocation"})
_UNFINISHED = re.compile(
    r"raise NotImplementedError\b.*|(todo|unimplemented|unreachable) ! .*|pass|\.\.\."
    r"|(if \( true \) )?throw new [\w.\\ ]*(NotImplemented|NotSupported|UnsupportedOperation|BadMethodCall)\w* .*"
    r"|throw new Error \( ([\"'])(not (yet )?implemented|todo).*|panic \( \"?(not implemented|todo).*"
    r"|raise NotImplementedError.*",
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
    for kind, value in ((DamageKind.NONE, nothing(place, whole=whole)), (DamageKind.LIKE, another(place, whole=whole))):
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
    first = next((child for child in named(body) if child.type in _FIRST), body.children[0])
    return FunctionEntry(first.end_byte, first.end_byte, " ", "")


def raising(place: FunctionScope, entry: FunctionEntry) -> str:
    """Return the statement, or the expression, that raises."""
    statement = RAISING[place.language]
    if place.language in SCRIPTS:
        return f"{{ {statement} }}" if entry.is_expression else statement
    return (
        statement.removesuffix(";").replace('raise "damaged"', 'raise("damaged")') if entry.is_expression else statement
    )


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
    if body.type not in BLOCKS:
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
    told = description
    if len(description) > 80:
        told = f"{description[:78]}…`" if description.endswith("`") else f"{description[:79]}…"
    line = line_of(place.node)
    return Edit(kind, entry.start, entry.end, entry.filled(statement), told, line, quiet=quiet)


def _python_entry(place: FunctionScope, body: Node) -> FunctionEntry | None:
    statements = named(body)
    first = next((each for each in statements if not is_documentation(place.source, each)), None)
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
