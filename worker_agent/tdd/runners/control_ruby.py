"""Control tests for a Ruby file: groups of RSpec or methods of minitest at random places among its own."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from tree_sitter import Node

from worker_agent.tdd.runners.control import Control, expression

_LEFT = ("{number} + 1", "'{a}'.length + {rest}", "['{a}', '{b}'].length + {less}")
_GROUPS = frozenset({"describe", "context", "shared_examples", "feature"})
_NEEDS = frozenset({"setup", "before_setup", "after_setup", "teardown", "before_teardown", "initialize", "run"})


def rspec(path: str, content: bytes, names: Sequence[str]) -> Control | None:
    """Return the file with groups of one example each: two that must pass and two that must fail."""
    root = _root(path, content)
    if root is None:
        return None
    places = [node.start_byte for node in root.named_children if _is_group(node)]
    laid: list[tuple[int, str]] = []
    titles: list[str] = []
    for index, name in enumerate(names[:4]):
        first, _, rest = name.replace("_", " ").partition(" ")
        titles.append(f"{first} {rest}" if rest else f"{first} {first}")
        left, right = expression(_LEFT, first, name.rpartition("_")[2], index < 2)
        body = f"    expect({left}).to eq {right}"
        text = f"RSpec.describe '{first}' do\n  it '{rest or first}' do\n{body}\n  end\nend\n\n"
        laid.append((secrets.choice([*places, len(content)]), text))
    return _control(path, content, laid, titles)


def minitest(path: str, content: bytes, names: Sequence[str]) -> Control | None:
    """Return the file with two passing and two failing methods of a class; None if no class can take them."""
    root = _root(path, content)
    places = [] if root is None else _methods(root)
    if not places:
        return None
    laid = []
    words = [f"test_{name}" for name in names[:4]]
    for index, (name, word) in enumerate(zip(names, words, strict=False)):
        left, right = expression(_LEFT, name.partition("_")[0], name.rpartition("_")[2], index < 2)
        at, lead = secrets.choice(places)
        laid.append((at, f"def {word}\n{lead}  assert_equal {right}, {left}\n{lead}end\n\n{lead}"))
    return _control(path, content, laid, words)


def _control(path: str, content: bytes, laid: Sequence[tuple[int, str]], names: Sequence[str]) -> Control:
    text = content
    for at, part in sorted(laid, key=lambda entry: -entry[0]):
        lead = "\n" if at == len(content) and not content.endswith(b"\n") else ""
        text = text[:at] + f"{lead}{part}".encode() + text[at:]
    return Control(path, text, failing=frozenset(names[2:]), passing=frozenset(names[:2]))


def _root(path: str, content: bytes) -> Node | None:
    from worker_agent.tdd.syntax.source import parse  # grammars are loaded when a file is parsed

    source = parse(path, content)
    return None if source is None else source.root


def _is_group(node: Node) -> bool:
    method = node.child_by_field_name("method") if node.type == "call" else None
    return method is not None and method.text is not None and method.text.decode() in _GROUPS


def _methods(root: Node) -> list[tuple[int, str]]:
    """Return the offsets of methods of test classes, with their indentation; classes that need a set-up last."""
    free: list[tuple[int, str]] = []
    others: list[tuple[int, str]] = []
    for node in _classes(root):
        body = node.child_by_field_name("body")
        methods = [part for part in body.named_children if part.type == "method"] if body is not None else []
        named = {_name(part) for part in methods}
        places = [(part.start_byte, " " * part.start_point[1]) for part in methods if _name(part).startswith("test_")]
        (others if named & _NEEDS else free).extend(places)
    return free or others


def _classes(root: Node) -> list[Node]:
    found, pending = [], list(root.named_children)
    while pending:
        node = pending.pop(0)
        if node.type == "class":
            found.append(node)
        if node.type in {"class", "module", "body_statement"}:
            pending.extend(node.named_children)
    return found


def _name(node: Node) -> str:
    name = node.child_by_field_name("name")
    return "" if name is None or name.text is None else name.text.decode("utf-8", "replace")
