"""Configuration files, read, and their complaints."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.loading import load
from config.settings import Settings
from shared.errors import Misconfigured

HOME = {"HOME": "/home/ada"}


def read(directory: Path, text: str | bytes, repository: str | None = None) -> Settings:
    file = directory / "repos.yml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return load(Path("repos.yml"), repository=repository, environment=HOME, directory=directory)


def complaints(directory: Path, text: str | bytes) -> list[str]:
    """Return the lines of the message, without the directory."""
    with pytest.raises(Misconfigured) as caught:
        read(directory, text)
    return [line.removeprefix(f"{directory}/") for line in str(caught.value).splitlines()]


ROW = "repositories:\n  - name: a/b\n"
