"""Small, plain trees laid out without a process, as git lays them out; everything else is left to git.

Plain are files, programs and links of ordinary names, without attributes: nothing that git would convert, refuse or
make something else of. Nothing is written over existing files, and no link is followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from shared.filesystem import directories
from shared.git import objects, tree_files
from shared.git.command import Git, write_below
from shared.git.patch_policy import GITLINK, SYMLINK
from shared.git.tree_files import PROGRAM, TreeFile

MOST_FILES = 500
"""Number of files above which a process is faster."""

MOST_BYTES = 4 * 2**20
"""Bytes above which a tree is not held in memory."""

LONGEST_LINK = 1000
"""Most bytes of a link's target; a longer one is left to git."""

_NAME = re.compile(r"[A-Za-z0-9_.@+=, -]*[A-Za-z0-9_@+=-]")
"""Names that no file system changes into others."""

_KNOWN = {".gitignore", ".gitkeep", ".github"}
"""Names that may begin like git's own directory; `.gitattributes` is not among them."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class PlainTree:
    """A small, plain tree with all that it holds."""

    files: tuple[TreeFile, ...]
    contents: tuple[bytes, ...]
    trees: Mapping[str, bytes]

    def blobs(self) -> dict[str, bytes]:
        """Return the content of each file and link by its id."""
        return {file.oid: content for file, content in zip(self.files, self.contents, strict=True)}


async def plain(git: Git, commit_or_tree: str) -> PlainTree | None:
    """Return a small, plain commit or tree; None for any other."""
    found = await tree_files.few(git, commit_or_tree)
    if found is None or len(found.files) > MOST_FILES or not are_plain(found.files):
        return None
    sizes = await objects.sizes(git, {file.oid for file in found.files})
    if sum(sizes.get(file.oid, MOST_BYTES + 1) for file in found.files) > MOST_BYTES:
        return None
    read = await objects.read(git, [file.oid for file in found.files])
    contents = tuple([content for content in read if content is not None])
    leads = [content for file, content in zip(found.files, read, strict=True) if file.mode == SYMLINK and content]
    links = sum(file.mode == SYMLINK for file in found.files)
    if len(contents) < len(read) or len(leads) < links or any(len(to) > LONGEST_LINK or b"\0" in to for to in leads):
        return None
    return PlainTree(found.files, contents, found.trees)


def are_plain(listed: Sequence[TreeFile]) -> bool:
    """Return whether all names are ordinary, also on a disk that ignores letter case (pure)."""
    paths = [PurePosixPath(file.path) for file in listed]
    above = {parent for path in paths for parent in path.parents}
    parts = {part for path in paths for part in path.parts}
    alone = {str(path).casefold() for path in (*paths, *above)}
    return (
        all(file.mode != GITLINK for file in listed)
        and all(is_plain_name(part) for part in parts)
        and not any(file.mode == SYMLINK and file.path.rpartition("/")[2] in _KNOWN for file in listed)
        and len(alone) == len(paths) + len(above)
    )


def is_plain_name(name: str) -> bool:
    """Return whether git and all file systems keep one part of a path unchanged (pure)."""
    return name in _KNOWN or (_NAME.fullmatch(name) is not None and not name.casefold().startswith(".git"))


async def lay_out(git: Git, commit_or_tree: str, target: Path) -> PlainTree | None:
    """Write a small, plain commit or tree into the empty directory `target`; return what was written.

    None for any other, of which nothing is written. Raises `DiskFull`, and `CommandFailed` if something is in the
    way.
    """
    found = await plain(git, commit_or_tree)
    if found is not None:
        await write_below(target, partial(_write, target, found))
    return found


def _write(target: Path, found: PlainTree) -> None:
    """Enter each directory by its descriptor: a link that a living child puts in its place is not followed."""
    inside: dict[tuple[str, ...], list[tuple[TreeFile, bytes]]] = {(): []}
    for file, content in zip(found.files, found.contents, strict=True):
        parts = tuple(file.path.split("/")[:-1])
        for depth in range(len(parts)):
            inside.setdefault(parts[: depth + 1], [])
        inside[parts].append((file, content))
    with directories.open_directory(target) as top:
        for parts in sorted(inside):
            if parts:
                with _below(top, parts[:-1]) as folder:
                    os.mkdir(parts[-1], dir_fd=folder)
            with _below(top, parts) as folder:
                for file, content in inside[parts]:
                    _make(file, content, folder)


def _make(file: TreeFile, content: bytes, folder: int) -> None:
    name = file.path.rpartition("/")[2]
    if file.mode == SYMLINK:
        os.symlink(os.fsdecode(content), name, dir_fd=folder)
        return
    descriptor = os.open(name, _NEW, 0o777 if file.mode == PROGRAM else 0o666, dir_fd=folder)
    with os.fdopen(descriptor, "wb") as writer:
        writer.write(content)


@contextmanager
def _below(top: int, parts: Sequence[str]) -> Iterator[int]:
    """Yield the directory at the end of these names."""
    with ExitStack() as entered:
        here = top
        for part in parts:
            here = entered.enter_context(directories.open_directory(part, here))
        yield here
