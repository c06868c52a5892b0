"""Control tests for a Java test class: methods among its own, with the annotations of its framework."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from pathlib import PurePosixPath

from tree_sitter import Node

from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.syntax.source import Source, parse

_FRAMEWORKS = (
    (
        re.compile(rb"import (?:static )?org\.junit\.jupiter\."),
        "@org.junit.jupiter.api.Test",
        "org.junit.jupiter.api.Assertions",
    ),
    (re.compile(rb"import (?:static )?org\.testng\."), "@org.testng.annotations.Test", "org.testng.Assert"),
    (re.compile(rb"import (?:static )?org\.junit\."), "@org.junit.Test", "org.junit.Assert"),
    (re.compile(rb"import junit\.framework\."), "", "junit.framework.Assert"),
)
"""How a file tells its framework, the annotation of a test, and the class of assertions."""

_PASSING = (
    "int {a} = {number};\n{assert_}.assertEquals({more}, {a} + 1);",
    '{assert_}.assertTrue("{b}".length() < {number}00);',
)
_FAILING = (
    "int {a} = {number};\n{assert_}.assertEquals({more}, {a});",
    '{assert_}.assertTrue("{b}".isEmpty());',
    'String {a} = "{b}";\n{assert_}.assertEquals({number}00, {a}.length());',
)


def control(path: str, content: bytes, names: Sequence[str]) -> Control | None:
    """Two methods that must pass and two that must fail; None where the class is not one of tests alone."""
    framework = next((found for found in _FRAMEWORKS if found[0].search(content)), None)
    if not path.endswith(".java") or framework is None:
        return None
    _, annotation, assertions = framework
    words = [_camel(name, "" if annotation else "test") for name in names[:4]]
    for index, word in enumerate(words):
        body = _filled(secrets.choice(_PASSING if index < 2 else _FAILING), names[index], assertions)
        head = f"{annotation}\n" if annotation else ""
        laid = _inserted(path, content, f"{head}public void {word}() {{\n{body}}}\n")
        if laid is None:
            return None
        content = laid
    return Control(path, content, failing=frozenset(words[2:]), passing=frozenset(words[:2]))


def _camel(name: str, lead: str) -> str:
    first, *rest = name.split("_")
    words = [lead, first.title(), *map(str.title, rest)] if lead else [first, *map(str.title, rest)]
    return "".join(words)


def _filled(body: str, name: str, assertions: str) -> str:
    words = name.split("_")
    number = 2 + secrets.randbelow(90)
    text = body.format(a=f"{words[0]}Value", b=words[-1], number=number, more=number + 1, assert_=assertions)
    return "".join(f"    {line}\n" for line in text.splitlines())


def _inserted(path: str, content: bytes, method: str) -> bytes | None:
    source = parse(path, content)
    body = None if source is None else _class_body(source, PurePosixPath(path).stem)
    if body is None:
        return None
    places = [_start(node) for node in body.named_children if node.type == "method_declaration"]
    at = secrets.choice(places) if places else body.end_byte - 1
    indent = content[content.rfind(b"\n", 0, at) + 1 : at] if places else b""
    indent = indent if not indent.strip() else b"    "
    lines = method.encode().splitlines(keepends=True)
    text = b"".join(line if not index else indent + line for index, line in enumerate(lines))
    return content[:at] + text + b"\n" + indent + content[at:]


def _class_body(source: Source, name: str) -> Node | None:
    """The body of the class that the file is named for, unless it is abstract."""
    for node in source.root.named_children:
        named = node.child_by_field_name("name")
        if node.type == "class_declaration" and named is not None and source.text(named) == name:
            modifiers = next((source.text(child) for child in node.children if child.type == "modifiers"), "")
            return None if re.search(r"\babstract\b", modifiers) else node.child_by_field_name("body")
    return None


def _start(node: Node) -> int:
    """Where a method begins, its comment included."""
    above = node.prev_sibling
    if above is not None and above.type in {"block_comment", "line_comment"}:
        beside = above.prev_sibling is not None and above.prev_sibling.end_point[0] == above.start_point[0]
        return node.start_byte if beside else above.start_byte
    return node.start_byte
