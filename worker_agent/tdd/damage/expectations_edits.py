"""Pieces of a damaged expectation: edits of a file, what can be done to a check, the words that are put in."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from tree_sitter import Node

from worker_agent.tdd.syntax.source import Source, replaced

_NUMBERS = 9000
"""Numbers are moved by 1000 up to 10000: farther than a tolerance reaches."""


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """The bytes from `start` to `end` become `by`; lines are neither added nor removed."""

    start: int
    end: int
    by: str


Edits = tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a test with its damages; each that is not empty turns the check red if it runs and passes today."""

    negate: Edits = ()
    literal: Edits = ()
    exception: Edits = ()


Group = tuple[Check, ...]
"""Checks of which exactly one runs, for example in the branches of a condition: they are damaged together."""


@dataclass
class Flow:
    """What a block checks: groups that surely run, and checks that may run."""

    sure: list[Group] = field(default_factory=list)
    maybe: list[Check] = field(default_factory=list)

    def demoted(self) -> list[Check]:
        """All its checks, as ones that may run."""
        return [check for group in self.sure for check in group] + self.maybe


def word(source: Source, node: Node) -> str:
    """A short word that nothing in a project holds; the same for the same place, so that runs can be repeated."""
    at = f"{source.path}:{node.start_byte}".encode()
    return "q" + hashlib.sha256(at + source.content[node.start_byte : node.end_byte]).hexdigest()[:7]


def moved(source: Source, node: Node) -> int:
    """How far to move the number in a node."""
    return 1000 + int(word(source, node)[1:], 16) % _NUMBERS


def over(node: Node, text: str) -> Edit:
    """Another text in place of a node; line ends follow where it spanned lines, as within an argument they may."""
    lines = node.end_point[0] - node.start_point[0] - text.count("\n")
    return Edit(node.start_byte, node.end_byte, text + "\n" * lines)


def before(node: Node, text: str) -> Edit:
    """A text put in front of a node."""
    return Edit(node.start_byte, node.start_byte, text)


def after(node: Node, text: str) -> Edit:
    """A text put behind a node."""
    return Edit(node.end_byte, node.end_byte, text)


def around(node: Node, left: str, right: str) -> Edits:
    """A node between two texts."""
    return (before(node, left), after(node, right))


def fits(edits: Iterable[Edit], others: Collection[Edit]) -> bool:
    """Whether edits can be made beside others: none changes what another does, unless they are the same."""
    return not any(_collide(edit, other) for edit in edits for other in others if edit != other)


def _collide(one: Edit, two: Edit) -> bool:
    return (one.start < two.end and two.start < one.end) or (one.start, one.end) == (two.start, two.end)


def edited(content: bytes, edits: Iterable[Edit]) -> bytes:
    """The file with all edits made."""
    for edit in sorted(set(edits), reverse=True):
        content = replaced(content, edit.start, edit.end, edit.by.encode())
    return content
