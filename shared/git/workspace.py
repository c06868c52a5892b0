"""The directories in which one issue is worked on, and the clean git directory that reads and writes them.

`git` is the daemon's own and never visible to a child. `tree`, `evidence` and `base` are shown to
children and share no object with it; the daemon runs no git inside them once a child has been there.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal

import anyio.to_thread

from shared.filesystem import directories
from shared.git import (
    capture,
    changes,
    history,
    index_file,
    linked_objects,
    loose_objects,
    names,
    objects,
    plain_checkout,
    ref_files,
)
from shared.git.command import Git, Identity, Signature, write_below
from shared.git.mirror import BRANCHES, Mirror, clear_locks, forget
from shared.git.patch_policy import PathChange
from shared.git.plain_checkout import PlainTree
from shared.lock.port import RefUpdate

Place = Literal["evidence", "base", "moved"]
"""Directory for a checked-out commit: `moved` is another path, for results that must not depend on the path."""


_HEADS = "refs/heads/"

_CODERS_BRANCH = "work"

_CODERS_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
"""

_MADE = "refs/made/head"
"""Ref of the newest commit that was made here and pushed; no other directory has this ref."""


class Workspace:
    """One issue's directories below `root` (`names.workspace_path`); only the lease's holder uses them."""

    def __init__(self, root: Path, mirror: Mirror, identity: Identity) -> None:
        self.root = root.absolute()
        self.tree = self.root / "tree"
        self.git: Git = mirror.git.at(self.root / "git")
        self._mirror = mirror
        self._identity = identity

    @classmethod
    async def open(
        cls, root: Path, mirror: Mirror, identity: Identity, *, commit: str = "", ref: str = ""
    ) -> Workspace:
        """Open the workspace at `root` with all branches of the mirror; make it if it is not there.

        A `commit` comes with them as by `bring`, and the mirror's value of a `ref`, its notes, say; a ref that the
        mirror does not have is deleted here too.
        """
        workspace = cls(root, mirror, identity)
        is_there = await anyio.to_thread.run_sync(workspace._prepare)
        if not is_there:
            await workspace._clone()
        with_ref = bool(ref) and await mirror.sha(names.ref(ref)) is not None
        wanted = [*([names.oid(commit)] if commit else []), *([f"+{ref}:{ref}"] if with_ref else [])]
        if (is_there or wanted) and not await workspace._has_all(commit, ref if with_ref else ""):
            await workspace.git.fetch(mirror.git.git_dir, BRANCHES, *wanted, options=("--prune",))
        if ref and not with_ref:
            await forget(workspace.git, ref)
        return workspace

    async def bring(self, commit: str) -> None:
        """Fetch a commit of the mirror; raises `NoSuchRef` if the mirror does not have it."""
        await self.git.fetch(self._mirror.git.git_dir, names.oid(commit))

    async def note(self, commit: str, moves: Sequence[RefUpdate]) -> None:
        """Note that a push has moved these refs to `commit`, or to a note on it, which were made here, without a fetch.

        A ref that cannot be written stays behind until it is fetched.
        """
        for move in (*moves, RefUpdate(_MADE, None, commit)):
            await anyio.to_thread.run_sync(ref_files.move, self.git.git_dir, move.ref, move.new)

    async def reset_tree(self, commit: str) -> Path:
        """Make a fresh `tree` at a commit, with a throw-away `.git` of that commit that shares no object with ours."""
        await anyio.to_thread.run_sync(directories.renew, self.tree)
        await _make_coder_tree(self.git, names.oid(commit), self.tree)
        return self.tree

    async def capture(self, base: str) -> str:
        """Return a tree object of what `tree` holds now; `base` is its first commit. See `capture.capture`."""
        async with self._scratch() as scratch:
            return await capture.capture(self.git, self.tree, names.oid(base), scratch)

    async def commit(self, tree: str, parents: Sequence[str], message: str, at: datetime) -> str:
        """Commit a tree object as the engine at server time `at`; returns the commit id, moves no ref."""
        return await self.git.commit(tree, parents, message, Signature(self._identity, at))

    async def tree_of(self, commit: str) -> str:
        """Return the tree object of a commit; raises `CommandFailed` if it is not here."""
        return await objects.tree_of(self.git, names.oid(commit))

    async def with_file(self, commit: str, path: str, content: bytes) -> str:
        """Return the tree of a commit in which one file, which it has, holds `content`; its mode stays."""
        listed = (await self.git.settled("ls-tree", "-z", "--full-tree", names.oid(commit), path)).stdout
        blob = (await self.git.run("hash-object", "-w", "--stdin", stdin=content)).text
        entry = listed.partition(b" ")[0] + f" {blob}\t{path}\0".encode("utf-8", "surrogateescape")
        async with self._scratch() as scratch:
            index = scratch / "index"
            await self.git.run("read-tree", commit, index=index)
            await self.git.run("update-index", "-z", "--index-info", stdin=entry, index=index)
            return (await self.git.run("write-tree", index=index)).text

    async def checkout(self, commit_or_tree: str, into: Place) -> Path:
        """Write exactly this commit or tree, and no `.git`, into a fresh directory."""
        target = await anyio.to_thread.run_sync(directories.renew, self.root / into)
        await self.export(commit_or_tree, target)
        return target

    async def export(self, commit_or_tree: str, target: Path) -> None:
        """Write exactly this commit or tree, and no `.git`, into the empty directory `target`."""
        if await plain_checkout.lay_out(self.git, names.oid(commit_or_tree), target) is not None:
            return
        async with self._scratch() as scratch:  # nothing is known of any file: each is made, none written over
            verb = ("read-tree", "-m", "-u", names.oid(commit_or_tree))
            await self.git.run(*verb, work_tree=target, index=scratch / "index")

    async def changes(self, old: str, new: str) -> tuple[PathChange, ...]:
        """Return the difference between two commits or trees, for the patch policy."""
        return await changes.between(self.git, old, new)

    async def diff(self, old: str, new: str) -> str:
        """Return the difference as a unified diff."""
        return await changes.diff(self.git, old, new)

    async def _has_all(self, commit: str, ref: str) -> bool:
        """Return whether nothing has to be fetched: all branches, the ref and the commit are here as in the mirror."""
        heads = [await anyio.to_thread.run_sync(ref_files.below, git_dir, _HEADS) for git_dir in self._both()]
        if heads[0] is None or heads[0] != heads[1]:
            return False
        if ref and await objects.peeled(self.git, ref, "commit") != await self._mirror.sha(ref):
            return False
        # git moves a branch only when all that it leads to is here; of another commit some may be missing.
        return not commit or commit in heads[0].values() or commit == await objects.peeled(self.git, _MADE, "commit")

    def _both(self) -> tuple[Path, Path]:
        return self.git.git_dir, self._mirror.git.git_dir

    async def _clone(self) -> None:
        fresh = self.git.at(self.root / "git.new")
        theirs = self._mirror.git.git_dir
        async with self._mirror.lock.held():
            if not await anyio.to_thread.run_sync(linked_objects.clone, theirs, fresh.git_dir):
                await anyio.to_thread.run_sync(directories.remove, fresh.git_dir)
                await fresh.clone(theirs)
        await anyio.to_thread.run_sync(fresh.git_dir.rename, self.git.git_dir)

    def _prepare(self) -> bool:
        """Remove what an interrupted run left; return whether the git directory is there."""
        self.root.mkdir(parents=True, exist_ok=True)
        os.utime(self.root)  # in use now, see `disk`
        clear_locks(self.git.git_dir)
        directories.remove(self.root / "git.new")
        for left in self.root.glob("scratch-*"):
            directories.remove(left)
        return (self.git.git_dir / "HEAD").is_file()

    @asynccontextmanager
    async def _scratch(self) -> AsyncIterator[Path]:
        path = Path(await anyio.to_thread.run_sync(lambda: tempfile.mkdtemp(prefix="scratch-", dir=self.root)))
        try:
            yield path
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(directories.remove, path)


async def _make_coder_tree(git: Git, commit: str, tree: Path) -> None:
    """Fill the empty directory `tree` with a commit of `git`, and a throw-away `.git` of it alone that shares nothing.

    No child has been there yet. Small, plain trees are written here, object by object, without hard links: a file with
    two names would be changed under both. Raises `DiskFull` and `CommandFailed`.
    """
    found = await plain_checkout.lay_out(git, commit, tree) if len(commit) == 40 else None
    if found is None:
        await _check_out(git, commit, tree)
        return
    (made,) = await history.log(git, commit, 1)
    (whole,) = await objects.whole(git, [commit])
    content = whole[1] if whole is not None else b""
    await write_below(tree, partial(_write_coder_tree, tree / ".git", commit, content, found, bool(made.parents)))


async def _check_out(git: Git, commit: str, tree: Path) -> None:
    inner = git.at(tree / ".git")
    await inner.init(bare=False)
    await inner.fetch(git.git_dir, f"{commit}:refs/heads/{_CODERS_BRANCH}", options=("--depth=1",))
    await inner.run("checkout", "--quiet", "--force", _CODERS_BRANCH, work_tree=tree)


def _write_coder_tree(git_dir: Path, commit: str, content: bytes, found: PlainTree, is_later: bool) -> None:
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
        (git_dir / folder).mkdir(parents=True)
    loose_objects.copy(git_dir, "commit", commit, content)
    for oid, tree in found.trees.items():
        loose_objects.copy(git_dir, "tree", oid, tree)
    for oid, blob in found.blobs().items():
        loose_objects.copy(git_dir, "blob", oid, blob)
    files = {
        "HEAD": f"ref: refs/heads/{_CODERS_BRANCH}\n",
        "config": _CODERS_CONFIG,
        f"refs/heads/{_CODERS_BRANCH}": f"{commit}\n",
    }
    if is_later:  # its parents are not here
        files["shallow"] = f"{commit}\n"
    for name, text in files.items():
        directories.write(git_dir / name, text.encode())
    directories.write(git_dir / "index", index_file.written(found.files, git_dir.parent))
