"""Tests of a Python file, as pytest and unittest collect them: functions, classes, marks and parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tree_sitter import Node

from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Source
from worker_agent.tdd.syntax.units_found import Case, FoundTest, arguments, child, field_text, statements
from worker_agent.tdd.syntax.units_meaning import digest

_SKIPS = re.compile(r"(?:.*\.)?(?:skip|skipif|xfail|skipIf|skipUnless|skipTest|SkipTest|expectedFailure|importorskip)$")
_MODULE_SKIP = re.compile(r"(?:\w+\s*=\s*)?(?:pytest\.)?(?:importorskip\(|skip\(.*allow_module_level)", re.DOTALL)
_MODULE_SETUP = words(
    "setup_module setup_function setUpModule teardown_module teardown_function tearDownModule load_tests"
)
_CLASS_SETUP = re.compile(
    r"(?:async)?(?:setup|teardown)(?:_?class|_method)?|(?:async)?(?:setUp|tearDown)(?:Class|TestData)?|asyncSetUp"
    r"|asyncTearDown|run|debug|subTest|fail|failureException|_call\w+|__(?:call|init|new|getattribute|getattr)__",
)
_PARAMETRIZE = re.compile(r"(?:.*\.)?parametri[sz]e(?:d\.expand)?$|(?:.*\.)?expand$")
_COMPOUND = words(
    "if_statement try_statement with_statement else_clause elif_clause except_clause finally_clause block"
)

_DEFINITION = re.compile(r"^[ \t]*(?:async )?(?:def|class) ", re.MULTILINE)
_DEFINES = words(
    "import_statement import_from_statement future_import_statement class_definition pass_statement comment"
    " type_alias_statement"
)
_SETTINGS = re.compile(r"(?:pytest_plugins|collect_ignore(?:_glob)?|pytest_\w+)\b")
_TYPES_ONLY = re.compile(r"if (?:\w+\.)?TYPE_CHECKING|if __name__ ==")

_DEPTH = 8
"""The most classes in a chain of inheritance."""


@dataclass(frozen=True, slots=True)
class _Scope:
    names: tuple[str, ...]
    owner: tuple[Node, ...]
    around: tuple[Node, ...]
    marks: tuple[Node, ...]
    skipped: str


def found_in(source: Source) -> Iterator[FoundTest]:
    """Yield the tests, in the order of the file; a later definition of the same name hides an earlier one."""
    every = _tests(source, source.root, _Scope((), (), _module_setup(source), (), _module_skip(source)))
    last = {found.name: found for found in every}
    acting = _acting(source)
    for found in sorted(last.values(), key=lambda found: found.node.start_byte):
        yield replace(found, beside=(*acting, *_rebinding(source, found)))


def acts_on_its_own(source: Source, statement: Node) -> bool:
    """Return whether a statement of a module may act on tests that do not call it: hooks, fixtures, patches."""
    node = definition_of(statement)
    if node.type == "function_definition":
        return field_text(source, node, "name").startswith("pytest_") or is_autouse(source, statement)
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


def _tests(source: Source, block: Node, scope: _Scope) -> Iterator[FoundTest]:
    for statement in statements(block):
        if statement.type in _COMPOUND:
            yield from _tests(source, statement, scope)
            continue
        node = definition_of(statement)
        if node.type == "class_definition" and _is_collected_class(source, node):
            yield from _class(source, statement, scope)
        elif node.type == "function_definition" and _is_collected(source, statement, block):
            yield _function(source, statement, scope)


def definition_of(statement: Node) -> Node:
    """Return the function or class under decorators, or the statement itself."""
    inner = statement.child_by_field_name("definition") if statement.type == "decorated_definition" else None
    return statement if inner is None else inner


def decorators(statement: Node) -> list[Node]:
    """Return the expressions of the decorators."""
    if statement.type != "decorated_definition":
        return []
    return [found.named_children[0] for found in statement.named_children if found.type == "decorator"]


def called(source: Source, expression: Node) -> str:
    """Return the dotted name of a decorator or call, without its arguments."""
    function = expression.child_by_field_name("function") if expression.type == "call" else expression
    return source.text(function) if function is not None else ""


def _is_collected(source: Source, statement: Node, block: Node) -> bool:
    """Return whether pytest takes a function for a test; `name.__test__ = False` may follow it."""
    name = field_text(source, definition_of(statement), "name")
    if not name.startswith("test") or _is_fixture(source, statement):
        return False
    return b".__test__" not in source.content or not any(
        source.text(found).replace(" ", "") == f"{name}.__test__=False" for found in statements(block)
    )


def _is_fixture(source: Source, statement: Node) -> bool:
    return any(called(source, found).rpartition(".")[2] == "fixture" for found in decorators(statement))


def _is_collected_class(source: Source, node: Node) -> bool:
    name = field_text(source, node, "name")
    is_unittest = _is_unittest(source, node)
    body = list(statements(child(node, "body")))
    hidden = any(re.fullmatch(r"__test__\s*(?::\s*\w+\s*)?=\s*False", source.text(found)) for found in body)
    has_init = any(field_text(source, definition_of(found), "name") == "__init__" for found in body)
    return not hidden and (is_unittest or (name.startswith("Test") and not has_init))


def _is_unittest(source: Source, node: Node, depth: int = _DEPTH) -> bool:
    listed = field_text(source, node, "superclasses")
    if re.search(r"TestCase\b|Tests?\b", listed):
        return True
    return depth > 0 and any(_is_unittest(source, found, depth - 1) for found in _bases(source, node))


def _bases(source: Source, node: Node) -> list[Node]:
    """Return the classes of the file that a class extends."""
    listed = {source.text(found) for found in statements(child(node, "superclasses"))}
    every = (definition_of(found) for found in statements(source.root))
    return [
        found for found in every if found.type == "class_definition" and field_text(source, found, "name") in listed
    ]


def _class(source: Source, statement: Node, scope: _Scope, depth: int = _DEPTH) -> Iterator[FoundTest]:
    """Yield the tests of a class: first those that it inherits, which its own replace."""
    node = definition_of(statement)
    inner = _class_scope(source, statement, scope)
    for base in _bases(source, node) if depth else []:
        for found in _class(source, base, scope, depth - 1):
            name = found.name.rpartition("::")[2]
            yield replace(found, name="::".join((*inner.names, name)), skipped=inner.skipped or found.skipped)
    body = child(node, "body")
    if body is not None:
        yield from _tests(source, body, inner)


def _class_scope(source: Source, statement: Node, scope: _Scope) -> _Scope:
    node = definition_of(statement)
    body = child(node, "body")
    assert body is not None, "a class of Python has a body"
    marks = decorators(statement)
    skips = [found for found in marks if _SKIPS.match(called(source, found))]
    skipped = _pytestmark(source, body) or (f"decorator {source.text(skips[0])}" if skips else "")
    around = [found for found in statements(body) if _acts_on_tests(source, found)]
    bases = child(node, "superclasses")
    kept = [found for found in marks if found not in skips]
    return _Scope(
        (*scope.names, field_text(source, node, "name")),
        (*scope.owner, node),
        (*scope.around, *([] if bases is None else [bases]), *around),
        (*scope.marks, *kept),
        skipped or scope.skipped,
    )


def _acts_on_tests(source: Source, statement: Node) -> bool:
    node = definition_of(statement)
    if node.type == "expression_statement" and node.named_children[0].type == "assignment":
        return bool(_CLASS_SETUP.fullmatch(field_text(source, node.named_children[0], "left")))
    is_setup = bool(_CLASS_SETUP.fullmatch(field_text(source, node, "name")))
    return node.type == "function_definition" and (is_setup or is_autouse(source, statement))


def is_autouse(source: Source, statement: Node) -> bool:
    """Return whether a decorator makes a function a fixture that acts on tests which do not name it."""
    return any("autouse=True" in source.text(found).replace(" ", "") for found in decorators(statement))


def _module_setup(source: Source) -> tuple[Node, ...]:
    return tuple(
        statement
        for statement in statements(source.root)
        if field_text(source, definition_of(statement), "name") in _MODULE_SETUP or is_autouse(source, statement)
    )


def _acting(source: Source) -> tuple[Node, ...]:
    """Return the statements of the module that may act on its tests; of those that define something none."""
    return tuple(
        statement
        for statement in statements(source.root)
        if acts_on_its_own(source, statement) and not _DEFINITION.search(source.text(statement))
    )


def _rebinding(source: Source, found: FoundTest) -> tuple[Node, ...]:
    """Return the statements that bind a test's name, or its class, to something else."""
    *owners, own = found.name.split("::")
    blocks = [(source.root, (owners or [own])[0]), *((child(owner, "body"), own) for owner in found.owner)]
    return tuple(each for block, name in blocks for each in statements(block) if _binds(source, each, name))


def _binds(source: Source, statement: Node, name: str) -> bool:
    """Return whether a statement that defines nothing binds a name: an assignment, or an import."""
    if name not in source.text(statement):
        return False
    if statement.type in {"import_statement", "import_from_statement"}:
        return re.search(rf"\b{re.escape(name)}\b\s*(?:[,)#\n]|$)", source.text(statement)) is not None
    inner = statement.named_children[0] if statement.type == "expression_statement" else statement
    return (
        inner.type == "assignment"
        and re.search(rf"\b{re.escape(name)}\b", field_text(source, inner, "left")) is not None
    )


def _module_skip(source: Source) -> str:
    for statement in statements(source.root):
        text = source.text(statement)
        calls = statement.type == "expression_statement" and _MODULE_SKIP.match(text)
        if calls or (statement.type == "raise_statement" and "SkipTest" in text):
            return f"module {text.splitlines()[0]}"
    return _pytestmark(source, source.root)


def _pytestmark(source: Source, block: Node) -> str:
    for statement in statements(block):
        text = source.text(statement)
        if re.match(r"pytestmark\b", text) and re.search(r"\b(?:skip|skipif|xfail)\b", text):
            return text.splitlines()[0]
        if re.fullmatch(r"__test__\s*=\s*False", text):
            return text
    return ""


def _function(source: Source, statement: Node, scope: _Scope) -> FoundTest:
    node = definition_of(statement)
    marks = [*scope.marks, *decorators(statement)]
    skips = [found for found in marks if _SKIPS.match(called(source, found))]
    tables = [found for found in marks if _PARAMETRIZE.match(called(source, found))]
    kept = [found for found in marks if found not in skips and found not in tables]
    body = child(node, "body")
    skipped = f"decorator {source.text(skips[0])}" if skips else _skips_first(source, body)
    is_async = [found for found in node.children if found.type == "async"]
    parts = [*kept, *is_async, *(found for found in (child(node, "parameters"), body) if found is not None)]
    return FoundTest(
        "::".join((*scope.names, field_text(source, node, "name"))),
        statement,
        tuple(parts),
        body,
        scope.around,
        scope.owner,
        tuple(case for table in tables for case in _cases(source, table)),
        skipped=skipped or scope.skipped,
    )


def _skips_first(source: Source, body: Node | None) -> str:
    text = next((source.text(found) for found in statements(body) if not _is_text(found)), "")
    if re.match(r"(?:(?:pytest|self)\.)?(?:skip|skipTest|xfail|importorskip)\(|raise\s+(?:\w+\.)*Skip", text):
        return text.splitlines()[0]
    return "returns at once" if re.match(r"return\b", text) else ""


def _is_text(statement: Node) -> bool:
    return statement.type == "expression_statement" and [c.type for c in statement.named_children] == ["string"]


def _cases(source: Source, table: Node) -> Iterator[Case]:
    """Yield the values of one parametrisation: single elements of a list, or the expression as a whole."""
    given = arguments(table)
    plain = [found for found in given if found.type != "keyword_argument"]
    named = {field_text(source, found, "name"): found for found in given if found.type == "keyword_argument"}
    is_expand = called(source, table).endswith("expand")
    position = 0 if is_expand else 1
    values = plain[position] if len(plain) > position else child(named.get("argvalues"), "value")
    names = [] if is_expand else plain[:1] or [found for name, found in named.items() if name == "argnames"]
    names += [found for name, found in named.items() if name in {"indirect", "scope"}]
    key = digest(source, *names)
    if values is None:
        return
    values = _constant(source, values) if values.type == "identifier" else values
    listed = list(statements(values)) if values.type in {"list", "tuple", "set"} else [values]
    yield from (Case(key, found) for found in listed)


def _constant(source: Source, name: Node) -> Node:
    """Return the list that a name of the module stands for, or the name."""
    for statement in statements(source.root):
        inner = statement.named_children[0] if statement.type == "expression_statement" else statement
        if inner.type == "assignment" and field_text(source, inner, "left") == source.text(name):
            value = child(inner, "right")
            return value if value is not None and value.type in {"list", "tuple"} else name
    return name
