"""New tests that say nothing about the behaviour: they pass with stand-ins, or assert nothing at all (pure)."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from worker_agent.tdd.judging.python_source import Source, each_test, parse, used
from worker_agent.tdd.judging.verdict import ErrorType, RedVerdict, listed
from worker_agent.tdd.runners.report import TestId, TestRun

_ASSERTS = re.compile(r"assert|raises|warns|deprecated|fail|check|expect|verif|should|must|compare", re.I)
"""Names of what asserts; helpers of other modules are taken at their name."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_JAVASCRIPT_TEST = re.compile(r"\.[cm]?[jt]sx?$")
_JAVASCRIPT_ASSERTS = re.compile(r"\b(?:expect|assert\w*|should|strictEqual|deepEqual|toThrow)\b")


def without_assertion(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> frozenset[TestId]:
    """The new tests that assert nothing, by id without parameters; of JavaScript the whole files that do not."""
    found: set[TestId] = set()
    for path, content in head.items():
        if path.endswith(".py"):
            known = set(_silent(path, base[path])) if path in base else set()
            found |= set(_silent(path, content)) - known
        elif path not in base and _JAVASCRIPT_TEST.search(path):
            found |= set() if _JAVASCRIPT_ASSERTS.search(content.decode("utf-8", "replace")) else {path}
    return frozenset(found)


def _silent(path: str, content: bytes) -> Iterator[TestId]:
    source = parse(content)
    if source is None:
        return
    for name, function in each_test(source.tree):
        if not _asserts(function, source, set()):
            yield "::".join([path, *name])


def _asserts(code: ast.AST, source: Source, seen: set[str]) -> bool:
    """Whether code asserts, itself or through what its file defines."""
    names = set(used(code))
    for node in ast.walk(code):
        if isinstance(node, ast.Assert | ast.Raise):
            return True
        if isinstance(node, ast.Attribute):
            names.add(node.attr)
    if any(_ASSERTS.search(name) for name in names):
        return True
    fresh = names - seen
    seen |= fresh
    definitions = [node for node in ast.walk(source.tree) if isinstance(node, _DEFINITIONS)]
    return any(_asserts(node, source, seen) for node in definitions if node.name in fresh)


def hollowed(verdict: RedVerdict, silent: Collection[TestId], stubbed: TestRun | None, red: TestRun) -> RedVerdict:
    """The verdict without the tests that prove nothing.

    `silent` are those without an assertion, `stubbed` is the run in which everything that is
    missing was replaced by stand-ins, None when nothing is.
    """
    passing = {
        test
        for test, result in (stubbed.results if stubbed else {}).items()
        if test in (stubbed.passed if stubbed else ()) and _is_red(verdict, test, result.file)
    }
    known = {result.id: result.file for run in (red, stubbed or red) for result in run.results.values()}
    quiet = {test for test, file in known.items() if _is_silent(test, file, silent) and _is_red(verdict, test, file)}
    empty = passing | quiet
    if not empty:
        return verdict
    left = tuple(test for test in verdict.red if not _is_hollow(test, empty, known))
    details = listed(f"{test}: passes whatever the code does; assert on its result" for test in sorted(empty))
    return replace(
        verdict, error=ErrorType.TEST_UNEXPECTED_PASS, details=details, red=left, hollow=tuple(sorted(empty))
    )


def _is_red(verdict: RedVerdict, test: TestId, file: str) -> bool:
    return test in verdict.red or file in verdict.red


def _is_silent(test: TestId, file: str, silent: Collection[TestId]) -> bool:
    return test.partition("[")[0] in silent or file in silent


def _is_hollow(test: TestId, empty: Collection[TestId], files: Mapping[TestId, str]) -> bool:
    """A test that proves nothing, or a file that was not collected and none of whose tests proves anything."""
    inside = [other for other, file in files.items() if file == test and other != test]
    return test in empty or (bool(inside) and all(other in empty for other in inside))
