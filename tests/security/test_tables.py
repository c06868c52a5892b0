"""The table of attacks and the list of faults are true: every row is there once, and the tests that prove it exist."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
ATTACKS, FAULTS = range(1, 37), range(1, 51)

_ROW = re.compile(r"^\| (\d+) \| (.*) \|$", re.MULTILINE)
_FAULT = re.compile(r"^(\d+)\. (\*\*.+\*\*: .+)$", re.MULTILINE)
_PROOF = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def rows(name: str, row: re.Pattern[str] = _ROW) -> dict[int, str]:
    """Return the numbered rows of a page's table or list; a number that is there twice is a fault."""
    found = row.findall((ROOT / "docs" / name).read_text(encoding="utf-8"))
    assert not [number for number, count in Counter(number for number, _ in found).items() if count > 1]
    return {int(number): text for number, text in found}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the tests of a file."""
    for node in tree(path).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node


def marked(path: Path) -> Iterator[int]:
    """Yield the faults whose mark is on a test of a file, on one of its cases, or on the whole file."""
    if not any(functions(path)):
        return
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.fault":
            yield from (one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, int))


@pytest.mark.parametrize("number", ATTACKS)
def test_every_attack_has_a_proof_that_exists(number: int) -> None:
    proofs = _PROOF.findall(rows("security.md")[number])
    assert proofs, f"row {number} of docs/security.md names no test"
    for path, name in proofs:
        assert name in {test.name for test in functions(ROOT / path)}, f"{path} has no {name}"


def test_the_tables_have_every_row() -> None:
    assert sorted(rows("security.md")) == [*ATTACKS]
    assert sorted(rows("troubleshooting.md", _FAULT)) == [*FAULTS]


def test_every_fault_has_a_test_that_says_so() -> None:
    found = Counter(number for path in TESTS.rglob("test_*.py") for number in marked(path))
    assert sorted(found) == [*FAULTS]


def test_a_mark_without_a_test_proves_nothing(tmp_path: Path) -> None:
    empty, whole, case = (tmp_path / f"{name}.py" for name in ("empty", "whole", "case"))
    empty.write_text("import pytest\npytestmark = pytest.mark.fault(3)\n")
    whole.write_text("import pytest\npytestmark = pytest.mark.fault(3)\ndef test_it(): ...\n")
    case.write_text("import pytest\n@pytest.mark.x(pytest.param(marks=pytest.mark.fault(4)))\ndef test_it(): ...\n")
    assert [[*marked(path)] for path in (empty, whole, case)] == [[], [3], [4]]
