"""The new branches of changed functions, each with code that raises at its beginning: a test that takes one fails.

Branches that only refuse are left out (they raise, return an error or say "not mine"), and those that depend on the
machine: real changes leave such branches untested all the time.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from worker_agent.tdd.damage.code_bodies import RAISING
from worker_agent.tdd.damage.code_changes import FileChange, rows
from worker_agent.tdd.damage.code_edits import (
    BLOCKS,
    IFS,
    FunctionScope,
    block_statements,
    body_of,
    named,
    python_separator,
    shown,
    with_edits,
    without_lists,
)
from worker_agent.tdd.syntax.node_types import words
from worker_agent.tdd.syntax.source import SCRIPTS, Language, line_of, parse

_PARTS = words("else_clause elif_clause else_if_clause except_clause catch_clause case_clause")
"""Parts of a statement whose block is one branch."""
_CASES = words(
    "switch_case switch_default expression_case default_case type_case switch_block_statement_group case_statement"
    " default_statement"
)
"""Cases whose statements are siblings of their value."""
_CHOICES = words("conditional_expression ternary_expression conditional")
"""Expressions whose value is one of two arms."""
_RAISING_VALUES = {
    Language.PYTHON: "(_ for _ in ()).throw(RuntimeError('damaged'))",
    **dict.fromkeys(SCRIPTS, '(() => { throw new Error("damaged"); })()'),
    Language.PHP: '(throw new \\RuntimeException("damaged"))',
    Language.RUBY: '(raise "damaged")',
}
_TRIES = words("try_statement begin")
_REFUSES = re.compile(
    r"(raise|throw|panic ?!?|unreachable ?!"
    r"|return (NotImplemented|Err\b|.*\berr(or)?\b(?!\s*=)|.*\b(fmt\.Errorf|errors\.))"
    r"|fail\b|abort\b|assert\b|\(?raise\b|Err\b)",
    re.IGNORECASE,
)
_OF_MACHINE = re.compile(
    r"sys\.version|(?:PHP|RUBY|PY|PYTHON|NODE)_VERSION|process\.version|\bplatform\b|TYPE_CHECKING|os\.name"
    r"|\b(?:debug|verbose)\b|\bPY\d|_PYPY|ImportError|ModuleNotFound|KeyboardInterrupt|__name__"
    r"|typeof (?:window|process|self|globalThis)"
)
"""Conditions that hold on another machine, or in another run, than the tests'."""

_OUTER_BLOCKS = BLOCKS | words("statement_list body_statement then")
_ENDS = re.compile(r"(?:return|continue)\b")
_REFUSES_BY_VALUE = re.compile(r"return\b.*(?:\bErr\b|\berr(?:or)?\b|\bNotImplemented\b)")
_DEFAULT = re.compile(
    r"(?:return\b\s*)?(?:None|null|nil|undefined|[Ff]alse|[Tt]rue|-?\d[\d._]*|'[^']*'|\"[^\"]*\"|\[\]|\{\}|\(\)|\w+::None)?\s*;?"
)
"""A statement that only returns a constant: tests often leave out that nothing was found."""

UNTAKEN = "{}:{}: no test of the change takes the branch `{}`"


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of a new or changed function: its place, its condition, and the edit that raises."""

    path: str
    function: str
    line: int
    rows: range
    condition: str
    edit: tuple[int, int, str] = field(repr=False)

    @property
    def sentence(self) -> str:
        """The sentence for people."""
        return UNTAKEN.format(self.path, self.line, self.condition)


def branches(change: FileChange) -> tuple[Branch, ...]:
    """Return the branches whose lines are all new, in the order of the file, the outer one of two first."""
    found: dict[tuple[int, int], Branch] = {}
    for place in change.scopes:
        for node in place.nodes:
            for branch in (*_branches(place, node), *_arms(place, node), *_rests(place, node)):
                start, end, _ = branch.edit
                found.setdefault((start, -end), branch)
    return tuple(branch for _, branch in sorted(found.items()))


def raising(change: FileChange, chosen: Collection[Branch]) -> bytes | None:
    """Return the file in which these branches raise; None if it would not parse.

    A branch inside of one that is replaced as a whole does not raise itself: nothing comes to it any more.
    """
    content = with_edits(change.head, _outer(branch.edit for branch in chosen))
    return content if chosen and parse(change.path, content) is not None else None


def _outer(edits: Iterable[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Yield the edits except those inside the bytes that another one replaces; what is put before them stays."""
    covered = -1
    for start, end, by in sorted(edits, key=lambda edit: (edit[0], edit[1] > edit[0], -edit[1])):
        if start >= covered:
            yield start, end, by
            covered = end


def _branches(place: FunctionScope, node: Node) -> Iterator[Branch]:
    for head, body in _bodies(place, node):
        if branch := _branch(place, head, _condition(place, head, body), body, _statements(head, body)):
            yield branch


def _rests(place: FunctionScope, node: Node) -> Iterator[Branch]:
    """Yield the code after a new branch that ends its function, as a branch of its own."""
    for head, body in _bodies(place, node) if node.type in IFS and line_of(node) in place.lines else ():
        inside = _statements(head, body)
        rest = _rest_of(node, body, place.text(inside[-1]).strip()) if inside else []
        is_default = len(rest) == 1 and _DEFAULT.fullmatch(place.text(rest[0]).strip()) is not None
        around = rest[0].parent if rest and not is_default else None
        condition = f"past {_condition(place, head, body)}"
        if around is not None and (branch := _branch(place, head, condition, around, rest)):
            yield branch


def _rest_of(branch: Node, body: Node, text: str) -> list[Node]:
    """Return the statements after an `if` without `else` whose body (`text`: its last statement) ends the block.

    They run only if the branch is not taken. Empty if the branch refuses.
    """
    if branch.child_by_field_name("alternative") is not None or not _ENDS.match(text) or _REFUSES_BY_VALUE.match(text):
        return []
    outer = branch.parent if branch.parent is not None and branch.parent.type == "expression_statement" else branch
    around = outer.parent
    if around is None or around.type not in _OUTER_BLOCKS or body.id == branch.id:
        return []
    siblings = named(around)
    position = next((index for index, each in enumerate(siblings) if each.id == outer.id), len(siblings))
    return siblings[position + 1 :]


def _arms(place: FunctionScope, node: Node) -> Iterator[Branch]:
    """Yield both arms of a conditional expression."""
    by = _RAISING_VALUES.get(place.language)
    if by is None or node.type not in _CHOICES or line_of(node) not in place.lines or _is_tried(node, place.node):
        return
    parts = named(node)
    if len(parts) != 3 or _OF_MACHINE.search(place.text(node)):
        return
    first, condition, other = parts if place.language is Language.PYTHON else (parts[1], parts[0], parts[2])
    told, name = shown(place.text(condition), 50), place.function.name
    for arm, when in ((first, told), (other, f"else of {told}")):
        yield Branch(place.source.path, name, line_of(arm), rows(arm), when, (arm.start_byte, arm.end_byte, by))


def _bodies(place: FunctionScope, node: Node) -> Iterator[tuple[Node, Node]]:
    """Yield the node with the condition of a branch, and the node with its statements."""
    if place.language is Language.RUBY:
        yield from _ruby_bodies(node)
    elif node.type in ("if_statement", "if_expression"):
        other = node.child_by_field_name("alternative")
        bodies = (body_of(node), other if other is not None and other.type in BLOCKS else None)
        yield from ((node, body) for body in bodies if body is not None)
    elif node.type in _PARTS:
        body = body_of(node) or next(reversed(named(node)), None)
        if body is not None and body.type not in ("if_statement", "if_expression"):
            yield node, body
    elif node.type in _CASES:
        yield node, node
    elif node.type == "match_arm" and node.child_by_field_name("value") is not None:
        yield node, node.children_by_field_name("value")[0]


def _ruby_bodies(node: Node) -> Iterator[tuple[Node, Node]]:
    if node.type in ("if", "unless", "elsif", "when", "if_modifier", "unless_modifier"):
        body = body_of(node)
        if body is not None:
            yield node, body
    elif node.type in ("else", "rescue"):
        yield node, node


def _branch(place: FunctionScope, head: Node, condition: str, body: Node, statements: list[Node]) -> Branch | None:
    """Return the branch of the `statements` in a `body`, or None; `head` is the node with the condition."""
    if not statements or line_of(statements[0]) not in place.lines:  # an unchanged first statement: it existed before
        return None
    last = place.text(statements[-1])
    if _OF_MACHINE.search(condition) or _REFUSES.match(last.strip()) or _is_tried(statements[0], place.node):
        return None
    edit = _edit(place, body, statements)
    within = range(line_of(statements[0]), rows(statements[-1]).stop)
    return Branch(place.source.path, place.function.name, line_of(head), within, shown(condition, 60), edit)


def _statements(head: Node, body: Node) -> list[Node]:
    """Return the statements of a branch; for a case, without its value or its types."""
    if body.id != head.id:
        return block_statements(body)
    values = {each.id for field_name in ("value", "type") for each in head.children_by_field_name(field_name)}
    inner = [each for each in named(head) if each.id not in values]
    if head.type == "rescue":
        inner = [each for part in inner if part.type == "then" for each in named(part)]
    skip = words("switch_label case_switch_label default_switch_label exceptions exception_variable expression_list")
    return without_lists(part for part in inner if part.type not in skip)


def _is_tried(node: Node, until: Node) -> bool:
    """Return whether code around a branch may catch its exception."""
    inner = node
    while inner.parent is not None and inner.id != until.id:
        above = inner.parent
        body = above.child_by_field_name("body")
        if above.type in _TRIES and body is not None and body.id == inner.id:
            return True
        rescued = above.type == "body_statement" and any(each.type == "rescue" for each in above.named_children)
        if rescued and inner.type != "rescue":
            return True
        inner = above
    return False


def _condition(place: FunctionScope, head: Node, body: Node) -> str:
    """Return the line with the condition of a branch."""
    content = place.source.content
    first = head.child_by_field_name("consequence")
    if first is not None and first.end_byte < body.start_byte:
        return f"else of {_condition(place, head, first)}"
    end = body.start_byte if body.id != head.id and body.start_byte > head.start_byte else head.end_byte
    if head.type in ("if_modifier", "unless_modifier"):
        return place.text(head)
    text = content[head.start_byte : end].decode("utf-8", "replace").strip().rstrip("{:").strip()
    return next(iter(text.splitlines()), head.type) or head.type


def _edit(place: FunctionScope, body: Node, statements: list[Node]) -> tuple[int, int, str]:
    """Return the bytes to replace, and the replacement, so that the branch raises before anything else."""
    first = statements[0]
    statement = RAISING[place.language]
    if body.type in ("if_modifier", "unless_modifier") or (
        place.language is Language.RUBY and body.parent is not None and body.parent.type.endswith("_modifier")
    ):
        return body.start_byte, body.end_byte, '(raise "damaged")'
    if place.language is Language.PYTHON:
        return first.start_byte, first.start_byte, f"{statement}{python_separator(place.source, first)}"
    if place.language is Language.RUST and body.type not in BLOCKS:
        return body.start_byte, body.end_byte, f"{{ {statement} }}"
    if body.id == first.id and body.type not in BLOCKS:
        return body.start_byte, body.end_byte, f"{{ {statement} {place.text(body)} }}"
    return first.start_byte, first.start_byte, f"{statement} "
