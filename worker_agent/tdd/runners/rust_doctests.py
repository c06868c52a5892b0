"""The tests in Rust documentation, by the plain text that rustdoc prints: their ids must not hold line numbers.

Also the lines of a Rust file that belong to tests: in many files code and tests are together.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from pathlib import PurePosixPath

from tree_sitter import Node

from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.test_run import MESSAGE_LIMIT, Case, CaseOutcome
from worker_agent.tdd.syntax.source import Source, parse, walk

PREFIX = "doctest"

_RESULT = re.compile(
    r"^test (?P<file>\S+\.\w+) - (?P<item>.*?)\s*\(line (?P<line>\d+)\)(?P<how>(?: - [\w ]+)?) \.\.\. "
    r"(?P<end>ok|FAILED|ignored)",
    re.MULTILINE,
)
_SUM = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE)
_OUTCOMES = {"ok": CaseOutcome.PASSED, "FAILED": CaseOutcome.FAILED, "ignored": CaseOutcome.SKIPPED}
_PANIC = re.compile(r"panicked at (\S+:\d+):\d+:\n(.*)|panicked at '(.*?)', \S+:\d+", re.DOTALL)


def cases(text: str, project: Project) -> tuple[list[Case], str]:
    """Return the cases of one run of rustdoc, and its fault: its sums must be those of its lines."""
    found: list[Case] = []
    seen: Counter[str] = Counter()
    results = sorted(_RESULT.finditer(text), key=lambda result: (result["file"], int(result["line"])))
    for result in results:
        file = _file(result, project)
        name = f"{PREFIX} {result['item']}".strip()
        seen[f"{file} {name}"] += 1
        number = seen[f"{file} {name}"]
        said = _output(text, result) if result["end"] == "FAILED" else ""
        case = Case(f"{name} #{number}" if number > 1 else name, "", file, _OUTCOMES[result["end"]], _error(said), said)
        found.append(case)
    told = sum(int(count) for sums in _SUM.findall(text) for count in sums)
    return found, "" if told == len(found) else f"rustdoc told of {told} tests, but named {len(found)}"


def _file(result: re.Match[str], project: Project) -> str:
    """Return the file of a test: older versions name it relative to its package, which they do not name."""
    file, line = project.below(result["file"]), int(result["line"])
    if file in project.paths:
        return file
    for path in sorted(path for path in project.paths if path.endswith(f"/{file}")):
        lines = project.text(path).splitlines()
        if line <= len(lines) and "```" in lines[line - 1]:
            return path
    return file


def _output(text: str, result: re.Match[str]) -> str:
    """Return the block of a failure."""
    item = f"{result['item']} " if result["item"] else ""
    head = f"---- {result['file']} - {item}(line {result['line']})"
    _, _, rest = text.partition(head)
    return rest.partition("\n")[2].partition("\n---- ")[0].partition("\nfailures:")[0].strip("\n")[:MESSAGE_LIMIT]


def _error(output: str) -> str:
    panic = _PANIC.search(output)
    if panic:
        return (panic[2] or panic[3]).strip().partition("\n")[0]
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("error")), lines[0] if lines else "")


_FOR_TESTS = re.compile(r"#!?\[(?:cfg\(.*\btest\b|(?:\w+::)*test\b|rstest|test_case)")
_OPEN = frozenset({"mod_item", "function_item"})


def is_in_test(place: str, line: int, test_file: str, project: Project) -> bool:
    """Return whether a line of a file, as a panic names it, belongs to tests."""
    if "tests" in PurePosixPath(place).parts:
        return True
    path = place if place in project.paths else test_file if test_file.endswith(f"/{place}") else ""
    return any(first <= line <= last for first, last in ranges(project.text(path))) if path else False


@lru_cache(maxsize=64)
def ranges(text: str) -> tuple[tuple[int, int], ...]:
    """Return the lines of modules and functions that are compiled for tests only, from 1."""
    source = parse("x.rs", text.encode())
    nodes = [] if source is None else [node for node in walk(source.root) if _for_tests(source, node)]
    return tuple((node.start_point[0] + 1, node.end_point[0] + 1) for node in nodes)


def _for_tests(source: Source, node: Node) -> bool:
    return node.type in _OPEN and any(_FOR_TESTS.match(attribute) for attribute in attributes(source, node))


def attributes(source: Source, node: Node) -> list[str]:
    """Return the attributes above an item."""
    found = []
    above = node.prev_sibling
    while above is not None and above.type in {"attribute_item", "line_comment", "block_comment"}:
        if above.type == "attribute_item":
            found.append(source.text(above))
        above = above.prev_sibling
    return found
