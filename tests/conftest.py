"""Fixtures of every ring. Because this file is here, tests import what stands beside it (`judge`, `lab_scene`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from required import pytest_make_collect_report, pytest_runtest_makereport

if TYPE_CHECKING:  # imported when used: most unit tests need neither HTTP nor the description
    from engine import Engine
    from judge import Judge
    from lab_scene import Scene

__all__ = ["engine", "judge", "pytest_make_collect_report", "pytest_runtest_makereport", "scene"]


@pytest.fixture
def judge() -> Judge:
    """A judge that has seen nothing yet; let it observe a lab's exchanges."""
    from judge import Judge

    return Judge()


@pytest.fixture
async def scene(tmp_path: Path, judge: Judge) -> AsyncIterator[Scene]:
    """A lab with one repository and three people, every exchange judged."""
    from lab_scene import scene_at

    async with scene_at(tmp_path / "lab", judge) as here:
        yield here


@pytest.fixture
async def engine(tmp_path: Path, judge: Judge) -> AsyncIterator[Engine]:
    """The demo's project in a lab; at the end nothing is left over and every exchange was as GitHub describes it."""
    from engine import Engine

    from lab.server import Lab

    async with Lab(tmp_path / "github") as lab:
        lab.exchanges.observe(judge)
        async with Engine.of(lab, tmp_path, tmp_path / "scenario.yml") as engine:
            yield engine
        assert lab.unlisted == []
        assert lab.faults.unused == []
        assert engine.held_locks() == []
    assert judge.complaints == []
    assert judge.judged > 0
