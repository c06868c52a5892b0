"""The memory of code that was seen: by its text, its language and its kind, of a bounded number of pieces."""

from __future__ import annotations

import sys
from threading import Thread

from tree_sitter import Node

from worker_agent.tdd.syntax.source import Language, Source, grammar, parse
from worker_agent.tdd.syntax.units_meaning import SeenCode


def parsed(text: str, path: str = "users.py") -> Source:
    source = parse(path, text.encode())
    assert source is not None
    return source


class Finding:
    """Notes what was looked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, source: Source, node: Node) -> str:
        self.asked.append(source.text(node))
        return source.text(node).upper()


def test_the_same_code_in_another_file_is_looked_at_once() -> None:
    finding = Finding()
    seen = SeenCode(finding, most=10)
    assert [seen.of(one, one.root) for one in (parsed("a = 1\n"), parsed("a = 1\n", "other.py"))] == ["A = 1\n"] * 2
    assert finding.asked == ["a = 1\n"]


def test_the_same_text_is_something_else_in_another_language_or_place() -> None:
    finding = Finding()
    seen = SeenCode(finding, most=10)
    python, script = parsed("a = 1"), parsed("a = 1", "users.js")
    statement = python.root.children[0]
    for source, node in ((python, python.root), (script, script.root), (python, statement)):
        seen.of(source, node)
    assert finding.asked == ["a = 1"] * 3


def test_no_more_is_remembered_than_it_may_and_what_is_forgotten_is_looked_at_again() -> None:
    finding = Finding()
    seen = SeenCode(finding, most=3)
    for number in (0, 1, 2, 0, 3, 0):
        source = parsed(f"a = {number}")
        assert seen.of(source, source.root) == f"A = {number}"
        assert len(seen) <= 3
    assert finding.asked == ["a = 0", "a = 1", "a = 2", "a = 3", "a = 0"]


def test_a_parser_ends_with_its_thread() -> None:
    parsed("a = 1")
    known, inside = grammar(Language.PYTHON), list[int]()
    before = sys.getrefcount(known)

    def read() -> None:
        parsed("a = 1")
        inside.append(sys.getrefcount(known))

    for _ in range(5):
        thread = Thread(target=read)
        thread.start()
        thread.join()
    assert inside == [before + 1] * 5, "each thread has a parser of its own"
    assert sys.getrefcount(known) == before
