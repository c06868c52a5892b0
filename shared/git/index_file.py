"""An index of known files, written without a process: as `git read-tree` leaves it, which knows no file on the disk.

The format is https://git-scm.com/docs/index-format, version 2.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import anyio.to_thread

from shared.filesystem import directories
from shared.git import names
from shared.git.command import Git
from shared.git.tree_files import TreeFile

MOST_FILES = 20_000
"""An index of more is left to git."""

_LONGEST_NAME = 0xFFF
"""A path's length has twelve bits; a longer one ends at its NUL."""


async def begin(git: Git, commit_or_tree: str, listed: Sequence[TreeFile], index: Path) -> None:
    """Make the index of a commit or tree that was `listed`; nothing is there yet."""
    if len(listed) > MOST_FILES or any(len(file.oid) != 40 for file in listed):
        await git.run("read-tree", names.oid(commit_or_tree), index=index)
        return
    await anyio.to_thread.run_sync(directories.write, index, written(listed))


def written(listed: Sequence[TreeFile]) -> bytes:
    """The index of these files, which are in git's order and named by SHA-1."""
    body = b"".join([struct.pack(">4sLL", b"DIRC", 2, len(listed)), *_entries(listed)])
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def _entries(listed: Sequence[TreeFile]) -> Iterator[bytes]:
    for file in listed:
        path = file.path.encode("utf-8", "surrogateescape")
        # Times, device, inode, owner and size are unknown, so git looks at each file.
        facts = struct.pack(">6L", 0, 0, 0, 0, 0, 0) + struct.pack(">4L", int(file.mode, 8), 0, 0, 0)
        entry = facts + bytes.fromhex(file.oid) + struct.pack(">H", min(len(path), _LONGEST_NAME)) + path
        yield entry + b"\0" * (8 - len(entry) % 8)
