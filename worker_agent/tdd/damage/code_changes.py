"""The changes of each code file by meaning: the functions, statements and lines that differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TypeVar

from tree_sitter import Node

from worker_agent.tdd.damage.code_edits import FunctionScope
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

T = TypeVar("T")

_DECLARATIONS = (".pyi", ".d.ts", ".d.mts", ".d.cts")
"""Ends of files that hold types only."""

_NAMED = re.compile(r"[^=\n({]*?([A-Za-z_]\w*)\s*(?::\s*[\w.\[\], |&<>']+)?\s*:?=(?![=>~])")
_OWN_PLACE = re.compile(r"__file__|__dirname|__DIR__|__FILE__|import\.meta\.\w+")


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

    @property
    def scopes(self) -> tuple[FunctionScope, ...]:
        """The changed functions as places for edits."""
        if self.source is None:
            return ()
        return tuple(FunctionScope(self.source, each.node, each.nested, self.lines, each) for each in self.functions)

    @property
    def new_scopes(self) -> tuple[FunctionScope, ...]:
        """The new functions: those whose name this file of the base does not have."""
        old = {function.name for function in functions_of(self.path, self.base)}
        return tuple(scope for scope in self.scopes if scope.function.name not in old)

    @property
    def text(self) -> str:
        """The whole file."""
        return self.head.decode("utf-8", "replace")

    @property
    def changed_text(self) -> str:
        """The changed lines, without those that hold only comments and documentation."""
        lines = enumerate(self.text.splitlines(), 1)
        return "\n".join(line for number, line in lines if number in self.lines)


def changes(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[FileChange, ...]:
    """Return the files of `head` that differ from `base`, by path; a function moved between files is unchanged."""
    return _compare_cached(frozenset(base.items()), frozenset(head.items()))


@lru_cache(maxsize=2)
def _compare_cached(old: frozenset[tuple[str, bytes]], new: frozenset[tuple[str, bytes]]) -> tuple[FileChange, ...]:
    """Return the same, cached: a dozen rules of one proof ask for the same change one after the other."""
    base, head = dict(old), dict(new)
    moved = _count_moved(base, head)
    changed = (path for path, content in head.items() if base.get(path) != content and not path.endswith(_DECLARATIONS))
    return tuple(_change(path, base.get(path), head[path], moved) for path in sorted(changed))


def joined(files: Mapping[str, bytes]) -> str:
    """Return the texts of all files, one after the other."""
    return "\n".join(content.decode("utf-8", "replace") for content in files.values())


def read_nodes(change: FileChange, place: FunctionScope) -> tuple[Node, ...]:
    """Return a function, and the new statements outside of functions that assign a name in it."""
    words = set(re.findall(r"\w+", place.text(place.node)))
    given = [(_NAMED.match(place.text(each.node)), each.node) for each in change.statements]
    return (place.node, *(node for found, node in given if found is not None and found[1] in words))


def read_by(change: FileChange, place: FunctionScope) -> str:
    """Return the text of these nodes.

    Outside of the function, the place of the code file itself is no environment: programs find their own files that
    way.
    """
    code, *given = map(place.text, read_nodes(change, place))
    return "\n".join([code, *(_OWN_PLACE.sub("", text) for text in given)])


def _tokens_by_line(source: Source) -> dict[int, str]:
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


def _count_moved(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> Counter[tuple[str, str]]:
    """Count the functions that left a file of the base unchanged: (last part of the name, text)."""
    gone: Counter[tuple[str, str]] = Counter()
    for path, content in base.items():
        if head.get(path) != content:
            gone.update(map(_fingerprint, functions_of(path, content)))
            gone.subtract(map(_fingerprint, functions_of(path, head.get(path))))
    return gone


def _fingerprint(function: Function) -> tuple[str, str]:
    return function.name.rpartition(".")[2], function.text


def functions_of(path: str, content: bytes | None) -> tuple[Function, ...]:
    """Return the functions of a file; none if it is not there, or cannot be read."""
    source = parse(path, content) if content is not None else None
    return functions(source) if source is not None else ()


def _change(path: str, base: bytes | None, head: bytes, moved: Counter[tuple[str, str]]) -> FileChange:
    source = parse(path, head)
    if source is None:
        return FileChange(path, base, head, None)
    before = parse(path, base) if base is not None else None
    base_lines, lines = _changed_lines(before, source)
    old_functions, old_statements = (functions(before), statements(before)) if before is not None else ((), ())
    other_functions = tuple(
        found
        for found in _added(old_functions, functions(source), lambda each: (each.name, each.text))
        if moved[_fingerprint(found)] <= 0 and not is_declared_only(source, found.node)
    )
    other = _added(old_statements, statements(source), lambda each: each.text)
    other_statements = tuple(found for found in other if found.text)
    return FileChange(path, base, head, source, lines, base_lines, other_functions, other_statements)


def _changed_lines(before: Source | None, source: Source) -> tuple[frozenset[int], frozenset[int]]:
    new = sorted(_tokens_by_line(source).items())
    old = sorted(_tokens_by_line(before).items()) if before else []
    found = blocks([text for _, text in old], [text for _, text in new])
    return (
        frozenset(old[at][0] for start, end, _, _ in found for at in range(start, end)),
        frozenset(new[at][0] for _, _, start, end in found for at in range(start, end)),
    )


def _added(before: Iterable[T], now: Iterable[T], meaning: Callable[[T], Hashable]) -> Iterator[T]:
    """Yield the parts of a file that the base's file has not, or not as often."""
    unchanged = Counter(map(meaning, before))
    for part in now:
        if unchanged[meaning(part)]:
            unchanged[meaning(part)] -= 1
        else:
            yield part
