"""One source file as a syntax tree, in any language; grammars are loaded when one of their files is read."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import PurePosixPath

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Tree

SIZE_LIMIT = 2 * 2**20
"""The most bytes of a source file that is parsed; larger ones are generated or data."""


class Language(StrEnum):
    """The languages whose trees are understood."""

    PYTHON = "Python"
    JAVASCRIPT = "JavaScript"
    TYPESCRIPT = "TypeScript"
    TSX = "TSX"
    GO = "Go"
    RUST = "Rust"
    JAVA = "Java"
    PHP = "PHP"
    RUBY = "Ruby"
    CSHARP = "C#"


SCRIPTS = frozenset({Language.JAVASCRIPT, Language.TYPESCRIPT, Language.TSX})

_SUFFIXES = {
    ".py": Language.PYTHON,
    ".pyi": Language.PYTHON,
    ".js": Language.JAVASCRIPT,
    ".mjs": Language.JAVASCRIPT,
    ".cjs": Language.JAVASCRIPT,
    ".jsx": Language.JAVASCRIPT,
    ".ts": Language.TYPESCRIPT,
    ".mts": Language.TYPESCRIPT,
    ".cts": Language.TYPESCRIPT,
    ".tsx": Language.TSX,
    ".go": Language.GO,
    ".rs": Language.RUST,
    ".java": Language.JAVA,
    ".php": Language.PHP,
    ".rb": Language.RUBY,
    ".cs": Language.CSHARP,
}

_GRAMMARS = {
    Language.PYTHON: ("tree_sitter_python", "language"),
    Language.JAVASCRIPT: ("tree_sitter_javascript", "language"),
    Language.TYPESCRIPT: ("tree_sitter_typescript", "language_typescript"),
    Language.TSX: ("tree_sitter_typescript", "language_tsx"),
    Language.GO: ("tree_sitter_go", "language"),
    Language.RUST: ("tree_sitter_rust", "language"),
    Language.JAVA: ("tree_sitter_java", "language"),
    Language.PHP: ("tree_sitter_php", "language_php"),
    Language.RUBY: ("tree_sitter_ruby", "language"),
    Language.CSHARP: ("tree_sitter_c_sharp", "language"),
}
"""Module and function of each grammar; the modules are separate packages, so that none is fetched at run time."""


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed file: `path` relative to the repository, its bytes, and the tree over them."""

    path: str
    language: Language
    content: bytes
    tree: Tree

    @property
    def root(self) -> Node:
        """The node of the whole file."""
        return self.tree.root_node

    def text(self, node: Node) -> str:
        """Return the source text of a node."""
        return self.content[node.start_byte : node.end_byte].decode("utf-8", "replace")


def language_of(path: str) -> Language | None:
    """Return the language of a file, by its name; None for one that is not understood."""
    return _SUFFIXES.get(PurePosixPath(path).suffix.lower())


def parse(path: str, content: bytes) -> Source | None:
    """Return the file as a tree; None for another language, a file above `SIZE_LIMIT`, or one with syntax errors."""
    language = language_of(path)
    if language is None or len(content) > SIZE_LIMIT:
        return None
    tree = _PARSERS.of(language).parse(content)
    return None if tree.root_node.has_error else Source(path, language, content, tree)


def edited(source: Source, start: int, end: int, by: bytes) -> Source | None:
    """Return the file with the bytes from `start` to `end` replaced; None if it then has syntax errors.

    Only the edited part is parsed again, which is far quicker than `parse` for large files.
    """
    content = replaced(source.content, start, end, by)
    tree = source.tree.copy()
    tree.edit(
        start,
        end,
        start + len(by),
        _point(source.content, start),
        _point(source.content, end),
        _point(content, start + len(by)),
    )
    again = _PARSERS.of(source.language).parse(content, tree)
    return None if again.root_node.has_error else Source(source.path, source.language, content, again)


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and everything below it, in the order of the text; never recursive, so any depth is fine."""
    pending = [node]
    while pending:
        found = pending.pop()
        yield found
        pending.extend(reversed(found.children))


def outermost(node: Node, is_wanted: Callable[[Node], bool]) -> Iterator[Node]:
    """Yield the wanted ones of a node and everything below it, without those within another wanted one."""
    pending = [node]
    while pending:
        found = pending.pop()
        if is_wanted(found):
            yield found
        else:
            pending.extend(reversed(found.children))


def enclosing(node: Node, types: Collection[str]) -> Node | None:
    """Return the nearest node of one of these types around a node; None if there is none."""
    above = node.parent
    while above is not None and above.type not in types:
        above = above.parent
    return above


def line_of(node: Node) -> int:
    """Return the line where a node begins, from 1."""
    return int(node.start_point[0]) + 1


def replaced(content: bytes, start: int, end: int, by: bytes) -> bytes:
    """Return the bytes of a file with the range from `start` to `end` replaced."""
    return content[:start] + by + content[end:]


def _point(content: bytes, at: int) -> tuple[int, int]:
    """Return the row and column of a byte, both from 0."""
    return content.count(b"\n", 0, at), at - content.rfind(b"\n", 0, at) - 1


class _Parsers(threading.local):
    """A thread's own parsers, which end with it: large changes are read beside the event loop."""

    def __init__(self) -> None:
        self._of: dict[Language, Parser] = {}

    def of(self, language: Language) -> Parser:
        """Return the parser of a language."""
        if language not in self._of:
            self._of[language] = Parser(grammar(language))
        return self._of[language]


_PARSERS = _Parsers()


@cache
def grammar(language: Language) -> Grammar:
    """Return the grammar of a language, loaded once."""
    module, function = _GRAMMARS[language]
    return Grammar(getattr(importlib.import_module(module), function)())
