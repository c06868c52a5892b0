"""The tests of one source file: their names as runners report them, their meaning, the code they reach, and checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tree_sitter import Node

from worker_agent.tdd.syntax import (
    units_classes,
    units_go,
    units_javascript,
    units_python,
    units_ruby,
    units_rust,
)
from worker_agent.tdd.syntax.source import SCRIPTS, Language, Source, line_of, walk
from worker_agent.tdd.syntax.units_checks import checks_in, is_check
from worker_agent.tdd.syntax.units_found import FoundTest, child, inside, statements
from worker_agent.tdd.syntax.units_meaning import digest, hashed
from worker_agent.tdd.syntax.units_reach import Definitions, definitions, reached, uses


@dataclass(frozen=True, slots=True)
class TestUnit:
    """One test function, method or block.

    `digest` is its meaning without cases and marks for skipping, `support` the meaning of all code that it reaches,
    `reaches` the same by name, `body` its meaning without decorators and the like around it. `expectations` and
    `statements` are digests of its own checks and of the statements of its body; a statement that is a check begins
    with `check`. `checks` counts those of its helpers as well. `dynamic` is a regular expression for names at run time.
    """

    __test__: ClassVar[bool] = False

    name: str
    start: int
    end: int
    line: int
    digest: str
    support: str
    cases: tuple[str, ...] = ()
    skipped: str = ""
    checks: int = 0
    dynamic: str = ""
    reaches: tuple[tuple[str, str], ...] = ()
    expectations: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    body: str = ""


_READERS: dict[Language, Callable[[Source], Iterator[FoundTest]]] = {
    Language.PYTHON: units_python.found_in,
    **dict.fromkeys(SCRIPTS, units_javascript.found_in),
    Language.GO: units_go.found_in,
    Language.RUST: units_rust.found_in,
    **dict.fromkeys((Language.JAVA, Language.PHP, Language.CSHARP), units_classes.found_in),
    Language.RUBY: units_ruby.found_in,
}


def found_in(source: Source) -> tuple[FoundTest, ...]:
    """Return the tests as nodes of the tree."""
    return tuple(_READERS[source.language](source))


def units_in(source: Source, elsewhere: Mapping[str, str] | None = None) -> tuple[TestUnit, ...]:
    """Return the tests in the order of the file.

    `elsewhere` has the meaning of names that other files define for this one: fixtures of `conftest.py`, helpers that
    it imports. A name that is defined in the file itself wins, an import does not.
    """
    every = found_in(source)
    return units_of(source, every, definitions(source, [found.node for found in every]), elsewhere or {})


def units_of(
    source: Source, every: Iterable[FoundTest], known: Definitions, elsewhere: Mapping[str, str]
) -> tuple[TestUnit, ...]:
    """Return `units_in` for a file whose tests and definitions are known."""
    return tuple(_unit(source, found, known, elsewhere) for found in every)


def unit_of(test_id_name: str, units: Iterable[TestUnit]) -> TestUnit | None:
    """Return the test of a name at run time, given without its file; the most exact one if several match."""
    listed = list(units)
    for name in _spellings(test_id_name):
        for unit in listed:
            if name in {unit.name, unit.name.replace("::", " ")} or unit.name == name.replace("::", " > "):
                return unit
        fitting = [unit for unit in listed if unit.dynamic and _fits(unit.dynamic, name)]
        if fitting:
            return max(fitting, key=lambda unit: len(unit.dynamic))
    return _find_by_ending(test_id_name, listed)


def _spellings(name: str) -> Iterator[str]:
    """Yield a name as reported, then without the parts that distinguish cases."""
    yield name
    for mark in ("[", " with data set ", "(", "/", " > "):
        position = name.rfind(mark) if mark == " > " else name.find(mark)
        if position > 0:
            yield name[:position].rstrip()
    if "::test_" in name:  # the blocks of minitest, of a described class too
        blocks = re.sub(r"::test_(?:\d{4}_)?|::", " ", name)
        yield blocks
        yield re.sub(r" (?=[#.])", "", blocks, count=1)  # a class and its member, which RSpec joins


def _fits(pattern: str, name: str) -> bool:
    return re.fullmatch(pattern, name, re.DOTALL) is not None or (
        "::" in name and re.fullmatch(pattern, name.replace("::", " > "), re.DOTALL) is not None
    )


def _find_by_ending(name: str, units: Sequence[TestUnit]) -> TestUnit | None:
    """Return a test whose name ends the reported one: Rust, Java and C# put the crate or package in front."""
    for spelled in (re.sub(r"[.$+\\]+", "::", spelling) for spelling in _spellings(name)):
        fitting = [unit for unit in units if spelled == unit.name or spelled.endswith(f"::{unit.name}")]
        if fitting:
            return max(fitting, key=lambda unit: len(unit.name))
    within = [unit for unit in units if unit.name.endswith(f" > {name}")]  # blocks of another runner are not told
    return within[0] if len(within) == 1 else None


def _unit(source: Source, found: FoundTest, known: Definitions, elsewhere: Mapping[str, str]) -> TestUnit:
    nodes = (*found.parts, *found.around, *(case.node for case in found.cases))
    reaches = reached({found.made_by, *(name for node in nodes for name in uses(source, node))}, known, elsewhere)
    around = [digest(source, node) for node in (*found.around, *found.beside)]
    checks = [check for part in found.parts for check in checks_in(source, part)]
    helpers = {definition.node.start_byte: definition.checks for name in reaches for definition in known.get(name, ())}
    return TestUnit(
        found.name,
        found.node.start_byte,
        found.node.end_byte,
        line_of(found.node),
        hashed(digest(source, *_pieces_without(part, found.tables)) for part in found.parts),
        hashed([*around, *(f"{name} {meaning}" for name, meaning in sorted(reaches.items()))]),
        tuple(f"{case.key} {digest(source, case.node)}" for case in found.cases),
        found.skipped,
        len(checks) + sum(helpers.values()),
        found.dynamic,
        tuple(sorted(reaches.items())),
        tuple(digest(source, check) for check in checks),
        tuple(_statement(source, statement) for statement in statements(found.body)),
        "" if found.body is None else digest(source, found.body),
    )


def bodies_in(source: Source) -> dict[str, tuple[int, ...]]:
    """Map the meaning of every body in a file, of tests or not, as `TestUnit.body` has it, to where it starts."""
    found: dict[str, tuple[int, ...]] = {}
    for node in walk(source.root):
        body = child(node, "body")
        if body is not None:
            meaning = digest(source, body)
            found[meaning] = (*found.get(meaning, ()), body.start_byte)
    return found


def _statement(source: Source, statement: Node) -> str:
    inner = statement.named_children[0] if len(statement.named_children) == 1 else statement
    is_plain = is_check(source, statement) or (statement.type == "expression_statement" and is_check(source, inner))
    return f"{'check ' if is_plain else ''}{digest(source, statement)}"


def _pieces_without(node: Node, tables: Sequence[Node]) -> list[Node]:
    """Return a node in pieces that leave out the `tables` within it."""
    if not any(inside(table, node) for table in tables):
        return [node]
    if node in tables:
        return []
    return [piece for found in node.children for piece in _pieces_without(found, tables)]
