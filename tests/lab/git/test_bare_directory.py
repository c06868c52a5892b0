"""Bare git directories that are made and counted without a process, beside git's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_remote import ENVIRONMENT, listing

from shared.git import bare_directory
from shared.git.command import Git


def _directories(top: Path) -> set[str]:
    return {str(path.relative_to(top)) for path in top.rglob("*") if path.is_dir()}


async def test_it_is_what_git_makes(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.git", tmp_path / "theirs.git"
    bare_directory.make(ours)
    await Git(theirs, ENVIRONMENT).init()
    assert listing(ours) == listing(theirs)
    assert _directories(ours) == _directories(theirs)
    await Git(ours, ENVIRONMENT).run("fsck", "--strict")


async def test_nothing_is_written_over(tmp_path: Path) -> None:
    await Git(tmp_path / "there.git", ENVIRONMENT).init()
    (tmp_path / "there.git" / "HEAD").write_text("ref: refs/heads/topic\n")
    with pytest.raises(FileExistsError):
        bare_directory.make(tmp_path / "there.git")
    assert (tmp_path / "there.git" / "HEAD").read_text() == "ref: refs/heads/topic\n"


async def test_it_counts_what_git_counts(tmp_path: Path) -> None:
    git = Git(tmp_path / "counted.git", ENVIRONMENT)
    bare_directory.make(git.git_dir)
    assert bare_directory.lying_about(git.git_dir) == (0, 0)
    oids = [await git.store("blob", f"{number}\n".encode()) for number in range(20)]
    (git.git_dir / "objects" / oids[0][:2] / "tmp_obj_left").touch()
    assert bare_directory.lying_about(git.git_dir) == await _by_git(git) == (20, 0)
    await git.run("pack-objects", "--quiet", str(git.git_dir / "objects/pack/pack"), stdin="\n".join(oids).encode())
    assert bare_directory.lying_about(git.git_dir) == await _by_git(git) == (20, 1)
    await git.run("prune-packed")
    assert bare_directory.lying_about(git.git_dir) == await _by_git(git) == (0, 1)


async def _by_git(git: Git) -> tuple[int, int]:
    told = dict(line.split(": ") for line in (await git.run("count-objects", "-v")).text.splitlines())
    return int(told["count"]), int(told["packs"])
