"""One file below a directory that a child could write: found by the names on the way, never by a link."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from shared.filesystem.below import MOST_NAMES, FoundFile, only

STEPS = tuple(map(re.compile, (r"projects", r"[a-z-]+", r"a-1\.jsonl")))


def found(root: Path, most: int = 100) -> FoundFile | None:
    return only(root, STEPS, most=most)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a home with the file."""
    place = tmp_path / "home" / "projects" / "tree"
    place.mkdir(parents=True)
    (place / "a-1.jsonl").write_bytes(b"{}\n\xff")
    (place / "other.jsonl").touch()
    return tmp_path / "home"


def test_it_is_found_by_its_names(home: Path) -> None:
    assert found(home) == FoundFile(("projects", "tree", "a-1.jsonl"), b"{}\n\xff")


def test_of_several_none_is_taken(home: Path) -> None:
    (home / "projects" / "other").mkdir()
    assert found(home) is not None
    (home / "projects" / "other" / "a-1.jsonl").touch()
    assert found(home) is None


@pytest.mark.parametrize("step", [".", "projects", "projects/tree", "projects/tree/a-1.jsonl"])
def test_no_step_is_a_link(home: Path, tmp_path: Path, step: str) -> None:
    away = tmp_path / "away"
    (home / step).rename(away)
    (home / step).symlink_to(away) if step != "." else home.symlink_to(away)
    assert found(home) is None


def test_a_file_that_has_another_name_elsewhere_is_somebody_else_s(home: Path, tmp_path: Path) -> None:
    os.link(home / "projects" / "tree" / "a-1.jsonl", tmp_path / "hard")
    assert found(home) is None


@pytest.mark.parametrize("kind", ["pipe", "directory", "nothing"])
def test_only_a_plain_file_is_read(home: Path, kind: str) -> None:
    file = home / "projects" / "tree" / "a-1.jsonl"
    file.unlink()
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "directory":
        file.mkdir()
    assert found(home) is None


def test_it_is_no_longer_than_is_asked_for(home: Path) -> None:
    assert found(home, most=4) is not None
    assert found(home, most=3) is None
    with (home / "projects" / "tree" / "a-1.jsonl").open("ab") as file:
        file.truncate(2**40)
    assert found(home) is None


def test_who_hides_it_behind_many_names_has_none(home: Path) -> None:
    for number in range(MOST_NAMES + 50):
        (home / "projects" / "tree" / f"{number}").touch()
    names = [entry.name for entry in os.scandir(home / "projects" / "tree")]
    assert (found(home) is not None) == ("a-1.jsonl" in names[:MOST_NAMES])


def test_nothing_is_left_open(home: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        found(home)
        found(home / "nowhere")
        (home / "projects" / "other").mkdir(exist_ok=True)
        (home / "projects" / "other" / "a-1.jsonl").touch()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
