"""The files of a commit or tree, read through the reader that stays open; large trees are listed by git."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shared.git import loose_objects, names, objects
from shared.git.command import Git
from shared.git.failures import TooMuchOutput
from shared.git.loose_objects import TreeEntry
from shared.git.names import fields
from shared.git.patch_policy import GITLINK, SYMLINK

MOST_TREES = 256
"""Number of directories above which a tree is left to git."""

MOST_BYTES = 2**20
"""Bytes of all tree objects together above which a tree is left to git."""

FILE, PROGRAM = "100644", "100755"
"""The modes of files beside `SYMLINK`, and `GITLINK` for a submodule."""

_DIRECTORY = "40000"


class TreeFile(NamedTuple):
    """One file, link or submodule."""

    mode: str
    oid: str
    path: str


async def listed(git: Git, revision: str) -> tuple[TreeFile, ...]:
    """Return all files of a commit or tree, in git's order; bytes that are not UTF-8 come as surrogates.

    Raises `CommandFailed` for one that is not here, and `TooMuchOutput` above 16 MiB.
    """
    found = await few(git, revision)
    if found is not None:
        return found.files
    ask = git.settled if names.are_oids(revision) else git.run
    rows = fields((await ask("ls-tree", "-r", "-z", "--full-tree", names.revision(revision))).stdout)
    split = [(facts.split(), path) for facts, _, path in (row.partition("\t") for row in rows)]
    return tuple(TreeFile(mode, oid, path) for (mode, _, oid), path in split)


@dataclass(frozen=True, slots=True)
class FewFiles:
    """A small tree: its files in git's order, and the trees that hold them by their ids."""

    files: tuple[TreeFile, ...]
    trees: Mapping[str, bytes]


async def few(git: Git, revision: str) -> FewFiles | None:
    """List without a process; None if git has to be asked: it is not here, large, or no tree that git makes."""
    top = await objects.peeled(git, revision, "tree") if git.has_readers else None
    if top is None:
        return None
    found: list[TreeFile] = []
    trees: dict[str, bytes] = {}
    level, seen, weight = [("", top)], 0, 0
    while level:
        seen += len(level)
        contents = await _contents(git, [oid for _, oid in level]) if seen <= MOST_TREES else None
        weight += sum(map(len, contents or ()))
        if contents is None or weight > MOST_BYTES:
            return None
        below: list[tuple[str, str]] = []
        for (above, oid), content in zip(level, contents, strict=True):
            trees[oid] = content
            entries = _entries(content, len(top) // 2)
            if entries is None:
                return None
            found += [TreeFile(e.mode, e.oid, above + e.name) for e in entries if e.mode != _DIRECTORY]
            below += [(f"{above}{e.name}/", e.oid) for e in entries if e.mode == _DIRECTORY]
        level = below
    return FewFiles(tuple(sorted(found, key=lambda one: _bytes(one.path))), trees)


async def _contents(git: Git, oids: Sequence[str]) -> list[bytes] | None:
    try:
        found = await objects.whole(git, oids)
    except TooMuchOutput:
        return None
    trees = [content for one in found if one is not None for kind, content in (one,) if kind == b"tree"]
    return trees if len(trees) == len(oids) else None


def _entries(content: bytes, oid_bytes: int) -> tuple[TreeEntry, ...] | None:
    """Return the lines of a tree as git makes it, else None: ordered, each name once, of the modes used today."""
    try:
        entries = loose_objects.entries(content, oid_bytes)
    except ValueError:
        return None
    order = [_bytes(f"{entry.name}/" if entry.mode == _DIRECTORY else entry.name) for entry in entries]
    is_plain = {entry.mode for entry in entries} <= {FILE, PROGRAM, SYMLINK, GITLINK, _DIRECTORY}
    is_ordered = order == sorted(order) and len({entry.name for entry in entries}) == len(entries)
    return entries if is_plain and is_ordered and _are_names(entry.name for entry in entries) else None


def _are_names(found: Iterable[str]) -> bool:
    return all(name and "/" not in name for name in found)


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
