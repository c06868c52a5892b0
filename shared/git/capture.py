"""The capture of a work tree that a coder or a test has written as a tree object, without trusting a byte of it.

git is pointed at the tree from outside: no file in it is read as configuration. Its own ignore
files do not count either, only those of the base commit, so a new `.gitignore` hides nothing.
"""

from __future__ import annotations

import stat
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath

import anyio.to_thread

from shared.filesystem import directories
from shared.git import index_file, objects, tree_files
from shared.git.command import Git
from shared.git.names import fields, joined
from shared.git.patch_policy import GITLINK, SYMLINK, PatchRefusal, PatchRefused
from shared.git.tree_files import TreeFile
from shared.process import CommandFailed

ISSUE_IMAGES = ".issue-images"
"""Directory in a tree in which the engine lays the images of an issue for its coder: never a part of the change."""

EXCLUDED = (
    *(".venv", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "*.pyc", ".env*"),
    *("*.egg-info", ".coverage", "coverage.xml", "junit*.xml"),
    f"/{ISSUE_IMAGES}",
)
"""Patterns of new files that are never taken, whatever the repository says: environments, caches, secrets, reports."""

ASKED_ONE_BY_ONE = 2000
"""Number of files above which one command returns the sizes sooner."""

MAX_NEW_BYTES = 64 * 2**20
"""Most bytes in new files, or added to old ones; more is refused before git reads it."""


async def capture(git: Git, tree: Path, base: str, scratch: Path) -> str:
    """Return the id of a tree object with the content of `tree`; `base` is the commit that it started from.

    `scratch` is an empty directory of ours. An embedded repository comes out as a GITLINK entry and a
    link as SYMLINK, for the patch policy to refuse. Raises `PatchRefused` for files that no tree can hold.
    """
    index = scratch / "index"
    listed = await tree_files.listed(git, base)
    await index_file.begin(git, base, listed, index)
    await _pin_submodules(git, tree, listed, index)
    sizes = await _sizes(git, base, listed)
    is_plain = await anyio.to_thread.run_sync(_weigh_growth, tree, sizes)
    if not is_plain:
        await _record(git, "add", "--update", tree=tree, index=index)
    new = await _new_files(git, tree, listed, index, scratch)
    await anyio.to_thread.run_sync(_weigh, tree, new)
    await _stage(git, [*(sizes if is_plain else ()), *new], base, tree, index)
    captured = (await git.run("write-tree", index=index)).text
    # git leaves out, with a warning only, what it thinks unsafe to check out (a directory `.GIT`).
    if left := await objects.absent(git, captured, [path.rstrip("/") for path in new]):
        raise PatchRefused([PatchRefusal(path, "git refuses to record this path.") for path in left])
    return captured


async def _pin_submodules(git: Git, tree: Path, listed: Sequence[TreeFile], index: Path) -> None:
    """Keep git away from a submodule's directory.

    `git add` would look for changes in there by a `git status` of its own, which obeys the
    submodule's configuration: a `filter.*.clean` written by a child would run as us.
    """
    pinned = [entry.path for entry in listed if entry.mode == GITLINK]
    if pinned:
        verb = ("update-index", "--skip-worktree", "-z", "--stdin")
        await git.run(*verb, stdin=joined(pinned), work_tree=tree, index=index)


async def _sizes(git: Git, base: str, listed: Sequence[TreeFile]) -> dict[str, int]:
    """Return the bytes of every file and link of the base."""
    if len(listed) > ASKED_ONE_BY_ONE:
        rows = fields((await git.settled("ls-tree", "-r", "-l", "-z", "--full-tree", base)).stdout)
        split = [(facts.split(), path) for facts, _, path in (row.partition("\t") for row in rows)]
        return {path: int(size) for (mode, _, _, size), path in split if mode != GITLINK}
    files = [file for file in listed if file.mode != GITLINK]
    sizes = await objects.sizes(git, {file.oid for file in files})
    return {file.path: sizes.get(file.oid, 0) for file in files}


async def _new_files(git: Git, tree: Path, listed: Sequence[TreeFile], index: Path, scratch: Path) -> list[str]:
    """Return new files, and embedded repositories with a slash at the end, that the base does not ignore.

    No ignore file of the tree is read, only those of the base commit, laid out in a directory of ours.
    """
    rules = scratch / "rules"
    laid = await _lay_out_rules(git, listed, rules)
    if all("/" not in path for path in laid):  # git takes one from anywhere, but without those below it
        return list(await _untracked_files(git, tree, index, *[f"--exclude-from={rules / path}" for path in laid]))
    return await _not_ignored(git, await _untracked_files(git, tree, index), rules)


async def _untracked_files(git: Git, tree: Path, index: Path, *ignored: str) -> tuple[str, ...]:
    excluded = [f"--exclude={pattern}" for pattern in EXCLUDED]
    finished = await git.run("ls-files", "--others", "-z", *excluded, *ignored, work_tree=tree, index=index)
    return fields(finished.stdout)


async def _not_ignored(git: Git, paths: Sequence[str], rules: Path) -> list[str]:
    # A directory that is not there has no type; a file inside it makes git see one.
    asked = {f"{path}x" if path.endswith("/") else path: path for path in paths}
    verb = ("check-ignore", "--no-index", "-z", "--stdin")
    finished = await git.run(*verb, stdin=joined(list(asked)), work_tree=rules, ok=(0, 1))
    ignored = set(fields(finished.stdout))
    return [path for question, path in asked.items() if question not in ignored]


async def _lay_out_rules(git: Git, listed: Sequence[TreeFile], rules: Path) -> Collection[str]:
    named = [entry for entry in listed if entry.path.rpartition("/")[2] == ".gitignore"]
    wanted = {entry.path: entry.oid for entry in named if entry.mode not in (SYMLINK, GITLINK)}
    contents = await objects.read(git, list(wanted.values()))
    await anyio.to_thread.run_sync(directories.renew, rules)
    for path, content in zip(wanted, contents, strict=True):
        await anyio.to_thread.run_sync(directories.write, rules / path, content or b"")
    return wanted


async def _stage(git: Git, paths: Sequence[str], base: str, tree: Path, index: Path) -> None:
    """Stage these paths as they are now, also deleted ones; those with a slash at the end are embedded repositories."""
    files = [path for path in paths if not path.endswith("/")]
    embedded = [path.rstrip("/") for path in paths if path.endswith("/")]
    rows = [f"{GITLINK} {base} 0\t{path}" for path in embedded]
    add = ("update-index", "--add", "--replace", "-z")
    if files:
        verb = (*add, "--remove", "--stdin")
        await _record(git, *verb, stdin=joined(files), tree=tree, index=index)
    if rows:
        await _record(git, *add, "--index-info", stdin=joined(rows), tree=tree, index=index)


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


def _weigh_growth(tree: Path, sizes: Mapping[str, int]) -> bool:
    """Refuse too large a growth before git reads tracked files: one grown to a hole of terabytes would take it days.

    True if each is there or gone and none has a link above it, so that git can be told their paths; and no
    repository stands where one of them or a directory of theirs was, of which git makes a GITLINK only by itself.
    """
    found = {path: _size(tree / path) for path in sizes}
    growth = sum(max(0, (found[path] or 0) - size) for path, size in sizes.items())
    if growth > MAX_NEW_BYTES:
        raise PatchRefused([PatchRefusal("", f"Files grown by {growth} bytes are more than {MAX_NEW_BYTES}.")])
    folders = {PurePosixPath(folder) for folder in {path.rpartition("/")[0] for path in sizes} if folder}
    above = {parent for folder in folders for parent in (folder, *folder.parents)}
    is_plain = None not in found.values() and not any(stat.S_ISLNK(_mode(tree / parent)) for parent in above)
    instead = [PurePosixPath(path) for path in sizes if stat.S_ISDIR(_mode(tree / path))]
    inside = [tree / place / ".git" for place in (*instead, *above) if place.parts]
    return is_plain and all(_is_gone(path) for path in inside)


def _size(path: Path) -> int | None:
    """Return the size in bytes; 0 if it is gone, or below something that is no directory now; None if unknown."""
    try:
        return path.lstat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError:
        return None


def _mode(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def _is_gone(path: Path) -> bool:
    """Return whether certainly nothing is there, not even a path that may not be looked at."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        pass
    return False
