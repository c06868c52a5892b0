"""Files that a hostile program leaves in a directory, for tests of all code that reads or removes such directories."""

from __future__ import annotations

import os
import socket
from pathlib import Path

DEPTH = 2_500
"""Levels: more than Python's stack has, and a path of more bytes than the kernel takes at once."""


STACK = 1_100
"""Levels: more than Python's stack has; for tests that need no path beyond what the kernel takes."""


def deep(root: Path, levels: int = DEPTH) -> None:
    """Make nested directories `levels` deep, with a file of 5,000 bytes in the last one."""
    root.mkdir()
    inside = os.open(root, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=inside)
        below = os.open("d", os.O_RDONLY, dir_fd=inside)
        os.close(inside)
        inside = below
    with os.fdopen(os.open("leaf", os.O_CREAT | os.O_WRONLY, dir_fd=inside), "wb") as file:
        file.write(b"x" * 5_000)
    os.close(inside)


def odd(root: Path, outside: Path) -> None:
    """Make a directory with everything else that one can hold."""
    root.mkdir()
    os.mkfifo(root / "pipe")
    inside = os.open(root, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"/proc/self/fd/{inside}/socket")
    os.close(inside)
    with (root / "sparse").open("wb") as file:
        file.truncate(2**40)
    (root / "dangling").symlink_to("nowhere")
    (root / "loop").symlink_to("loop")
    (root / "out").symlink_to(outside)
    (root / "outside").hardlink_to(outside / "file")
    Path(os.fsdecode(os.fsencode(root) + b"/\xff\xfe-no-utf-8")).mkdir()
    Path(os.fsdecode(os.fsencode(root) + b"/\xff\xfe-no-utf-8/\xff\n")).touch()
    for name, mode in (("unread", 0o300), ("unwritten", 0o500), ("closed", 0o000)):
        (root / name / "below").mkdir(parents=True)
        (root / name / "below" / "file").touch()
        (root / name / "below").chmod(mode)
        (root / name).chmod(mode)
