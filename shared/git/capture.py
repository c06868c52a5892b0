"""Turning a work tree that a coder or a test has written into a tree object, without trusting a byte of it.

git is pointed at the tree from outside: no file in it is read as configuration. Its own ignore
files do not count either, only those of the base commit, so a new `.gitignore` hides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import anyio.to_thread

from shared.filesystem import directories
from shared.git import objects
from shared.git.command import Git
from shared.git.output import fields, joined
from shared.git.patch_policy import GITLINK, SYMLINK, PatchRefusal, PatchRefused
from shared.process import CommandFailed

ISSUE_IMAGES = ".issue-images"
"""Where in a tree the engine lays the images of an issue for its coder: never a part of the change."""

EXCLUDED = (
    *(".venv", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "*.pyc", ".env*"),
    *("*.egg-info", ".coverage", "coverage.xml", "junit*.xml"),
    f"/{ISSUE_IMAGES}",
)
"""New files of these names are never taken, whatever the repository says: environments, caches, secrets, reports."""

MAX_NEW_BYTES = 64 * 2**20
"""More than this in new files, or added to old ones, is refused before git reads it."""


async def capture(git: Git, tree: Path, base: str, scratch: Path) -> str:
    """The id of a tree object with the content of `tree`; `base` is the commit that it started from.

    `scratch` is an empty directory of ours. An embedded repository comes out as a GITLINK entry and a
    link as SYMLINK, for the patch policy to refuse. Raises `PatchRefused` for what no tree can hold.
    """
    index = scratch / "index"
    await git.run("read-tree", base, index=index)
    listed = await _listed(git, base)
    await _pin_submodules(git, tree, listed, index)
    await anyio.to_thread.run_sync(_weigh_growth, tree, _sizes(listed))
    await _record(git, "add", "--update", tree=tree, index=index)
    new = await _untracked(git, tree, index)
    kept = await _not_ignored(git, new, listed, scratch)
    await anyio.to_thread.run_sync(_weigh, tree, kept)
    await _stage(git, kept, base, tree, index)
    return (await git.run("write-tree", index=index)).text


class _Entry(NamedTuple):
    """One file, link or submodule of the base; a submodule has no size."""

    mode: str
    oid: str
    size: str
    path: str


async def _listed(git: Git, base: str) -> list[_Entry]:
    """Everything that the base holds, as the index that was made of it does."""
    rows = fields((await git.settled("ls-tree", "-r", "-l", "-z", "--full-tree", base)).stdout)
    split = [(facts.split(), path) for facts, _, path in (row.partition("\t") for row in rows)]
    return [_Entry(mode, oid, size, path) for (mode, _, oid, size), path in split]


async def _pin_submodules(git: Git, tree: Path, listed: Sequence[_Entry], index: Path) -> None:
    """Keep git away from a submodule's directory.

    `git add` would look for changes in there by a `git status` of its own, which obeys the
    submodule's configuration: a `filter.*.clean` written by a child would run as us.
    """
    pinned = [entry.path for entry in listed if entry.mode == GITLINK]
    if pinned:
        verb = ("update-index", "--skip-worktree", "-z", "--stdin")
        await git.run(*verb, stdin=joined(pinned), work_tree=tree, index=index)


def _sizes(listed: Sequence[_Entry]) -> dict[str, int]:
    """The bytes of every file and link of the base."""
    return {entry.path: int(entry.size) for entry in listed if entry.mode != GITLINK}


async def _untracked(git: Git, tree: Path, index: Path) -> tuple[str, ...]:
    """New files, and with a slash at the end embedded repositories; no ignore file of the tree is read."""
    excluded = [f"--exclude={pattern}" for pattern in EXCLUDED]
    finished = await git.run("ls-files", "--others", "-z", *excluded, work_tree=tree, index=index)
    return fields(finished.stdout)


async def _not_ignored(git: Git, paths: Sequence[str], listed: Sequence[_Entry], scratch: Path) -> list[str]:
    """Those that the base commit's ignore files, laid out in a directory of ours, do not exclude."""
    rules = scratch / "rules"
    await _lay_out_rules(git, listed, rules)
    # A directory that is not there has no type; a file inside it makes git see one.
    asked = {f"{path}x" if path.endswith("/") else path: path for path in paths}
    verb = ("check-ignore", "--no-index", "-z", "--stdin")
    finished = await git.run(*verb, stdin=joined(list(asked)), work_tree=rules, ok=(0, 1))
    ignored = set(fields(finished.stdout))
    return [path for question, path in asked.items() if question not in ignored]


async def _lay_out_rules(git: Git, listed: Sequence[_Entry], rules: Path) -> None:
    named = [entry for entry in listed if entry.path.rpartition("/")[2] == ".gitignore"]
    wanted = {entry.path: entry.oid for entry in named if entry.mode not in (SYMLINK, GITLINK)}
    contents = await objects.read(git, list(wanted.values()))
    await anyio.to_thread.run_sync(directories.renew, rules)
    for path, content in zip(wanted, contents, strict=True):
        await anyio.to_thread.run_sync(directories.write, rules / path, content or b"")


async def _stage(git: Git, paths: Sequence[str], base: str, tree: Path, index: Path) -> None:
    files = [path for path in paths if not path.endswith("/")]
    embedded = [path.rstrip("/") for path in paths if path.endswith("/")]
    rows = [f"{GITLINK} {base} 0\t{path}" for path in embedded]
    add = ("update-index", "--add", "--replace", "-z")
    if files:
        await _record(git, *add, "--stdin", stdin=joined(files), tree=tree, index=index)
    if rows:
        await _record(git, *add, "--index-info", stdin=joined(rows), tree=tree, index=index)
    # git leaves out, with a warning only, what it thinks unsafe to check out (a directory `.GIT`).
    taken = set(fields((await git.run("ls-files", "-z", index=index)).stdout))
    left = [path for path in (*files, *embedded) if path not in taken]
    if left:
        raise PatchRefused([PatchRefusal(path, "git refuses to record this path.") for path in left])


async def _record(git: Git, *verb: str, tree: Path, index: Path, stdin: bytes = b"") -> None:
    try:
        await git.run(*verb, stdin=stdin, work_tree=tree, index=index)
    except CommandFailed as error:  # a pipe where a file was, a file that may not be read
        said = error.finished.stderr.decode("utf-8", "replace").strip()
        raise PatchRefused([PatchRefusal("", f"git cannot record the tree: {said[-500:]}")]) from error


def _weigh(tree: Path, paths: Sequence[str]) -> None:
    size = sum((tree / path).lstat().st_size for path in paths)
    if size > MAX_NEW_BYTES:
        raise PatchRefused([PatchRefusal("", f"New files of {size} bytes are more than {MAX_NEW_BYTES}.")])


def _weigh_growth(tree: Path, sizes: Mapping[str, int]) -> None:
    """Before git reads the tracked files: one grown to a hole of terabytes would keep it busy for days."""
    growth = sum(max(0, _size(tree / path) - size) for path, size in sizes.items())
    if growth > MAX_NEW_BYTES:
        raise PatchRefused([PatchRefusal("", f"Files grown by {growth} bytes are more than {MAX_NEW_BYTES}.")])


def _size(path: Path) -> int:
    """In bytes; 0 for what is no longer there, or is below something that is no directory now."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0
