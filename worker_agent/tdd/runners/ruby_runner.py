"""The common parts of RSpec and minitest: the error lines of Ruby tests, and the kinds of their errors.

Control tests for a Ruby file: groups of RSpec or methods of minitest at random places among its own.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence

from tree_sitter import Node

from worker_agent.tdd.runners.control import Control, expression, insert_texts
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Runner
from worker_agent.tdd.runners.test_run import Case, FailureKind

_NOT_LOADED = re.compile(r"cannot load such file -- (\S+)")
_NO_CONSTANT = re.compile(r"uninitialized constant (\S+)|undefined (?:local variable or )?method [`'](\w+[?!]?)'")
_SYNTAX = re.compile(r"SyntaxError|syntax error[s,]")
_ADDRESS = re.compile(r"0x[0-9a-f]{8,}")


class RubyRunner(Runner):
    """A runner of Ruby tests."""

    def error_line(self, case: Case) -> str:
        """Return the class and message of the error."""
        first = next((line.strip() for line in without_addresses(case.message).splitlines() if line.strip()), "")
        return f"{case.error}: {first}" if case.error else first

    def classify(self, case: Case, project: Project) -> FailureKind:
        """Return the kind: own constants, methods and files that are missing, apart from gems; for a file, too."""
        text = f"{case.error}: {case.message}"
        missing = _NOT_LOADED.search(text)
        if missing:
            return FailureKind.FIRST_PARTY_IMPORT if _is_own(missing[1], project) else FailureKind.THIRD_PARTY_IMPORT
        if case.name != case.file:
            return FailureKind.ASSERTION_OR_EXCEPTION
        if _SYNTAX.search(text):
            return FailureKind.SYNTAX
        return FailureKind.FIRST_PARTY_IMPORT if _NO_CONSTANT.search(text) else FailureKind.COLLECTION


def without_addresses(text: str) -> str:
    """Return a message without addresses of objects."""
    return _ADDRESS.sub("0x", text)


def _is_own(name: str, project: Project) -> bool:
    """Return whether a name is the repository's: any path, or a bare name with a file of its first part below `lib`."""
    if name.startswith(("/", ".")):
        return "/gems/" not in name
    first = name.partition("/")[0]
    own = (f"lib/{first}/", f"lib/{first}.rb", f"app/{first}/", f"spec/{first}", f"test/{first}")
    return any(path.startswith(own) for path in project.paths)


_LEFT = ("{number} + 1", "'{a}'.length + {rest}", "['{a}', '{b}'].length + {less}")
_GROUPS = frozenset({"describe", "context", "shared_examples", "feature"})
_NEEDS = frozenset({"setup", "before_setup", "after_setup", "teardown", "before_teardown", "initialize", "run"})


def rspec_control(path: str, content: bytes, names: Sequence[str]) -> Control | None:
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
    return Control.of(path, insert_texts(content, laid), titles)


def minitest_control(path: str, content: bytes, names: Sequence[str]) -> Control | None:
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
    return Control.of(path, insert_texts(content, laid), words)


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
