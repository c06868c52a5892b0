"""A child's remains: removed, walked and read whatever they are; a directory that cannot be removed is moved aside."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hostile_files import STACK, deep, odd
from structlog.testing import capture_logs

from shared.filesystem import directories


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    place = tmp_path / "outside"
    place.mkdir()
    (place / "file").write_text("stays")
    return place


def test_whatever_a_child_leaves_goes_and_nothing_outside_of_it(tmp_path: Path, outside: Path) -> None:
    root = tmp_path / "tree"
    odd(root, outside)
    deep(root / "deep")
    (root / "broad").mkdir()
    for number in range(300):
        (root / "broad" / f"{number}" / "a").mkdir(parents=True)
        (root / "broad" / f"{number}.txt").touch()
    assert directories.remove(root)
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
    assert (outside / "file").read_text() == "stays"


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="from 3.13 on Python itself removes it")
def test_python_alone_does_not_remove_it(tmp_path: Path) -> None:
    deep(tmp_path / "deep", STACK)
    with pytest.raises((RecursionError, OSError)):
        shutil.rmtree(tmp_path / "deep")
    assert directories.remove(tmp_path / "deep")


def test_a_link_is_removed_and_not_what_it_leads_to(tmp_path: Path, outside: Path) -> None:
    (tmp_path / "link").symlink_to(outside)
    assert directories.remove(tmp_path / "link")
    assert directories.remove(tmp_path / "nothing here")
    assert (outside / "file").exists()


def test_a_walk_sees_the_deepest_file_and_enters_no_link(tmp_path: Path, outside: Path) -> None:
    root = tmp_path / "tree"
    odd(root, outside)
    deep(root / "deep")
    sizes = {entry.name: entry.stat(follow_symlinks=False).st_size for entry in directories.walk(root)}
    assert sizes["leaf"] == 5_000
    assert {"file", "pipe", "socket", "sparse", "dangling", "loop"} <= sizes.keys()
    assert not any("outside/file" in entry.path for entry in directories.walk(root))
    assert directories.remove(root)


def test_a_walk_within_short_paths_leaves_the_rest_out(tmp_path: Path) -> None:
    deep(tmp_path / "deep")
    assert all(Path(entry.path).exists() for entry in directories.walk(tmp_path / "deep", deepest=2_000))
    assert directories.remove(tmp_path / "deep")


@contextmanager
def immovable(monkeypatch: pytest.MonkeyPatch, name: str) -> Iterator[None]:
    """Keep a file from being removed, as if it were immutable or on a disk with an error."""
    unlink = os.unlink

    def refusing(path: str, *, dir_fd: int | None = None) -> None:
        if path == name:
            raise PermissionError(1, "Operation not permitted")
        unlink(path, dir_fd=dir_fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refusing)
        yield


def test_what_cannot_be_removed_is_moved_aside_told_once_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "tree"
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "stuck").touch()
    (root / "a" / "goes").touch()
    with immovable(monkeypatch, "stuck"), capture_logs() as logs:
        directories.renew(root)
        directories.retry(tmp_path)
        directories.retry(tmp_path)
    assert list(root.iterdir()) == []
    (aside,) = directories.set_aside(tmp_path)
    assert [path.name for path in aside.rglob("*") if path.is_file()] == ["stuck"]
    assert [(entry["event"], entry["log_level"]) for entry in logs] == [("not_removed", "warning")]
    directories.retry(tmp_path)
    assert directories.set_aside(tmp_path) == ()


def test_a_file_is_read_only_where_it_is_one(tmp_path: Path, outside: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(outside / "file")
    for name in ("pipe", "link", "outside", "nothing"):
        with pytest.raises(OSError, match=r"."):
            directories.open_regular(tmp_path / name)
    with directories.open_regular(outside / "file") as file:
        assert file.read() == b"stays"
