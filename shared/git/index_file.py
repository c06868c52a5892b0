"""An index of known files, written as git writes it, without a process; git writes those with unusual names.

The format is https://git-scm.com/docs/index-format, version 2.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import anyio.to_thread

from shared.filesystem import directories
from shared.git import names, plain_checkout
from shared.git.command import Git
from shared.git.tree_files import TreeFile

MOST_FILES = 20_000
"""Number of files above which an index is left to git."""

_LONGEST_NAME = 0xFFF
"""Largest path length that its twelve bits hold; a longer path ends at its NUL."""

_UNKNOWN = (0,) * 9
"""Unknown times, device, inode, owner and size: they make git look at each file."""


async def begin(git: Git, commit_or_tree: str, listed: Sequence[TreeFile], index: Path) -> None:
    """Make the index of a commit or tree that was `listed`, which knows no file on the disk; nothing is there yet.

    Raises `CommandFailed` if git does not accept the tree.
    """
    if not _are_ordinary(listed):
        await git.run("read-tree", names.oid(commit_or_tree), index=index)
        return
    await anyio.to_thread.run_sync(directories.write, index, written(listed))


def _are_ordinary(listed: Sequence[TreeFile]) -> bool:
    """Return whether these are few files with SHA-1 ids, in git's order, with names that git takes everywhere."""
    if len(listed) > MOST_FILES or any(len(file.oid) != 40 for file in listed):
        return False
    paths = [file.path for file in listed]
    parts = {part for path in paths for part in path.split("/")} - {".gitattributes"}
    above, folders = set[str](), {path.rpartition("/")[0] for path in paths}
    while folders := folders - above:
        above |= folders
        folders = {folder.rpartition("/")[0] for folder in folders}
    order = [path.encode("utf-8", "surrogateescape") for path in paths]
    return (
        all(plain_checkout.is_plain_name(part) for part in parts)
        and above.isdisjoint(paths)
        and all(one < other for one, other in pairwise(order))
    )


def written(listed: Sequence[TreeFile], tree: Path | None = None) -> bytes:
    """Return the index of these files, which are in git's order and named by SHA-1.

    With `tree`, where they have just been laid out, git takes them for unchanged; raises `OSError` if one is missing.
    """
    body = b"".join([struct.pack(">4sLL", b"DIRC", 2, len(listed)), *_entries(listed, tree)])
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def _entries(listed: Sequence[TreeFile], tree: Path | None) -> Iterator[bytes]:
    for file in listed:
        path = file.path.encode("utf-8", "surrogateescape")
        mode = int(file.mode, 8)
        facts = _UNKNOWN if tree is None else _stat_facts((tree / file.path).lstat())
        entry = struct.pack(">10L", *facts[:6], mode, *facts[6:]) + bytes.fromhex(file.oid)
        entry += struct.pack(">H", min(len(path), _LONGEST_NAME)) + path
        yield entry + b"\0" * (8 - len(entry) % 8)


def _stat_facts(found: os.stat_result) -> tuple[int, ...]:
    """Return the facts that show git an unchanged file; it compares the content of files no older than the index."""
    times = (*divmod(found.st_ctime_ns, 10**9), *divmod(found.st_mtime_ns, 10**9))
    facts = (*times, found.st_dev, found.st_ino, found.st_uid, found.st_gid, found.st_size)
    return tuple(fact & 0xFFFFFFFF for fact in facts)
