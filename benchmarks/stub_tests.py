"""`python -m benchmarks.stub_tests [BYTES]`: a stub of a test runner that costs little: plain functions, one report.

Run in a checkout; prints so many bytes and writes `report.xml` there. Only for benchmarks of the engine, where tests
are in the way.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from xml.sax.saxutils import escape, quoteattr

_TEST = re.compile(r"^def (test_\w+)\(\)", re.MULTILINE)

_LINE = "x" * 99 + "\n"

REPORT = "report.xml"


def main() -> int:
    """Run every `tests/test_*.py` below the current directory; return 1 if a test did not pass."""
    here = Path.cwd()
    for _ in range(int(sys.argv[1]) // len(_LINE) if sys.argv[1:] else 0):
        sys.stdout.write(_LINE)
    sys.path.insert(0, str(here))
    sys.dont_write_bytecode = True
    sys.modules["pytest"] = ModuleType("pytest")
    sys.modules["pytest"].raises = raises  # type: ignore[attr-defined]
    cases = [case for path in sorted(here.glob("tests/test_*.py")) for case in _run(path, f"tests/{path.name}")]
    body = "".join(_element(file, name, failure) for file, name, failure in cases)
    (here / REPORT).write_text(f'<testsuite tests="{len(cases)}">{body}</testsuite>', encoding="utf-8")
    return int(any(failure for _, _, failure in cases))


@contextmanager
def raises(error: type[Exception], match: str = "") -> Iterator[None]:
    """Stand in for `pytest.raises`, all that the project's tests need: importing pytest takes longer than they do."""
    try:
        yield
    except error as raised:
        if not re.search(match, str(raised)):
            raise AssertionError(f"{match!r} does not match {raised}") from raised
    else:
        raise AssertionError(f"did not raise {error.__name__}")


def _run(path: Path, file: str) -> Iterator[tuple[str, str, str]]:
    """Yield file, name and failure (or nothing) of each test; one that cannot be loaded fails in all its tests."""
    text = path.read_text(encoding="utf-8")
    scope: dict[str, object] = {"__name__": path.stem}
    broken = _failure(lambda: exec(compile(text, file, "exec"), scope))
    for name in _TEST.findall(text):
        test = scope.get(name)
        yield file, name, broken or (_failure(test) if callable(test) else "it is not there")


def _failure(run: Callable[[], object]) -> str:
    try:
        run()
    except Exception:  # whatever a test raises is its result
        return traceback.format_exc(limit=3)
    return ""


def _element(file: str, name: str, failure: str) -> str:
    inside = f"<failure message={quoteattr(failure.splitlines()[-1])}>{escape(failure)}</failure>" if failure else ""
    return f"<testcase file={quoteattr(file)} name={quoteattr(name)}>{inside}</testcase>"


if __name__ == "__main__":
    sys.exit(main())
