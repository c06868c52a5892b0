"""Git objects of a bare repository, made and read one by one: blobs, trees, commits.

Of the three ways in which GitHub merges each returns the new commit, which no ref names yet, or None when there is a
conflict; there is no work tree and no index.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.github.repositories import changes
from lab.github.repositories.changes import CommitInfo, Signature
from lab.github.repositories.git_command import GITHUB, Git, signed
from shared.process import CommandFailed

TREE_MODES = {"100644": "blob", "100755": "blob", "040000": "tree", "160000": "commit", "120000": "blob"}
"""Mode of a tree's entry -> type of the object that it names."""

_NOTHING = "0" * 40

_CONFLICT = 1
"""Exit code of `git merge-tree` when the merge has conflicts; any other than 0 is a fault."""


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One entry of a tree; `sha` None takes the path away, `size` is a blob's in bytes."""

    path: str
    mode: str
    kind: str
    sha: str | None
    size: int | None = None


async def kind(git: Git, sha: str) -> str | None:
    """blob, tree, commit or tag; None when there is no object of that whole id."""
    if len(sha) != len(_NOTHING) or not set(sha) <= set("0123456789abcdef"):
        return None
    finished = await git.check("cat-file", "--batch-check=%(objecttype)", stdin=f"{sha}\n".encode())
    return None if " " in finished.text else finished.text


async def write_blob(git: Git, content: bytes) -> str:
    """The id of a blob with that content."""
    return (await git.check("hash-object", "-w", "-t", "blob", "--stdin", stdin=content)).text


async def write_tree(git: Git, base: str | None, entries: Sequence[TreeEntry]) -> str | None:
    """The id of a tree: `base` (a tree) with these entries over it; None when git cannot make one of them."""
    with tempfile.TemporaryDirectory() as directory:
        index = {"GIT_INDEX_FILE": str(Path(directory) / "index")}
        if base is not None:
            await git.check("read-tree", base, env=index)
        for entry in entries:
            put = _graft if entry.kind == "tree" and entry.sha is not None else _put
            if not await put(git, entry, index):
                return None
        written = await git.run("write-tree", env=index)
    return written.text if written.code == 0 else None


async def write_commit(
    git: Git, tree: str, parents: Sequence[str], message: str, people: tuple[Signature, Signature]
) -> str:
    """The id of a commit; `people` are its author and its committer with their times."""
    author, committer = people
    variables = signed((author.name, author.email), (committer.name, committer.email), changes.git_date(author))
    variables |= {"GIT_COMMITTER_DATE": changes.git_date(committer)}
    return await commit_tree(git, tree, parents, message, variables)


async def commit_tree(git: Git, tree: str, parents: Sequence[str], message: str, variables: Mapping[str, str]) -> str:
    """The id of a commit that is signed by git's `variables`."""
    pairs = [argument for parent in parents for argument in ("-p", parent)]
    return (await git.check("commit-tree", tree, *pairs, "-F", "-", stdin=message.encode(), env=variables)).text


async def read_tree(git: Git, sha: str, *, recursive: bool) -> list[TreeEntry]:
    """The entries of a tree (or of a commit's tree), with those below them when `recursive`."""
    flags = ("-r", "-t") if recursive else ()
    listing = await git.check("ls-tree", "--long", "-z", *flags, sha)
    return tree_entries(listing.stdout)


def tree_entries(listing: bytes) -> list[TreeEntry]:
    """Parse the output of `git ls-tree --long -z`."""
    return [_entry(line) for line in filter(None, listing.decode("utf-8", "replace").split("\0"))]


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
    return tree and await commit_tree(git, tree, parents, f"{message.rstrip()}\n", signed(author, GITHUB))


async def rebased(git: Git, base: str, head: str, committer: tuple[str, str]) -> str | None:
    """The commits of the head, without merges, one by one on top of the base; authors and their dates stay."""
    log = await git.check(
        "log", "-z", "--reverse", "--topo-order", "--no-merges", changes.LOG_FORMAT, f"{base}..{head}"
    )
    tip = base
    for commit in changes.commits(log.stdout):
        picked = await _pick(git, tip, commit, committer)
        if picked is None:
            return None
        tip = picked
    return tip


async def _put(git: Git, entry: TreeEntry, index: dict[str, str]) -> bool:
    """Set one path, or take it away."""
    mode, sha = ("0", _NOTHING) if entry.sha is None else (entry.mode, entry.sha)
    return await _change_index(git, [f"{mode} {sha}\t{entry.path}"], index)


async def _graft(git: Git, entry: TreeEntry, index: dict[str, str]) -> bool:
    """Hang a whole tree at a path, in place of what was there."""
    old = await git.check("--literal-pathspecs", "ls-files", "-z", "--", entry.path, env=index)
    gone = [f"0 {_NOTHING}\t{path}" for path in old.stdout.decode().split("\0") if path]
    below = [one for one in await read_tree(git, str(entry.sha), recursive=True) if one.kind != "tree"]
    new = [f"{one.mode} {one.sha}\t{entry.path}/{one.path}" for one in below]
    return await _change_index(git, [*gone, *new], index)


async def _change_index(git: Git, lines: Sequence[str], index: dict[str, str]) -> bool:
    """False when git does not take a path: it says so, but exits with 0."""
    stdin = "".join(f"{line}\0" for line in lines).encode()
    finished = await git.run("update-index", "-z", "--add", "--replace", "--index-info", stdin=stdin, env=index)
    return finished.code == 0 and b"Ignoring path" not in finished.stderr


def _entry(line: str) -> TreeEntry:
    facts, _, path = line.partition("\t")
    mode, found, sha, size = facts.split()
    return TreeEntry(path, mode, found, sha, int(size) if size.isdecimal() else None)


async def _pick(git: Git, onto: str, commit: CommitInfo, committer: tuple[str, str]) -> str | None:
    """`commit` again on `onto`. git 2.39 cannot be told a merge base, so the target is hung below its parent."""
    stand_in = await commit_tree(git, f"{onto}^{{tree}}", commit.parents, "stand-in\n", signed(GITHUB, GITHUB))
    tree = await merged_tree(git, stand_in, commit.sha)
    author = (commit.author.name, commit.author.email)
    identity = signed(author, committer, changes.git_date(commit.author))
    return tree and await commit_tree(git, tree, (onto,), f"{commit.message.rstrip()}\n", identity)
