"""Which lines of a Rust file are its tests': in many files code and tests stand together."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath

from tree_sitter import Node

from worker_agent.tdd.runners import project_text
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.syntax.source import Source, parse, walk

_FOR_TESTS = re.compile(r"#!?\[(?:cfg\(.*\btest\b|(?:\w+::)*test\b|rstest|test_case)")
_OPEN = frozenset({"mod_item", "function_item"})


def is_in_test(place: str, line: int, test_file: str, project: Project) -> bool:
    """Whether a line of a file, as a panic names it, belongs to tests."""
    if "tests" in PurePosixPath(place).parts:
        return True
    path = place if place in project.paths else test_file if test_file.endswith(f"/{place}") else ""
    return any(first <= line <= last for first, last in ranges(project_text.text(project, path))) if path else False


@lru_cache(maxsize=64)
def ranges(text: str) -> tuple[tuple[int, int], ...]:
    """The lines of modules and functions that are compiled for tests only, from 1."""
    source = parse("x.rs", text.encode())
    return () if source is None else tuple(_lines(node) for node in walk(source.root) if _for_tests(source, node))


def _for_tests(source: Source, node: Node) -> bool:
    return node.type in _OPEN and any(_FOR_TESTS.match(attribute) for attribute in attributes(source, node))


def attributes(source: Source, node: Node) -> list[str]:
    """The attributes above an item."""
    found = []
    above = node.prev_sibling
    while above is not None and above.type in {"attribute_item", "line_comment", "block_comment"}:
        if above.type == "attribute_item":
            found.append(source.text(above))
        above = above.prev_sibling
    return found


def _lines(node: Node) -> tuple[int, int]:
    return node.start_point[0] + 1, node.end_point[0] + 1
