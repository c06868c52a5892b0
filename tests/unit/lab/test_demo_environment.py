"""The source of the environment for the demonstration's project."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.demo.environment import SetUpFailed, prepared


def complete(place: Path) -> Path:
    place.mkdir()
    (place / ".ready").touch()
    return place


async def test_what_came_with_the_installation_is_taken_before_what_was_made(tmp_path: Path) -> None:
    bundled, made = complete(tmp_path / "bundled"), complete(tmp_path / "made")
    assert await prepared(made, {}, bundled) == bundled


async def test_what_was_made_once_is_not_made_again(tmp_path: Path) -> None:
    made = complete(tmp_path / "made")
    assert await prepared(made, {}, tmp_path / "none") == made


async def test_what_cannot_be_made_is_told_with_the_installers_last_words(tmp_path: Path) -> None:
    (tmp_path / "made").touch()
    with pytest.raises(SetUpFailed, match="could not be made"):
        await prepared(tmp_path / "made", {"PATH": "/nonexistent"}, tmp_path / "none")
