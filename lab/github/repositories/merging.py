"""The three ways GitHub merges, as plumbing on a bare repository: no work tree, no index.

Each function returns the new commit, which no ref names yet, or None when there is a conflict.
"""

from __future__ import annotations

from lab.github.repositories import git_objects
from lab.github.repositories.changes import LOG_FORMAT, CommitInfo, commits, git_date
from lab.github.repositories.git_command import GITHUB, Git, signed
from shared.process import CommandFailed

_CONFLICT = 1
"""Exit code of `git merge-tree` when the merge has conflicts; any other than 0 is a fault."""


async def merged_tree(git: Git, ours: str, theirs: str) -> str | None:
    """The tree of a three-way merge of two commits, or None when it conflicts."""
    finished = await git.run("merge-tree", "--write-tree", "--no-messages", ours, theirs)
    if finished.code not in {0, _CONFLICT}:
        raise CommandFailed(finished)
    return finished.text if finished.code == 0 else None


async def merge_commit(
    git: Git, base: str, head: str, message: str, author: tuple[str, str], *, squash: bool = False
) -> str | None:
    """A commit with both parents, also where git could fast-forward; with `squash` the base is its only parent."""
    tree = await merged_tree(git, base, head)
    parents = (base,) if squash else (base, head)
    return tree and await _commit(git, tree, parents, message, signed(author, GITHUB))


async def rebased(git: Git, base: str, head: str, committer: tuple[str, str]) -> str | None:
    """The commits of the head, without merges, one by one on top of the base; authors and their dates stay."""
    log = await git.check("log", "-z", "--reverse", "--topo-order", "--no-merges", LOG_FORMAT, f"{base}..{head}")
    tip = base
    for commit in commits(log.stdout):
        picked = await _pick(git, tip, commit, committer)
        if picked is None:
            return None
        tip = picked
    return tip


async def _pick(git: Git, onto: str, commit: CommitInfo, committer: tuple[str, str]) -> str | None:
    """`commit` again on `onto`. git 2.39 cannot be told a merge base, so the target is hung below its parent."""
    stand_in = await _commit(git, f"{onto}^{{tree}}", commit.parents, "stand-in", signed(GITHUB, GITHUB))
    tree = await merged_tree(git, stand_in, commit.sha)
    author = (commit.author.name, commit.author.email)
    identity = signed(author, committer, git_date(commit.author))
    return tree and await _commit(git, tree, (onto,), commit.message, identity)


async def _commit(git: Git, tree: str, parents: tuple[str, ...], message: str, identity: dict[str, str]) -> str:
    return await git_objects.commit_tree(git, tree, parents, f"{message.rstrip()}\n", identity)
