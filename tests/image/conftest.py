"""The image, built once for all tests; where it cannot be built, they are skipped, unless everything is required."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from image import building
from image.building import Image

NEEDED = ("buildah", "debootstrap", "systemd-nspawn", "nsenter", "setpriv")


@pytest.fixture(scope="session")
def built() -> None:
    """Build the engine's image in the store."""
    missing = [program for program in NEEDED if shutil.which(program) is None]
    if missing or os.getuid() != 0:
        pytest.skip(f"only root can build and start images, and needs {', '.join(NEEDED)}; missing: {missing}")
    building.PLACE.mkdir(parents=True, exist_ok=True)
    building.make_base()
    building.build(building.ENGINE, building.ROOT, building.ROOT / "Dockerfile")


def _mounted(name: str) -> Iterator[Image]:
    container, image = building.mounted(name)
    try:
        yield image
    finally:
        building.discard(container)


@pytest.fixture(scope="session")
def image(built: None) -> Iterator[Image]:
    """Yield the engine's image, mounted."""
    yield from _mounted(building.ENGINE)


@pytest.fixture(scope="session")
def machine(built: None) -> Iterator[Image]:
    """Yield the image of a machine with systemd and the units, installed as the documentation says."""
    building.build(building.BOOTED, building.ROOT / "deploy" / "systemd", Path(__file__).with_name("booted.Dockerfile"))
    yield from _mounted(building.BOOTED)
