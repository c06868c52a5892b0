"""The work tree of a coder: files of one commit, and a throw-away `.git` of that commit alone that shares nothing.

It is made before any child has been there. What small, plain trees need is written here; only the pack is git's.
"""

from __future__ import annotations

from pathlib import Path

import anyio.to_thread

from shared.filesystem import directories
from shared.filesystem.disk_space import no_room
from shared.git import failures, history, index_file, plain_checkout
from shared.git.command import Git

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
    listed = await plain_checkout.lay_out(git, commit, tree) if len(commit) == 40 else None
    if listed is None:
        await _by_git(git, commit, tree)
        return
    (made,) = await history.log(git, commit, 1)
    index = index_file.written(listed)
    try:
        await anyio.to_thread.run_sync(_write, tree / ".git", commit, bool(made.parents), index)
    except OSError as error:
        raise no_room(error, tree) or failures.unwritten(error) from error
    # A pack of its own: a file that is linked from two places would be changed in both.
    verb = ("pack-objects", "--revs", "--window=0", "-q", str(tree / ".git" / "objects" / "pack" / "pack"))
    await git.run(*verb, stdin=f"--shallow {commit}\n{commit}\n".encode())


async def _by_git(git: Git, commit: str, tree: Path) -> None:
    inner = git.at(tree / ".git")
    await inner.init(bare=False)
    await inner.fetch(git.git_dir, f"{commit}:refs/heads/{BRANCH}", options=("--depth=1",))
    await inner.run("checkout", "--quiet", "--force", BRANCH, work_tree=tree)


def _write(git_dir: Path, commit: str, has_parents: bool, index: bytes) -> None:
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
        (git_dir / folder).mkdir(parents=True)
    files = {"HEAD": f"ref: refs/heads/{BRANCH}\n", "config": _CONFIG, f"refs/heads/{BRANCH}": f"{commit}\n"}
    if has_parents:
        files["shallow"] = f"{commit}\n"
    for name, text in files.items():
        directories.write(git_dir / name, text.encode())
    directories.write(git_dir / "index", index)
