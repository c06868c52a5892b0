"""Fixtures of the lab ring."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from judge import Judge
from lab_scene import Scene, scene_at


@pytest.fixture
async def scene(tmp_path: Path, judge: Judge) -> AsyncIterator[Scene]:
    """A lab with one repository and three people."""
    async with scene_at(tmp_path / "lab", judge) as here:
        yield here
