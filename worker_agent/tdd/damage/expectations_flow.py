"""The checks of a passing test that surely run, and those that may: damage must always turn an honest test red."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tree_sitter import Node

from worker_agent.tdd.damage.expectations_edits import Check, Flow, Group
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import Source, walk
from worker_agent.tdd.syntax.units_found import FoundTest, child, field_text, statements

_HELPER_DEPTH = 4
"""The most calls deep that helpers of the same file are followed."""

_ELSES = frozenset(["else_clause", "else", "elif_clause", "elsif", "else_if_clause"])


@dataclass(frozen=True, slots=True)
class Shapes:
    """The types of nodes of a language that decide which statements run."""

    loops: frozenset[str]
    functions: frozenset[str]
    plain: frozenset[str]
    """Statements all of whose inner statements run: blocks, `with`, labels."""
    conditions: frozenset[str] = words("if_statement")
    tries: frozenset[str] = words("try_statement")
    leaves: frozenset[str] = words("return_statement break_statement continue_statement")


@dataclass(frozen=True)
class Reader(ABC):
    """One language's knowledge of checks, for one file; `functions` are the bodies of its helpers by name."""

    shapes: ClassVar[Shapes]
    source: Source
    functions: Mapping[str, Node]

    @abstractmethod
    def check(self, statement: Node) -> Check | None:
        """Return the check of a statement, if it is one."""

    @abstractmethod
    def helper(self, statement: Node) -> Node | None:
        """Return the body of the helper of the same file that a statement calls."""

    @abstractmethod
    def callbacks(self, statement: Node) -> Iterable[tuple[Node, bool]]:
        """Yield the bodies of functions that a statement passes on, each with True if it surely runs."""

    @abstractmethod
    def skips(self, block: Node) -> bool:
        """Return whether a block ends the test as skipped or failed, so that nothing in it counts."""

    @abstractmethod
    def shelters(self, statement: Node) -> bool:
        """Return whether failures within a statement are caught or expected, so that nothing there may be damaged."""

    def loops_surely(self, loop: Node) -> bool:
        """Return whether a loop runs at least once; False for languages whose loops are calls."""
        return False

    def handled(self, attempt: Node) -> Flow:
        """Return the checks of a `try` with its handlers; none for languages without it."""
        return Flow()

    def ended_by(self, test: FoundTest) -> Flow | None:
        """Return the exception that must end a test, as its only check; None for a test that runs to its end.

        Nothing else in such a test is damaged, as any failure might be that exception.
        """
        return None


def flow(reader: Reader, block: Node, entered: frozenset[int] = frozenset()) -> Flow:
    """Return the checks of a function's body or another block, in order."""
    return _run(reader, list(statements(block)) if _is_block(reader, block) else [block], entered)


def _is_block(reader: Reader, node: Node) -> bool:
    return node.type in reader.shapes.plain or node.type in {"block", "statement_block", "body_statement"}


def _run(reader: Reader, listed: Sequence[Node], entered: frozenset[int]) -> Flow:
    found = Flow()
    for position, statement in enumerate(listed):
        if (check := reader.check(statement)) is not None:
            found.sure.append((check,))
            if statement.type in reader.shapes.leaves:
                return found
            continue
        if statement.type in reader.shapes.conditions and _may_leave(reader, statement):
            branches, has_else = _branches_of(reader, statement)
            rest = _run(reader, listed[position + 1 :], entered)
            _choose(reader, found, branches, None if has_else else rest, entered)
            if has_else:
                found.maybe += rest.demoted()
            return found
        found.add(_statement(reader, statement, entered))
        if statement.type in reader.shapes.leaves:
            return found
        if _may_leave(reader, statement) and statement.type not in reader.shapes.functions:
            found.maybe += _run(reader, listed[position + 1 :], entered).demoted()
            return found
    return found


def _statement(reader: Reader, statement: Node, entered: frozenset[int]) -> Flow:
    """Return the checks within a statement that is no check itself."""
    shapes = reader.shapes
    if reader.shelters(statement):
        return Flow()
    if statement.type in shapes.conditions:
        found = Flow()
        branches, has_else = _branches_of(reader, statement)
        _choose(reader, found, branches, Flow() if not has_else else None, entered)
        return found
    if statement.type in shapes.loops:
        inner = flow(reader, child(statement, "body") or statement, entered)
        return inner if reader.loops_surely(statement) else Flow([], inner.demoted())
    if statement.type in shapes.tries:
        return reader.handled(statement)
    if statement.type in shapes.functions:
        body = child(statement, "body")
        return Flow([], flow(reader, body, entered).demoted()) if body is not None else Flow()
    if statement.type in shapes.plain:
        return _run(reader, list(statements(statement)), entered)
    return _called_checks(reader, statement, entered)


def _called_checks(reader: Reader, statement: Node, entered: frozenset[int]) -> Flow:
    """Return the checks of the functions that a statement calls or passes on."""
    found = Flow()
    helper = reader.helper(statement)
    if helper is not None and helper.start_byte not in entered and len(entered) < _HELPER_DEPTH:
        found.add(flow(reader, helper, entered | {helper.start_byte}))
    for body, is_sure in reader.callbacks(statement):
        inner = flow(reader, body, entered)
        found.add(inner if is_sure else Flow([], inner.demoted()))
    return found


def _choose(reader: Reader, found: Flow, branches: list[Node], rest: Flow | None, entered: frozenset[int]) -> None:
    """Add the checks of branches of which one runs; `rest` holds the checks that run if none of them does."""
    flows = [flow(reader, branch, entered) for branch in branches if not reader.skips(branch)]
    flows += [rest] if rest is not None else []
    if flows and all(each.sure for each in flows):
        firsts: Group = tuple(check for each in flows for check in each.sure[0])
        lasts: Group = tuple(check for each in flows for check in each.sure[-1])
        found.sure += [firsts] if firsts == lasts else [firsts, lasts]
    else:
        found.maybe += [check for each in flows for check in each.demoted()]


def _branches_of(reader: Reader, condition: Node) -> tuple[list[Node], bool]:
    """Return the branches of a condition, and True if there is one for everything else."""
    first = child(condition, "consequence") or child(condition, "body")
    found = [first] if first is not None else []
    has_else = False
    for alternative in condition.children_by_field_name("alternative"):
        inner = alternative
        if inner.type == "else_clause" and len(list(statements(inner))) == 1:
            inner = next(statements(inner))
        if inner.type in reader.shapes.conditions or child(inner, "consequence") is not None:
            more, has_else = _branches_of(reader, inner)
            found += more
        else:
            found.append(child(inner, "body") or inner)
            has_else = has_else or inner.type not in _ELSES or child(inner, "condition") is None
    return found, has_else


def _may_leave(reader: Reader, statement: Node) -> bool:
    """Return whether a statement may end the block around it; nested functions cannot."""
    pending = [(statement, False)]
    while pending:
        found, is_looped = pending.pop()
        if found.type in reader.shapes.functions:
            continue
        if found.type in reader.shapes.leaves and not (is_looped and not found.type.startswith("return")):
            return True
        is_looped = is_looped or found.type in reader.shapes.loops
        pending.extend((inner, is_looped) for inner in found.named_children)
    return False


def bodies_by_name(source: Source, kind: str, tests: frozenset[int]) -> dict[str, Node]:
    """Map the names of functions (nodes of the type `kind`) to their bodies, except of those that start at `tests`."""
    found = (node for node in walk(source.root) if node.type == kind and node.start_byte not in tests)
    return {field_text(source, node, "name"): body for node in found if (body := child(node, "body"))}
