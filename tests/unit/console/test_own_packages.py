"""Another project's `config` or `shared` before the engine's own is told in one sentence, and is no traceback."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from runtime.own_packages import foreign
from shared.process import run

ROOT = Path(__file__).parents[3]


def test_the_own_ones_and_none_are_fine(tmp_path: Path) -> None:
    assert foreign(ROOT, [str(tmp_path), str(ROOT)]) == ""
    assert foreign(ROOT, [str(tmp_path)]) == "", "installed in a way that needs no search path"


@pytest.mark.parametrize("name", ["config", "shared"])
@pytest.mark.parametrize("program", ["console", "worker_agent", "planner_agent", "reviewer_agent"])
async def test_a_foreign_one_is_named(tmp_path: Path, name: str, program: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("")
    assert f"'{name}'" in foreign(ROOT, [str(tmp_path), str(ROOT)])
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    done = await run((sys.executable, "-m", program, "--version"), cwd=tmp_path, env=env)
    (sentence,) = done.stderr.decode().splitlines()
    assert done.code == 2
    assert sentence.startswith(f"Another package called '{name}' ({tmp_path / name}) stands before the engine's own")


@pytest.mark.parametrize("program", ["console", "worker_agent", "planner_agent", "reviewer_agent"])
async def test_a_foreign_runtime_is_told_before_anything_of_it_is_needed(tmp_path: Path, program: str) -> None:
    (tmp_path / "runtime.py").write_text("")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    done = await run((sys.executable, "-m", program, "--version"), cwd=tmp_path, env=env)
    (sentence,) = done.stderr.decode().splitlines()
    assert done.code == 2
    assert sentence.startswith(f"Another package called 'runtime' ({tmp_path / 'runtime.py'}) stands before")


def test_every_program_says_it_in_the_same_words() -> None:
    """No program may import a file of ours for the message, as it may be a stranger's; so each contains the words."""
    programs = ("console", "planner_agent", "worker_agent", "reviewer_agent")
    texts = {(ROOT / one / "__main__.py").read_text(encoding="utf-8") for one in programs}
    lines = [{line for line in text.splitlines() if "INSTEAD" in line} for text in texts]
    assert lines[0] != set()
    assert all(one == lines[0] for one in lines)
