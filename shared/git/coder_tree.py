"""The work tree of a coder: files of one commit, and a throw-away `.git` of that commit alone that shares nothing.

It is made before any child has been there. Small, plain trees are written here, object by object, without hard links:
a file with two names would be changed under both.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from shared.filesystem import directories
from shared.git import history, index_file, loose_objects, objects, plain_checkout
from shared.git.command import Git, write_below
from shared.git.plain_checkout import PlainTree

BRANCH = "work"

_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
"""


async def make(git: Git, commit: str, tree: Path) -> None:
    """Fill the empty directory `tree` with a commit of `git`; raises `DiskFull` and `CommandFailed`."""
    found = await plain_checkout.lay_out(git, commit, tree) if len(commit) == 40 else None
    if found is None:
        await _by_git(git, commit, tree)
        return
    (made,) = await history.log(git, commit, 1)
    (whole,) = await objects.whole(git, [commit])
    content = whole[1] if whole is not None else b""
    await write_below(tree, partial(_write, tree / ".git", commit, content, found, bool(made.parents)))


async def _by_git(git: Git, commit: str, tree: Path) -> None:
    inner = git.at(tree / ".git")
    await inner.init(bare=False)
    await inner.fetch(git.git_dir, f"{commit}:refs/heads/{BRANCH}", options=("--depth=1",))
    await inner.run("checkout", "--quiet", "--force", BRANCH, work_tree=tree)


def _write(git_dir: Path, commit: str, content: bytes, found: PlainTree, is_later: bool) -> None:
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
        (git_dir / folder).mkdir(parents=True)
    loose_objects.copy(git_dir, "commit", commit, content)
    for oid, tree in found.trees.items():
        loose_objects.copy(git_dir, "tree", oid, tree)
    for oid, blob in found.blobs().items():
        loose_objects.copy(git_dir, "blob", oid, blob)
    files = {"HEAD": f"ref: refs/heads/{BRANCH}\n", "config": _CONFIG, f"refs/heads/{BRANCH}": f"{commit}\n"}
    if is_later:  # its parents are not here
        files["shallow"] = f"{commit}\n"
    for name, text in files.items():
        directories.write(git_dir / name, text.encode())
    directories.write(git_dir / "index", index_file.written(found.files, git_dir.parent))
