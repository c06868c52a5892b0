"""Cells of each mode. Without bubblewrap the tests of the sealed one are skipped, unless everything is required."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.cell import NONE, SEALED, Cell
from shared.sandbox.confinement import Isolation, Wrap
from shared.sandbox.self_test import diagnosis, tried

NOBODY = 65534


@pytest.fixture
async def sealed(tmp_path: Path) -> Cell:
    """Return a cell in mode `bubblewrap`; skip the test if it does not work here."""
    if why := diagnosis(await tried(SEALED, {"PATH": os.environ["PATH"]})):
        pytest.skip(why[0])
    return Cell(tmp_path, SEALED)


@pytest.fixture
def open_cell(tmp_path: Path) -> Cell:
    """Return a cell in mode `none`: the control, in which the same programs do their harm."""
    return Cell(tmp_path, NONE)


@pytest.fixture
def shared_cell() -> Iterator[Cell]:
    """Yield a cell in mode `container`, with another account of this machine; needs root rights to change accounts."""
    if os.getuid() != 0:
        pytest.skip("only root may run a command as another account")
    root = Path(tempfile.mkdtemp())
    root.chmod(0o755)
    try:
        yield Cell(root, Wrap(Isolation.OS_USER, os_user=(NOBODY, NOBODY)), python="/usr/bin/python3")
    finally:
        shutil.rmtree(root)
