"""Small, plain trees laid out without a process, as git lays them out; everything else is left to git.

Plain are files, programs and links of ordinary names, without attributes: nothing that git would convert, refuse or
make something else of. The directory is ours alone while they are written, and links come last, so none is followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import anyio.to_thread

from shared.filesystem.disk_space import no_room
from shared.git import failures, objects, tree_files
from shared.git.command import Git
from shared.git.patch_policy import GITLINK, SYMLINK
from shared.git.tree_files import PROGRAM, TreeFile

MOST_FILES = 500
"""With more files a process is faster."""

MOST_BYTES = 4 * 2**20
"""Larger trees are not held in memory."""

LONGEST_LINK = 1000
"""Bytes of where a link leads; a longer one is left to git."""

_NAME = re.compile(r"[A-Za-z0-9_.@+=, -]*[A-Za-z0-9_@+=-]")
"""No file system makes another name of such a one."""

_KNOWN = {".gitignore", ".gitkeep", ".github"}
"""The names that may begin like git's own directory; `.gitattributes` is not among them."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


async def plain(git: Git, commit_or_tree: str) -> tuple[tuple[TreeFile, bytes], ...] | None:
    """All that is in a small, plain commit or tree, with what it holds; None for any other."""
    listed = await tree_files.few(git, commit_or_tree)
    if listed is None or len(listed) > MOST_FILES or not are_plain(listed):
        return None
    sizes = await objects.sizes(git, {file.oid for file in listed})
    if sum(sizes.get(file.oid, MOST_BYTES + 1) for file in listed) > MOST_BYTES:
        return None
    contents = await objects.read(git, [file.oid for file in listed])
    found = tuple([(file, content) for file, content in zip(listed, contents, strict=True) if content is not None])
    leads = [content for file, content in found if file.mode == SYMLINK]
    is_whole = len(found) == len(listed) and all(0 < len(to) <= LONGEST_LINK and b"\0" not in to for to in leads)
    return found if is_whole else None


def are_plain(listed: Sequence[TreeFile]) -> bool:
    """Whether all names are ordinary, also on a disk that does not tell small letters from capitals (pure)."""
    paths = [PurePosixPath(file.path) for file in listed]
    above = {parent for path in paths for parent in path.parents}
    parts = {part for path in paths for part in path.parts}
    alone = {str(path).casefold() for path in (*paths, *above)}
    return (
        all(file.mode != GITLINK for file in listed)
        and all(_is_plain_name(part) for part in parts)
        and not any(file.mode == SYMLINK and file.path.rpartition("/")[2] in _KNOWN for file in listed)
        and len(alone) == len(paths) + len(above)
    )


def _is_plain_name(name: str) -> bool:
    return name in _KNOWN or (_NAME.fullmatch(name) is not None and not name.casefold().startswith(".git"))


async def lay_out(git: Git, commit_or_tree: str, target: Path) -> tuple[TreeFile, ...] | None:
    """Write a small, plain commit or tree into the empty directory `target`; what was written.

    None for any other, of which nothing is written. Raises `DiskFull`, and `CommandFailed` where something is in the
    way.
    """
    found = await plain(git, commit_or_tree)
    if found is None:
        return None
    try:
        await anyio.to_thread.run_sync(_write, target, found)
    except OSError as error:
        raise no_room(error, target) or failures.unwritten(error) from error
    return tuple([file for file, _ in found])


def _write(target: Path, found: Sequence[tuple[TreeFile, bytes]]) -> None:
    for folder in sorted({parent for file, _ in found for parent in PurePosixPath(file.path).parents}):
        (target / folder).mkdir(exist_ok=folder == PurePosixPath("."))
    for file, content in sorted(found, key=lambda one: one[0].mode == SYMLINK):
        path = target / file.path
        if file.mode == SYMLINK:
            path.symlink_to(os.fsdecode(content))
            continue
        descriptor = os.open(path, _NEW, 0o777 if file.mode == PROGRAM else 0o666)
        with os.fdopen(descriptor, "wb") as writer:
            writer.write(content)
