"""Control tests for a Rust file: functions among the tests of a module, or at the top level of an integration test."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from tree_sitter import Node

from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.runners.rust_places import attributes
from worker_agent.tdd.syntax.source import Source, parse, walk

_PASSING = ("let {a} = {number};\nassert_eq!({a} + 1, {more});", 'let {a} = ["{b}", "{a}"];\nassert_eq!({a}.len(), 2);')
_FAILING = (
    "let {a} = {number};\nassert_eq!({a}, {more});",
    'let {a} = ["{b}", "{a}"];\nassert_eq!({a}.len(), {more});',
    'let {a} = "{b}";\nassert!({a}.is_empty());',
)


def control(path: str, content: bytes, names: Sequence[str]) -> Control | None:
    """Two tests that must pass and two that must fail; None for a file without tests, or with errors."""
    if not path.endswith(".rs"):
        return None
    words = [f"{_prefix(content)}{name}" for name in names[:4]]
    for index, word in enumerate(words):
        body = _filled(secrets.choice(_PASSING if index < 2 else _FAILING), names[index])
        laid = _inserted(path, content, word, body)
        if laid is None:
            return None
        content = laid
    return Control(path, content, failing=frozenset(words[2:]), passing=frozenset(words[:2]))


def _prefix(content: bytes) -> str:
    """How most test functions of the file begin."""
    return "test_" if content.count(b"fn test_") * 2 > content.count(b"#[test]") else ""


def _filled(body: str, name: str) -> str:
    words = name.split("_")
    number = 3 + secrets.randbelow(90)
    return body.format(a=f"{words[0]}_value", b=words[-1], number=number, more=number + 1)


def _inserted(path: str, content: bytes, word: str, body: str) -> bytes | None:
    """The file with a test before one of its tests, wherever in the file that is."""
    source = parse(path, content)
    tests = [] if source is None else [node for node in walk(source.root) if _is_test(source, node)]
    if source is None or not tests:
        return None
    node = secrets.choice(tests)
    start = _start(node)
    indent = b" " * start.start_point[1]
    inner = "".join(f"    {line}\n" for line in body.splitlines())
    lines = f"#[test]\nfn {word}() {{\n{inner}}}\n".encode().splitlines(keepends=True)
    text = b"".join(line if not index else indent + line for index, line in enumerate(lines))
    return content[: start.start_byte] + text + b"\n" + indent + content[start.start_byte :]


def _is_test(source: Source, node: Node) -> bool:
    """A test function of a module or file, not one that another function holds."""
    parent = node.parent
    if node.type != "function_item" or parent is None:
        return False
    within = parent.type == "source_file" or (parent.type == "declaration_list" and _is_module(parent.parent))
    return within and "#[test]" in attributes(source, node)


def _is_module(node: Node | None) -> bool:
    return node is not None and node.type == "mod_item"


def _start(node: Node) -> Node:
    """The first of the attributes and comments that belong to a function."""
    first, above = node, node.prev_sibling
    while above is not None and above.type in {"attribute_item", "line_comment"}:
        if above.type == "line_comment" and above.end_point[0] < first.start_point[0] - 1:
            break
        first, above = above, above.prev_sibling
    return first
