"""A YAML document as plain values with the place of each: what `config.loading` validates.

YAML 1.2's core words: only `true`/`false` are booleans, so that `refactor: off` stays a word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from config.rules import KeyPath, dotted
from shared.errors import Misconfigured

MAX_BYTES = 262_144
"""A configuration larger than this is refused unread."""

MAX_NODES = 20_000
"""Values in one document, aliases counted each time: a bound against aliases of aliases."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Something wrong at a line and column (from 1), in one sentence that names the key's path."""

    line: int
    column: int
    message: str


@dataclass(slots=True)
class Document:
    """The plain values (dict, list, str, int, float, bool, None), their places, and the problems."""

    value: Any = None
    keys: dict[KeyPath, tuple[int, int]] = field(default_factory=dict)
    values: dict[KeyPath, tuple[int, int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def place(self, path: KeyPath, *, key: bool = False) -> tuple[int, int]:
        """Line and column of a value (or of its key), or of the nearest thing around it."""
        if key and path in self.keys:
            return self.keys[path]
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, (1, 1))


def misconfigured(file: Path | str, problems: Iterable[Problem]) -> Misconfigured:
    """Return the error that lists the problems of a file, each once, in their order."""
    lines = dict.fromkeys(f"{file}:{p.line}:{p.column}: {p.message}" for p in sorted(problems))
    return Misconfigured("\n".join(lines))


class Unreadable(Exception):
    """The bytes are no YAML document."""

    def __init__(self, line: int, column: int, message: str) -> None:
        super().__init__(message)
        self.problem = Problem(line, column, message)


def parse(data: bytes) -> Document:
    """Read one document; raises `Unreadable` for a syntax error, the rest is in `problems`."""
    if len(data) > MAX_BYTES:
        raise Unreadable(1, 1, f"the file is larger than {MAX_BYTES} bytes")
    text = _decode(data)
    try:
        root = _Loader(text).get_single_node()
        reader = _Reader(Document())
        if root is not None:
            reader.document.value = reader.read(root, ())
    except yaml.reader.ReaderError as error:
        raise Unreadable(*_line_column(text, error.position), "a character that YAML does not allow") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        tab = "; indent with blanks, not with tabs" if "\\t" in str(error.problem) else ""
        raise Unreadable(line, column, f"not valid YAML: {error.problem or error.context}{tab}") from None
    except RecursionError:
        raise Unreadable(1, 1, "nested too deeply") from None
    return reader.document


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", "replace")
        raise Unreadable(*_line_column(before, len(before)), "not valid UTF-8") from None


def _line_column(text: str, position: int) -> tuple[int, int]:
    before = text[:position]
    return before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1


class _Loader(yaml.SafeLoader):
    """Composes nodes only, with the words of YAML 1.2's core schema."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  # as the parent has it


_MAP, _SEQ, _STR, _MERGE = (f"tag:yaml.org,2002:{name}" for name in ("map", "seq", "str", "merge"))

_WORDS: dict[str, tuple[re.Pattern[str], str, Callable[[str], Any]]] = {
    "tag:yaml.org,2002:null": (re.compile(r"(?:~|null|Null|NULL|)$"), "~nN", lambda _: None),
    "tag:yaml.org,2002:bool": (re.compile(r"(?:[Tt]rue|TRUE|[Ff]alse|FALSE)$"), "tTfF", lambda t: t.lower() == "true"),
    "tag:yaml.org,2002:int": (re.compile(r"[-+]?[0-9]{1,18}$"), "-+0123456789", int),
    "tag:yaml.org,2002:float": (
        re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,2})?$"),
        "-+.0123456789",
        float,
    ),
    _MERGE: (re.compile(r"<<$"), "<", str),
}
"""Tag: which plain scalars have it, their first characters, and what they mean."""

for _tag, (_pattern, _first, _) in _WORDS.items():
    _Loader.add_implicit_resolver(_tag, _pattern, ["", *_first])

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class _Reader:
    """Turns nodes into plain values and notes where each stands."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._open: list[yaml.Node] = []
        self._count = 0

    def read(self, node: yaml.Node, path: KeyPath) -> Any:
        """The plain value of `node`, which stands at `path`."""
        self._bound(node)
        if node in self._open:
            raise Unreadable(*_place(node), "an alias that contains itself")
        self.document.values[path] = _place(node)
        self._open.append(node)
        try:
            return self._plain(node, path)
        finally:
            self._open.pop()

    def _plain(self, node: yaml.Node, path: KeyPath) -> Any:
        match node:
            case yaml.MappingNode(tag=tag) if tag == _MAP:
                return self._mapping(node, path)
            case yaml.SequenceNode(tag=tag) if tag == _SEQ:
                return [self.read(item, (*path, index)) for index, item in enumerate(node.value)]
            case yaml.ScalarNode():
                return self._scalar(node, path)
            case _:
                return self._note(node, path, f"the tag '{node.tag}' is not supported")

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value, own in self._entries(node, path, own=True):
            if key.tag != _STR:
                self._note(key, path, "a key must be a word")
            elif key.value not in found:
                self.document.keys[(*path, key.value)] = _place(key)
                found[key.value] = self.read(value, (*path, key.value))
            elif own:
                line, _ = self.document.keys[(*path, key.value)]
                self._note(key, (*path, key.value), f"given twice, first in line {line}")
        return found

    def _entries(
        self, node: yaml.MappingNode, path: KeyPath, *, own: bool
    ) -> Iterator[tuple[yaml.Node, yaml.Node, bool]]:
        """Yield the mapping's own entries, then those that `<<` merges in: the first of a name holds."""
        self._bound(node)
        yield from ((key, value, own) for key, value in node.value if key.tag != _MERGE)
        for key, value in node.value:
            if key.tag != _MERGE:
                continue
            for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if isinstance(source, yaml.MappingNode):
                    yield from self._entries(source, path, own=False)
                else:
                    self._note(key, path, "'<<' needs a mapping")

    def _scalar(self, node: yaml.ScalarNode, path: KeyPath) -> Any:
        text = str(node.value)
        pattern, _, meaning = _WORDS.get(node.tag, (None, "", str))
        if pattern is not None and node.tag != _MERGE and pattern.match(text):
            return meaning(text)
        if node.tag not in {_STR, _MERGE}:
            self._note(node, path, f"the tag '{node.tag}' does not fit here")
        if _CONTROL.search(text):
            self._note(node, path, "contains a control character")
        return _CONTROL.sub("", text)

    def _bound(self, node: yaml.Node) -> None:
        self._count += 1
        if self._count > MAX_NODES:
            raise Unreadable(*_place(node), f"more than {MAX_NODES} values")

    def _note(self, node: yaml.Node, path: KeyPath, message: str) -> None:
        self.document.problems.append(Problem(*_place(node), f"{dotted(path)}: {message}" if path else message))


def _place(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1
