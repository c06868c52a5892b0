"""The project's check: the tests, and a docstring on everything public in `directory/`."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "directory"


def main() -> int:
    """Run both, print what is wrong, return the exit code."""
    tests = subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=ROOT, check=False)
    complaints = [complaint for path in sorted((ROOT / PACKAGE).rglob("*.py")) for complaint in undocumented(path)]
    for complaint in complaints:
        print(complaint)
    print(f"{len(complaints)} style complaint{'' if len(complaints) == 1 else 's'}")
    return 1 if tests.returncode != 0 or complaints else 0


def undocumented(path: Path) -> Iterator[str]:
    """One sentence for each public function or class of a module that has no docstring."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if not node.name.startswith("_") and ast.get_docstring(node) is None:
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            where = path.relative_to(ROOT).as_posix()
            yield f"{where}:{node.lineno}: public {kind} '{node.name}' has no docstring"


if __name__ == "__main__":
    sys.exit(main())
