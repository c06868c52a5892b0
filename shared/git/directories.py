"""Removing and making directories into which a hostile child may have written: no link is ever followed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def remove(path: Path) -> None:
    """Remove whatever is at `path`, also when a child took away its own permissions; nothing there is fine."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        try:
            shutil.rmtree(path)
        except PermissionError:
            _permit(path)
            shutil.rmtree(path)


def renew(path: Path) -> Path:
    """An empty directory at `path`, whatever was there before."""
    remove(path)
    path.mkdir(parents=True)
    return path


def write(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Write a new file below a directory that is ours alone; raises FileExistsError when there is one.

    With `durable` it is on the disk before this returns.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        if durable:
            file.flush()
            os.fsync(descriptor)


def _permit(path: Path) -> None:
    path.chmod(0o700)
    for directory, names, _ in os.walk(path):
        for child in (Path(directory, name) for name in names):
            if not child.is_symlink():
                child.chmod(0o700)
