"""Nothing leaves past the gate: every way out of the source is listed here, and every one asks it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ROOMS = ("shared", "planner_agent", "worker_agent", "reviewer_agent", "runtime", "console", "config")


@cache
def _texts() -> Mapping[str, str]:
    """Every file of the source and its text."""
    files = [file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))]
    return {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}


@cache
def _nodes_of(file: str) -> Sequence[ast.AST]:
    return tuple(ast.walk(ast.parse(_texts()[file])))


def _nodes(name: str) -> Iterator[tuple[str, ast.AST]]:
    """The nodes of the files that have this name; it stands in none of the others, which are not parsed."""
    return ((file, node) for file, text in _texts().items() if name in text for node in _nodes_of(file))


def _calls(method: str, *rooms: str) -> set[str]:
    """Return the files of these rooms that call a method of this name with arguments."""
    spelled = re.compile(rf"\.\s*{method}\b")
    files = [file for file, text in _texts().items() if file.startswith(rooms) and spelled.search(text)]
    return {
        file
        for file in files
        for node in _nodes_of(file)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method
    }


def _words(word: str, *rooms: str) -> set[str]:
    """Return the files of these rooms that have this very string as a value."""
    files = [file for file in _texts() if file.startswith(rooms)]
    return {
        file for file in files if any(isinstance(node, ast.Constant) and node.value == word for node in _nodes_of(file))
    }


def _keyword(name: str, of: str) -> set[str]:
    return {
        file
        for file, node in _nodes(of)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] == of
        and any(keyword.arg == name for keyword in node.keywords)
    }


def test_one_place_sends_a_payload_and_it_passes_the_gate() -> None:
    nodes = list(_nodes("payload"))
    read = {file for file, node in nodes if isinstance(node, ast.Attribute) and ast.unparse(node) == "call.payload"}
    assert read == {"shared/github/transport.py", "shared/github/calls.py"}, "the other knows what it has asked for"
    words = [ast.unparse(node) for file, node in nodes if file in read and isinstance(node, ast.Call)]
    assert {word for word in words if word.startswith("json.dumps")} == {"json.dumps(fit)", "json.dumps(fit).encode()"}
    gate = [ast.unparse(node) for _, node in _nodes("_outgoing") if isinstance(node, ast.Call)]
    assert gate.count("self._outgoing.payload(call.payload, ack=call.ack)") == 1


def test_only_the_transport_sends_requests_to_github() -> None:
    senders = _calls("request", "shared/github/", "runtime/building/", "console/")
    assert senders == {"shared/github/transport.py"}
    assert "self._session.request(" in (ROOT / "shared/github/transport.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("word", "file"),
    [
        ("commit-tree", set()),
        ("push", {"shared/git/command.py"}),
        ("notes", {"shared/git/notes.py"}),
        ("send-pack", set()),
        ("fast-import", set()),
    ],
)
def test_one_place_spells_each_way_out_of_git(word: str, file: set[str]) -> None:
    assert _words(word, "shared/git/", "shared/lock/", "worker_agent/") == file


def test_one_place_makes_commits_and_few_store_anything_else() -> None:
    made = {
        file
        for file, node in _nodes("loose_objects")
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "loose_objects.commit"
    }
    assert made == {"shared/git/command.py"}
    assert "text = self._hide(message)" in (ROOT / "shared/git/command.py").read_text(encoding="utf-8")
    assert _calls("store", "shared/git/") == {
        "shared/git/fences.py",  # the empty tree
        "shared/git/probe.py",  # the same
        "shared/git/notes.py",  # cleaned value by value before
    }


def test_every_client_git_and_keyring_of_an_agent_is_built_with_the_gate() -> None:
    assert _keyword("outgoing", "GitHub") == {"runtime/building/sign_in.py"}
    assert _keyword("hide", "Git") >= {"runtime/building/assembly.py"}
    assert _keyword("outgoing", "Keyring") == {"runtime/building/identity.py", "console/history/repository_reader.py"}
    built = {
        file
        for name in ("GitHub", "Keyring", "Git", "Publisher")
        for file, node in _nodes(name)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == name
    }
    assert built == {
        "runtime/building/sign_in.py",
        "runtime/building/assembly.py",
        "runtime/building/identity.py",
        "console/history/repository_reader.py",  # reads, and signs nothing
        "console/tdd/upstream.py",  # pushes commits that have passed the gate on their way to the local hub
        "worker_agent/build.py",
        "shared/git/command.py",  # `at`: the same git elsewhere
        "shared/git/notes.py",  # cleaned value by value before
        "console/verify/command.py",  # reads the user's own repository
        "console/verify/pull.py",  # checks signatures and makes none
    }


def test_the_detector_sees_a_new_door() -> None:
    tree = ast.parse("async def leak(t): await t.exchange(Call('POST', '/x', payload={'body': 'x'}), lambda: None)")
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func) == "Call"]
    assert [keyword.arg for node in found for keyword in node.keywords] == ["payload"]
