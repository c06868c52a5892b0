"""The small project that the demo lets the engine work on: the files of `lab/demo_project/`, as data."""

from __future__ import annotations

from pathlib import Path

CHECK_COMMAND = "python ci/check.py"
"""Command of the project's CI; `python` needs pytest."""

_ROOT = Path(__file__).parent / "demo_project"


def files() -> dict[str, str]:
    """Path in the repository -> text of every file of the project."""
    paths = sorted(path for path in _ROOT.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(_ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}
