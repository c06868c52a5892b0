"""Control tests for a PHP file: methods at random places of a class of tests."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from worker_agent.tdd.runners.control import Control

_LEFT = ("{number} + 1", "strlen('{a}') + {rest}", "count(['{a}', '{b}']) + {less}")
_NEEDS = frozenset({"setup", "setupbeforeclass", "__construct", "teardown"})


def control(path: str, content: bytes, names: Sequence[str]) -> Control | None:
    """Two methods that must pass and two that must fail; None where no class can take them."""
    from worker_agent.tdd.syntax.source import parse  # grammars are loaded when a file is parsed

    source = parse(path, content) if path.endswith(".php") else None
    places = [] if source is None else _places(source.root)
    if not places:
        return None
    words = ["test" + name.title().replace("_", "") for name in names[:4]]
    laid = [(secrets.choice(places), word, index < 2) for index, word in enumerate(words)]
    text = content
    for at, word, passes in sorted(laid, reverse=True):
        left, right = _values(word, passes)
        method = f"public function {word}(): void\n    {{\n        $this->assertSame({right}, {left});\n    }}\n\n    "
        text = text[:at] + method.encode() + text[at:]
    return Control(path, text, failing=frozenset(words[2:]), passing=frozenset(words[:2]))


def _places(root: Node) -> list[int]:
    """Where the methods of classes begin, with the comments above them; classes that need a set-up last."""
    free: list[int] = []
    others: list[int] = []
    for node in _classes(root):
        body = node.child_by_field_name("body")
        methods = [part for part in body.named_children if part.type == "method_declaration"] if body else []
        named = {_text(part.child_by_field_name("name")).lower() for part in methods}
        (others if named & _NEEDS else free).extend(_start(part) for part in methods)
    return free or others


def _classes(root: Node) -> Iterator[Node]:
    """The classes that extend a `...TestCase` and can have tests."""
    pending = list(root.named_children)
    while pending:
        node = pending.pop(0)
        if node.type in {"namespace_definition", "compound_statement"}:
            pending.extend(node.named_children)
        parts = {child.type: child for child in node.children} if node.type == "class_declaration" else {}
        if "abstract_modifier" not in parts and _text(parts.get("base_clause")).endswith("TestCase"):
            yield node


def _start(method: Node) -> int:
    """The place before a method and the comments that belong to it."""
    node = method
    while node.prev_named_sibling is not None and node.prev_named_sibling.type == "comment":
        node = node.prev_named_sibling
    return node.start_byte


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")


def _values(word: str, passes: bool) -> tuple[str, int]:
    """Two expressions that are equal, or not."""
    number = 40 + secrets.randbelow(90)
    name = word.removeprefix("test").lower()
    first, last = name[: 3 + secrets.randbelow(4)], name[-(3 + secrets.randbelow(4)) :]
    left = secrets.choice(_LEFT).format(number=number, a=first, b=last, rest=number + 1 - len(first), less=number - 1)
    return left, number + 1 if passes else number + secrets.choice((2, 3, 10))
