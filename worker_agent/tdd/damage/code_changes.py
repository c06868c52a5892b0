"""The changes of each code file by meaning: the functions, statements and lines that differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from tree_sitter import Node

from worker_agent.tdd.syntax.functions import (
    Function,
    Statement,
    functions,
    is_declared_only,
    is_left_out,
    is_unread,
    statements,
)
from worker_agent.tdd.syntax.node_types import NODE_TYPES
from worker_agent.tdd.syntax.source import Source, line_of, parse

_DECLARATIONS = (".pyi", ".d.ts", ".d.mts", ".d.cts")
"""Ends of files that hold types only."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One changed file: its new or different parts. `source` is None if its language is not understood.

    `lines` are the lines of the head whose tokens differ, from 1, and `base_lines` those of the base; comments,
    documentation and types are no tokens.
    """

    path: str
    base: bytes | None
    head: bytes
    source: Source | None
    lines: frozenset[int] = frozenset()
    base_lines: frozenset[int] = frozenset()
    functions: tuple[Function, ...] = ()
    statements: tuple[Statement, ...] = ()


def changes(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[FileChange, ...]:
    """Return the files of `head` that differ from `base`, by path; a function moved between files is unchanged."""
    return _kept(frozenset(base.items()), frozenset(head.items()))


@lru_cache(maxsize=2)
def _kept(old: frozenset[tuple[str, bytes]], new: frozenset[tuple[str, bytes]]) -> tuple[FileChange, ...]:
    """Return the same, cached: a dozen rules of one proof ask for the same change one after the other."""
    base, head = dict(old), dict(new)
    moved = _moved(base, head)
    return tuple(_change(path, base.get(path), head[path], moved) for path in sorted(_changed(base, head)))


def tokens_by_line(source: Source) -> dict[int, str]:
    """Map each line to the tokens that begin there, joined; without comments, documentation and annotations."""
    kinds = NODE_TYPES[source.language]
    found: dict[int, list[str]] = {}
    pending = [source.root]
    while pending:
        node = pending.pop()
        if is_unread(source, node) or is_left_out(source, node):
            continue
        if node.child_count == 0 or node.type in kinds.strings:
            found.setdefault(line_of(node), []).append(source.text(node))
        else:
            pending.extend(reversed(node.children))
    return {line: " ".join(tokens) for line, tokens in found.items()}


def blocks(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """Return the ranges that differ, as (from, to) in `old` and (from, to) in `new`, from 0."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    matcher = SequenceMatcher(None, old[start : len(old) - end], new[start : len(new) - end], autojunk=False)
    return [
        (i1 + start, i2 + start, j1 + start, j2 + start)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def rows(node: Node) -> range:
    """Return the lines of a node, from 1."""
    return range(line_of(node), int(node.end_point[0]) + 2)


def _changed(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> list[str]:
    return [path for path, content in head.items() if base.get(path) != content and not path.endswith(_DECLARATIONS)]


def _moved(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> Counter[tuple[str, str]]:
    """Count the functions that left a file of the base unchanged: (last part of the name, text)."""
    gone: Counter[tuple[str, str]] = Counter()
    for path, content in base.items():
        if head.get(path) != content:
            gone.update(_fingerprints(parse(path, content)))
            gone.subtract(_fingerprints(parse(path, head.get(path, b""))))
    return gone


def _fingerprints(source: Source | None) -> list[tuple[str, str]]:
    return [(found.name.rpartition(".")[2], found.text) for found in functions(source)] if source else []


def _change(path: str, base: bytes | None, head: bytes, moved: Counter[tuple[str, str]]) -> FileChange:
    source = parse(path, head)
    if source is None:
        return FileChange(path, base, head, None)
    before = parse(path, base) if base is not None else None
    base_lines, lines = _changed_lines(before, source)
    changed = _other_functions(before, source)
    return FileChange(
        path,
        base,
        head,
        source,
        lines,
        base_lines,
        tuple(found for found in changed if not _has_moved(found, moved) and not is_declared_only(source, found.node)),
        _other_statements(before, source),
    )


def _has_moved(function: Function, moved: Counter[tuple[str, str]]) -> bool:
    return moved[(function.name.rpartition(".")[2], function.text)] > 0


def _changed_lines(before: Source | None, source: Source) -> tuple[frozenset[int], frozenset[int]]:
    new = sorted(tokens_by_line(source).items())
    old = sorted(tokens_by_line(before).items()) if before else []
    found = blocks([text for _, text in old], [text for _, text in new])
    return (
        frozenset(old[at][0] for start, end, _, _ in found for at in range(start, end)),
        frozenset(new[at][0] for _, _, start, end in found for at in range(start, end)),
    )


def _other_functions(before: Source | None, source: Source) -> Iterable[Function]:
    known = Counter((found.name, found.text) for found in functions(before)) if before else Counter[tuple[str, str]]()
    for found in functions(source):
        if known[(found.name, found.text)]:
            known[(found.name, found.text)] -= 1
        else:
            yield found


def _other_statements(before: Source | None, source: Source) -> tuple[Statement, ...]:
    known = Counter(found.text for found in statements(before)) if before else Counter[str]()
    other = []
    for found in statements(source):
        if known[found.text]:
            known[found.text] -= 1
        elif found.text:
            other.append(found)
    return tuple(other)
