"""The demo project's own virtual environment: made once, with the network; everything after is offline.

The image comes with one, so that nothing is fetched there.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import anyio.to_thread

from shared import process
from shared.errors import Blocked

REQUIREMENT = "pytest>=8.3,<10"
"""Requirement of the project's tests."""

BUNDLED = Path(sys.prefix) / "share" / "workflow-engine" / "demo" / "env"
"""The environment that came with this installation, if one did."""


class SetUpFailed(Blocked):
    """The demo project's environment could not be made."""


def python_in(environment: Path) -> Path:
    """The interpreter of a virtual environment."""
    return environment / "bin" / "python"


async def prepared(place: Path, variables: Mapping[str, str], bundled: Path = BUNDLED) -> Path:
    """The bundled environment, or the one at `place`, made unless it is complete.

    Raises `SetUpFailed` with pip's last words.
    """
    ready = place / ".ready"
    for environment in (bundled, place):
        if await anyio.Path(environment / ".ready").exists():
            return environment
    await anyio.to_thread.run_sync(lambda: shutil.rmtree(place, ignore_errors=True))
    commands = (
        (sys.executable, "-m", "venv", str(place)),
        (str(python_in(place)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", REQUIREMENT),
    )
    for argv in commands:
        finished = await process.run(argv, cwd=place.parent, env=variables)
        if finished.code != 0:
            said = (finished.stderr or finished.stdout).decode("utf-8", "replace").strip()[-500:]
            raise SetUpFailed(f"The demo project's environment could not be made ({' '.join(argv[1:4])}): {said}")
    await anyio.Path(ready).touch()
    return place
