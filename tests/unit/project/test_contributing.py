"""The paths that CONTRIBUTING.md and AGENTS.md name: each exists, and the maps of rooms with many files are whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PATH = re.compile(r"`((?:[a-z_]+/)+(?:[a-z_]+\.(?:py|yml|md))?|(?:[a-z_]+/)+[a-z_]+\.(?:py|yml|md))`")
BELOW = (".", "worker_agent/tdd", "lab/github", "shared/llm", "console", "planner_agent")
"""Directories to which the paths in a list of steps may be relative."""


def named(text: str) -> list[str]:
    """Return every path in backquotes, without those with a placeholder or a pattern."""
    return PATH.findall(text)


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "AGENTS.md"])
def test_every_path_that_is_named_exists(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    paths = named(text)
    assert len(paths) > {"CONTRIBUTING.md": 60, "AGENTS.md": 3}[document]
    assert [path for path in paths if not any((ROOT / place / path).exists() for place in BELOW)] == []


def test_a_path_that_is_gone_would_be_noticed() -> None:
    assert named("see `config/no_such.py`, `lab/trouble/` and `<name>_runner.py`") == [
        "config/no_such.py",
        "lab/trouble/",
    ]


@pytest.mark.parametrize("room", ["shared/git", "shared/github", "runtime/building", "runtime/daemon"])
def test_a_room_of_many_files_names_each_of_them(room: str) -> None:
    described = set(re.findall(r"`(\w+)`", (ROOT / room / "__init__.py").read_text(encoding="utf-8")))
    files = {file.stem for file in (ROOT / room).glob("*.py")} - {"__init__"}
    assert sorted(files - described) == []
