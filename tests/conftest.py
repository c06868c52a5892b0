"""Fixtures of every ring. Because this file is here, tests import what stands beside it (`judge`, `lab_scene`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # imported when used: most unit tests need neither HTTP nor the description
    from judge import Judge
    from lab_scene import Scene


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
