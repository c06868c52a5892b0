"""What no run can decide is asked about, in six languages; of honest work nothing is asked, and nothing is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from doubts_corpus import PROJECTS, Project
from toolchain import needed, toolchain_environment
from verify_scene import repository

from shared.git.command import Git
from shared.specification import Specification
from worker_agent.policy import SuitePolicy
from worker_agent.tdd.runners.run import TestBench
from worker_agent.verify.clone import brought, cloned
from worker_agent.verify.repeat import Ask, Repeat, Repeated

DEADLINE_SECONDS = 300.0
NOTHING_ASKED = Specification("")
CHEATS = [(name, cheat) for name, project in PROJECTS.items() for cheat in project.cheats]
HONEST = [(name, way) for name, project in PROJECTS.items() for way in project.honest]


async def proved(
    place: Path, project: Project, change: Mapping[str, str], specification: Specification = NOTHING_ASKED
) -> Repeated:
    """The proof of one change to a project, in a clone of its own."""
    needed(*project.programs)
    bare = place / "shop.git"
    base, head = await repository(bare, project.base, change)
    mirror, space = await cloned(Git(bare, toolchain_environment()), str(bare), place / "work")
    for commit in (base, head):
        assert await brought(mirror, commit)
    ask = Ask(base, head, (SuitePolicy("", project.command),), specification)
    return await Repeat(mirror, space, TestBench(toolchain_environment(), DEADLINE_SECONDS), ask).examined()


def changed(project: Project, tests: str | None, code: str | None) -> dict[str, str]:
    """The files of a change: honest tests and working code, but for what is given instead."""
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
