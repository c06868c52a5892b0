"""Parts of a damaged expectation: edits of a file, the damages of a check, the texts that are inserted."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

from worker_agent.tdd.syntax.source import Source, replaced

_NUMBERS = 9000
"""Numbers are moved by 1000 up to 10000: farther than a tolerance reaches."""


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """One replacement: the bytes from `start` to `end` become `by`; lines are neither added nor removed."""

    start: int
    end: int
    by: str


Edits = tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a test with its damages; each non-empty one makes the check fail if it runs and passes now."""

    negate: Edits = ()
    literal: Edits = ()
    exception: Edits = ()


Group = tuple[Check, ...]
"""Checks of which exactly one runs, for example in the branches of a condition: they are damaged together."""


@dataclass
class Flow:
    """The checks of a block: groups that surely run, and checks that may run."""

    sure: list[Group] = field(default_factory=list)
    maybe: list[Check] = field(default_factory=list)

    def demoted(self) -> list[Check]:
        """Return all its checks, as ones that may run."""
        return [check for group in self.sure for check in group] + self.maybe

    def add(self, more: Flow) -> None:
        """Append the checks of the next block."""
        self.sure += more.sure
        self.maybe += more.maybe


def both_ways(pairs: Mapping[str, str]) -> dict[str, str]:
    """Return the pairs in both directions: the opposite of each word."""
    return {**pairs, **{opposite: name for name, opposite in pairs.items()}}


def first_of(choices: Iterable[Edits]) -> Edits:
    """Return the first edits that are not empty; empty if all are."""
    return next(filter(None, choices), ())


def word(source: Source, node: Node) -> str:
    """Return a short word that no project contains; the same for the same place, so that runs can be repeated."""
    at = f"{source.path}:{node.start_byte}".encode()
    return "q" + hashlib.sha256(at + source.content[node.start_byte : node.end_byte]).hexdigest()[:7]


def moved(source: Source, node: Node) -> int:
    """Return the distance by which to move the number in a node."""
    return 1000 + int(word(source, node)[1:], 16) % _NUMBERS


def over(node: Node, text: str) -> Edit:
    """Return the edit that replaces a node; line ends follow if it spanned lines, as within an argument they may."""
    lines = node.end_point[0] - node.start_point[0] - text.count("\n")
    return Edit(node.start_byte, node.end_byte, text + "\n" * lines)


def before(node: Node, text: str) -> Edit:
    """Return the edit that puts a text before a node."""
    return Edit(node.start_byte, node.start_byte, text)


def after(node: Node, text: str) -> Edit:
    """Return the edit that puts a text after a node."""
    return Edit(node.end_byte, node.end_byte, text)


def around(node: Node, left: str, right: str) -> Edits:
    """Return the edits that put a node between two texts."""
    return (before(node, left), after(node, right))


def fits(edits: Iterable[Edit], others: Collection[Edit]) -> bool:
    """Return whether edits can be combined with others: they do not overlap, or they are the same."""
    return not any(_collide(edit, other) for edit in edits for other in others if edit != other)


def _collide(edit: Edit, other: Edit) -> bool:
    overlap = edit.start < other.end and other.start < edit.end
    return overlap or (edit.start, edit.end) == (other.start, other.end)


def edited(content: bytes, edits: Iterable[Edit]) -> bytes:
    """Return the file with all edits made."""
    for edit in sorted(set(edits), reverse=True):
        content = replaced(content, edit.start, edit.end, edit.by.encode())
    return content
