"""The statements after a branch that ends its function: code that runs only if the branch is not taken."""

from __future__ import annotations

import re

from tree_sitter import Node

from worker_agent.tdd.damage.code_edits import named
from worker_agent.tdd.syntax.node_types import words

_BLOCKS = words("block statement_block compound_statement statement_list body_statement then")
_ENDS = re.compile(r"(?:return|continue)\b")
_REFUSES = re.compile(r"return\b.*(?:\bErr\b|\berr(?:or)?\b|\bNotImplemented\b)")
_DEFAULT = re.compile(
    r"(?:return\b\s*)?(?:None|null|nil|undefined|[Ff]alse|[Tt]rue|-?\d[\d._]*|'[^']*'|\"[^\"]*\"|\[\]|\{\}|\(\)|\w+::None)?\s*;?"
)


def rest_of(branch: Node, body: Node, text: str) -> list[Node]:
    """Return the statements after an `if` without `else` whose body (`text`: its last statement) ends the block.

    Empty if the branch refuses. Callers also leave out statements for which `is_default` holds.
    """
    if branch.child_by_field_name("alternative") is not None or not _ENDS.match(text) or _REFUSES.match(text):
        return []
    outer = branch.parent if branch.parent is not None and branch.parent.type == "expression_statement" else branch
    around = outer.parent
    if around is None or around.type not in _BLOCKS or body.id == branch.id:
        return []
    siblings = named(around)
    at = next((index for index, each in enumerate(siblings) if each.id == outer.id), len(siblings))
    return siblings[at + 1 :]


def is_default(statements: list[str]) -> bool:
    """Return whether statements only return a constant: tests often leave out that nothing was found."""
    return len(statements) == 1 and bool(_DEFAULT.fullmatch(statements[0].strip()))
