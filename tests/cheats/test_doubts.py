"""Doubts that no run can decide, in six languages: a cheat is asked about; honest work is neither asked nor refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from doubt_scene import proved
from doubts_corpus import PROJECTS, Project

CHEATS = [(name, cheat) for name, project in PROJECTS.items() for cheat in project.cheats]
HONEST = [(name, way) for name, project in PROJECTS.items() for way in project.honest]


def changed(project: Project, tests: str | None, code: str | None) -> dict[str, str]:
    """Return the files of a change: honest tests and working code, each replaced by an argument that is not None."""
    return {project.test[0]: tests or project.test[1], project.code[0]: code or project.code[1]}


@pytest.mark.parametrize(("name", "cheat"), CHEATS)
async def test_what_may_be_a_cheat_is_asked_about(tmp_path: Path, name: str, cheat: str) -> None:
    project = PROJECTS[name]
    words, tests, code = project.cheats[cheat]
    seen = await proved(tmp_path, project, changed(project, tests, code))
    assert seen.green_verdict.ok, seen.green_verdict.details
    assert any(words in doubt for doubt in seen.proof.doubts), seen.proof


@pytest.mark.parametrize(("name", "way"), HONEST)
async def test_of_honest_work_nothing_is_asked(tmp_path: Path, name: str, way: str) -> None:
    project = PROJECTS[name]
    seen = await proved(tmp_path, project, changed(project, *project.honest[way]))
    assert (seen.red_verdict.worth_implementing, seen.green_verdict.ok) == (True, True), seen
    assert seen.proof.doubts == ()
    assert seen.proof.suite_runs == 2
