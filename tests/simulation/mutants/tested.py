"""Search for a bug with the tests of `make test`, on a copy of the project that has it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from .mutant import ROOT, Mutant, Ring, sources

OF_THE_LOCK = ("tests/unit/lock", "tests/unit/reconcile", "tests/lab/lock")
"""Tests beyond the simulation, the quickest first."""

BESIDE = {
    "shared/text/comment_signatures.py": ("tests/unit/text/test_comment_signatures.py", "tests/unit/lock"),
    "shared/git/": ("tests/unit/git", "tests/lab/git/test_git_fences.py", "tests/lab/git"),
    "shared/github/": (
        "tests/unit/rest",
        "tests/lab/rest/test_github_writes.py",
        "tests/lab/rest",
        "tests/lab/lock",
    ),
}
"""Tests of what the lock stands on, by the beginning of a path."""

SECONDS = 900
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def copy_of_project(directory: Path) -> None:
    """Copy every file that git tracks, or would track."""
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, directory / name)


def looked_for(mutant: Mutant, copy: Path) -> str:
    """Return the first test that notices the bug; empty when none does. The copy is restored afterwards."""
    changed = sources(mutant, copy)
    before = {path: (copy / path).read_text(encoding="utf-8") for path in changed}
    try:
        for path, text in changed.items():
            (copy / path).write_text(text, encoding="utf-8")
        return next((found for place in places(mutant) if (found := _first_failure(copy, place))), "")
    finally:
        for path, text in before.items():
            (copy / path).write_text(text, encoding="utf-8")


def places(mutant: Mutant) -> tuple[str, ...]:
    """The tests that may notice it, in their order."""
    if mutant.ring is not Ring.ADAPTERS:
        return OF_THE_LOCK
    paths = {change.path for change in mutant.changes}
    return next(tests for begins, tests in BESIDE.items() if all(path.startswith(begins) for path in paths))


def _first_failure(copy: Path, place: str) -> str:
    command = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", place)
    try:
        ran = subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"{place} does not come to an end"
    if ran.returncode == 0:
        return ""
    found = _FAILED.search(ran.stdout)
    return found[1] if found else f"{place}, which cannot be run: {ran.stdout[-300:]}"
