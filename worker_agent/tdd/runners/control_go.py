"""Control tests for a Go test file: functions at random places among its own, with bodies like anybody's."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence

from tree_sitter import Node

from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.syntax.source import Source, parse

_TESTING = re.compile(rb'^\s*(?:import\s+)?(?:([\w.]+)\s+)?"testing"', re.MULTILINE)
_PASSING = (
    '\t{a} := {number}\n\tif {a}+1 != {more} {{\n\t\tt.Errorf("{b}: %d", {a})\n\t}}',
    '\t{a} := []string{{"{b}", "{a}"}}\n\tif len({a}) != 2 {{\n\t\tt.Fatalf("{b}: %v", {a})\n\t}}',
)
_FAILING = (
    '\t{a} := {number}\n\tif {a} != {more} {{\n\t\tt.Errorf("{b}: %d", {a})\n\t}}',
    '\t{a} := []string{{"{b}", "{a}"}}\n\tif len({a}) != {more} {{\n\t\tt.Fatalf("{b}: %v", {a})\n\t}}',
    '\t{a} := map[string]int{{"{b}": {number}}}\n\tif {a}["{b}"] > 1 {{\n\t\tt.Error("{b}", {a})\n\t}}',
)


def control(path: str, content: bytes, names: Sequence[str]) -> Control | None:
    """Two tests that must pass and two that must fail; None for a file that does not use `testing` or has errors."""
    imported = _TESTING.search(content)
    if not path.endswith("_test.go") or imported is None or imported[1] == b"_" or parse(path, content) is None:
        return None
    alias = (imported[1] or b"testing").decode()
    type_ = "T" if alias == "." else f"{alias}.T"
    joined = "_" if content.count(b"\nfunc Test_") * 2 > content.count(b"\nfunc Test") else ""
    words = [f"Test{joined}{''.join(part.title() for part in name.split('_'))}" for name in names[:4]]
    for index, word in enumerate(words):
        body = _filled(secrets.choice(_PASSING if index < 2 else _FAILING), names[index])
        content = _inserted(path, content, f"func {word}(t *{type_}) {{\n{body}\n}}\n\n")
    return Control(path, content, failing=frozenset(words[2:]), passing=frozenset(words[:2]))


def _filled(body: str, name: str) -> str:
    words = name.split("_")
    number = 2 + secrets.randbelow(90)
    return body.format(a=f"{words[0]}Value", b=words[-1], number=number, more=number + 1)


def _inserted(path: str, content: bytes, text: str) -> bytes:
    """The file with a function before one of its top-level functions, or at its end."""
    source = parse(path, content)
    places = [] if source is None else [_start(source, node) for node in source.root.children if _is_function(node)]
    at = secrets.choice([*places, len(content)])
    lead = b"" if not at or content[:at].endswith(b"\n\n") else b"\n" if content[:at].endswith(b"\n") else b"\n\n"
    return content[:at] + lead + text.encode() + content[at:]


def _is_function(node: Node) -> bool:
    return node.type in {"function_declaration", "method_declaration"} and node.start_point[1] == 0


def _start(source: Source, node: Node) -> int:
    """Where a function begins, its comment included."""
    start, row = node.start_byte, node.start_point[0]
    above = node.prev_sibling
    while above is not None and above.type == "comment" and above.end_point[0] == row - 1 and not above.start_point[1]:
        start, row, above = above.start_byte, above.start_point[0], above.prev_sibling
    return start
