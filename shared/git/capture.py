"""Turning a work tree that a coder or a test has written into a tree object, without trusting a byte of it.

git is pointed at the tree from outside: no file in it is read as configuration. Its own ignore
files do not count either, only those of the base commit, so a new `.gitignore` hides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio.to_thread

from shared.filesystem import directories
from shared.git import objects
from shared.git.command import Git
from shared.git.output import fields, joined
from shared.git.patch_policy import GITLINK, SYMLINK, PatchRefused, Refusal
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
    await _pin_submodules(git, tree, index)
    sizes = await _sizes(git, base)
    await anyio.to_thread.run_sync(_weigh_growth, tree, sizes)
    await _record(git, "add", "--update", tree=tree, index=index)
    new = await _untracked(git, tree, index)
    kept = await _not_ignored(git, new, base, scratch)
    await anyio.to_thread.run_sync(_weigh, tree, kept)
    await _stage(git, kept, base, tree, index)
    return (await git.run("write-tree", index=index)).text


async def _pin_submodules(git: Git, tree: Path, index: Path) -> None:
    """Keep git away from a submodule's directory.

    `git add` would look for changes in there by a `git status` of its own, which obeys the
    submodule's configuration: a `filter.*.clean` written by a child would run as us.
    """
    entries = fields((await git.run("ls-files", "--stage", "-z", index=index)).stdout)
    pinned = [entry.partition("\t")[2] for entry in entries if entry.startswith(GITLINK)]
    if pinned:
        verb = ("update-index", "--skip-worktree", "-z", "--stdin")
        await git.run(*verb, stdin=joined(pinned), work_tree=tree, index=index)


async def _sizes(git: Git, base: str) -> dict[str, int]:
    """The bytes of every file and link of the base."""
    rows = fields((await git.run("ls-tree", "-r", "-l", "-z", "--full-tree", base)).stdout)
    facts = {path: row.split() for row, _, path in (entry.partition("\t") for entry in rows)}
    return {path: int(size) for path, (mode, _, _, size) in facts.items() if mode != GITLINK}


async def _untracked(git: Git, tree: Path, index: Path) -> tuple[str, ...]:
    """New files, and with a slash at the end embedded repositories; no ignore file of the tree is read."""
    excluded = [f"--exclude={pattern}" for pattern in EXCLUDED]
    finished = await git.run("ls-files", "--others", "-z", *excluded, work_tree=tree, index=index)
    return fields(finished.stdout)


async def _not_ignored(git: Git, paths: Sequence[str], base: str, scratch: Path) -> list[str]:
    """Those that the base commit's ignore files, laid out in a directory of ours, do not exclude."""
    rules = scratch / "rules"
    await _lay_out_rules(git, base, rules)
    # A directory that is not there has no type; a file inside it makes git see one.
    asked = {f"{path}x" if path.endswith("/") else path: path for path in paths}
    verb = ("check-ignore", "--no-index", "-z", "--stdin")
    finished = await git.run(*verb, stdin=joined(list(asked)), work_tree=rules, ok=(0, 1))
    ignored = set(fields(finished.stdout))
    return [path for question, path in asked.items() if question not in ignored]


async def _lay_out_rules(git: Git, base: str, rules: Path) -> None:
    rows = fields((await git.run("ls-tree", "-r", "-z", "--full-tree", base)).stdout)
    listed = [row.partition("\t") for row in rows if row.endswith(".gitignore")]
    found = {path: facts.split(" ")[2] for facts, _, path in listed if not facts.startswith(SYMLINK)}
    wanted = {path: oid for path, oid in found.items() if path.rpartition("/")[2] == ".gitignore"}
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
        raise PatchRefused([Refusal(path, "git refuses to record this path.") for path in left])


async def _record(git: Git, *verb: str, tree: Path, index: Path, stdin: bytes = b"") -> None:
    try:
        await git.run(*verb, stdin=stdin, work_tree=tree, index=index)
    except CommandFailed as error:  # a pipe where a file was, a file that may not be read
        said = error.finished.stderr.decode("utf-8", "replace").strip()
        raise PatchRefused([Refusal("", f"git cannot record the tree: {said[-500:]}")]) from error


def _weigh(tree: Path, paths: Sequence[str]) -> None:
    size = sum((tree / path).lstat().st_size for path in paths)
    if size > MAX_NEW_BYTES:
        raise PatchRefused([Refusal("", f"New files of {size} bytes are more than {MAX_NEW_BYTES}.")])


def _weigh_growth(tree: Path, sizes: Mapping[str, int]) -> None:
    """Before git reads the tracked files: one grown to a hole of terabytes would keep it busy for days."""
    growth = sum(max(0, _size(tree / path) - size) for path, size in sizes.items())
    if growth > MAX_NEW_BYTES:
        raise PatchRefused([Refusal("", f"Files grown by {growth} bytes are more than {MAX_NEW_BYTES}.")])


def _size(path: Path) -> int:
    """In bytes; 0 for what is no longer there, or is below something that is no directory now."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0
