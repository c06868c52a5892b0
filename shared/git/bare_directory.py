"""Bare git directories without a process: made as git makes them, and the count of loose objects in one."""

from __future__ import annotations

import re
from pathlib import Path

_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"

_DIRECTORIES = ("objects/info", "objects/pack", "refs/heads", "refs/tags")

_FAN = re.compile(r"[0-9a-f]{2}")
_LOOSE = re.compile(r"[0-9a-f]{38}(?:[0-9a-f]{24})?")


def make(git_dir: Path) -> None:
    """Make an empty one, as `git init --bare --template=`; raises `OSError`, also if the directory exists."""
    git_dir.mkdir(parents=True)
    for name in _DIRECTORIES:
        (git_dir / name).mkdir(parents=True)
    (git_dir / "config").write_text(_CONFIG, encoding="ascii")
    (git_dir / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")  # last: now it is one


def lying_about(git_dir: Path) -> tuple[int, int]:
    """Return the numbers of loose objects and of packs, as `git count-objects`; raises `OSError`."""
    objects = git_dir / "objects"
    fans = [path for path in objects.iterdir() if _FAN.fullmatch(path.name)]
    loose = sum(_LOOSE.fullmatch(path.name) is not None for fan in fans for path in fan.iterdir())
    return loose, sum(path.suffix == ".pack" for path in (objects / "pack").iterdir())
