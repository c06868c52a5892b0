"""A change whose proof is in doubt, examined."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from doubts_corpus import Project
from toolchain import needed, toolchain_environment
from verify_scene import repository

from shared.git.command import Git
from shared.specification import Specification
from worker_agent.policy import SuitePolicy
from worker_agent.tdd.runners.test_bench import TestBench
from worker_agent.verify.clone import brought, cloned
from worker_agent.verify.repeat import Ask, Repeat, Repeated

DEADLINE_SECONDS = 300.0

NOTHING_ASKED = Specification("")


async def proved(
    place: Path, project: Project, change: Mapping[str, str], specification: Specification = NOTHING_ASKED
) -> Repeated:
    """Examine one change to a project in a separate clone, and return the proof."""
    needed(*project.programs)
    bare = place / "shop.git"
    base, head = await repository(bare, project.base, change)
    mirror, space = await cloned(Git(bare, toolchain_environment()), str(bare), place / "work")
    for commit in (base, head):
        assert await brought(mirror, commit)
    ask = Ask(base, head, (SuitePolicy("", project.command),), specification)
    return await Repeat(mirror, space, TestBench(toolchain_environment(), DEADLINE_SECONDS), ask).examined()
