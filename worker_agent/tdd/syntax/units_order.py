"""The tests of a file in the reverse order, so that a run shows which need the effects of another one (pure)."""

from __future__ import annotations

from itertools import pairwise

from tree_sitter import Node

from worker_agent.tdd.syntax.node_types import COMMENTS, words
from worker_agent.tdd.syntax.source import SCRIPTS, Language, parse, replaced
from worker_agent.tdd.syntax.units import found_in

_AROUND = words("decorated_definition expression_statement await_expression")
"""Nodes that hold a test and nothing else."""

_ORDERED = SCRIPTS | {Language.PYTHON, Language.GO, Language.PHP, Language.RUBY}
"""Languages whose runners take the tests in the order of the file."""

_SAYS_ORDER = (b"@depends", b"#[Depends", b"pytest.mark.order", b"pytest.mark.dependency", b"describe.serial")
"""Texts that declare tests to depend on each other."""


def reordered(path: str, content: bytes) -> bytes | None:
    """Return the same file with its tests in the reverse order, within each class or block.

    None if there is nothing to reorder, or the order of the file is not that of the run.
    """
    source = parse(path, content)
    if source is None or source.language not in _ORDERED or any(word in content for word in _SAYS_ORDER):
        return None
    groups: dict[int, dict[int, tuple[int, int]]] = {}
    for found in found_in(source):
        node = _whole(found.node)
        if node.parent is not None:
            groups.setdefault(node.parent.id, {})[node.id] = (_begin(node), node.end_byte)
    moves: list[tuple[int, int, bytes]] = []
    for group in groups.values():
        places = sorted(group.values())
        moves += [(*place, content[slice(*other)]) for place, other in zip(places, reversed(places), strict=True)]
    moves.sort()
    if len(moves) < 2 or any(one[1] > next_one[0] for one, next_one in pairwise(moves)):
        return None
    made = content
    for start, end, text in reversed(moves):
        made = replaced(made, start, end, text)
    return None if made == content else made


def _whole(node: Node) -> Node:
    """Return the node with its decorators, or as a statement."""
    while node.parent is not None and node.parent.type in _AROUND:
        node = node.parent
    return node


def _begin(node: Node) -> int:
    """Return the start of a test, with the comments directly above it."""
    first = node
    while (above := first.prev_sibling) is not None and above.type in COMMENTS:
        if int(above.end_point[0]) + 1 < int(first.start_point[0]):
            break
        first = above
    return first.start_byte
