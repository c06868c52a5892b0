"""Imports of test files: fakes and scenes, never each other, so that each can be moved, split and run alone."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[2]
A_MODULE = r"(?:[\w.]*\.)?(test_\w+)"
IMPORTS = re.compile(rf"^[ \t]*(?:from[ \t]+{A_MODULE}[ \t]+import\b|import[ \t]+{A_MODULE})", re.MULTILINE)


def imported(source: str) -> set[str]:
    """Return the last names of the imported modules that look like a test file's."""
    return {name for found in IMPORTS.findall(source) for name in found if name}


def test_no_test_file_imports_another() -> None:
    files = [path for path in TESTS.rglob("*.py") if "data" not in path.parts]
    tests = {path.stem for path in files if path.name.startswith("test_")}
    assert len(tests) > 500, "the files are found"
    found = {str(path.relative_to(TESTS)): imported(path.read_text()) & tests for path in files}
    assert {path: names for path, names in found.items() if names} == {}, "share what they need in a scene"


def test_every_way_to_import_one_is_noticed() -> None:
    for line in ("import test_a", "from test_a import b", "import lab.test_a", "if x:\n    from lab.test_a import b"):
        assert imported(line) == {"test_a"}, line
