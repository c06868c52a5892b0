"""One real bare repository of the embedded GitHub: refs, history, comparisons, merges.

Whatever changes a ref does so inside `changing`, so that no change goes untold.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import anyio.to_thread

from lab.github.repositories import changes, git_objects
from lab.github.repositories.changes import ChangedFile, CommitInfo
from lab.github.repositories.git_command import GITHUB, Git
from lab.github.repositories.ref_log import RefLog, RefMove
from shared.git import bare_directory, loose_objects, ref_files
from shared.git.loose_objects import Words

pushed_by: ContextVar[str | None] = ContextVar("pushed_by", default=None)
"""While `on_update` runs: the login whose `git push` or API call changed the ref; None when it was neither."""

called_by: ContextVar[str | None] = ContextVar("called_by", default=None)
"""The login whose API call runs."""

ABSENT = "0" * 40
"""Value of `expected` in `update_ref`: the ref must not exist yet."""

CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tfsync = none
[gc]
\tauto = 0
[http]
\treceivepack = true
\tgetanyfile = false
[receive]
\tadvertiseAtomic = true
\tautogc = false
\thideRefs = refs/pull
[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
"""
"""Of every repository here."""

_EXECUTABLE, _ORDINARY, _DIRECTORY = "100755", "100644", "40000"
"""Modes of a tree's entries."""


OnUpdate = Callable[[str, str | None, str | None], Awaitable[None]]
"""Takes the full ref, its old and its new object id; None stands for "does not exist"."""


class Bare:
    """One bare repository; every method may be called by many tasks at once."""

    def __init__(self, path: Path, full_name: str, default_branch: str) -> None:
        self.path = path
        self.full_name = full_name
        self.default_branch = default_branch
        self.on_update: OnUpdate | None = None
        self.log_of_refs: RefLog | None = None
        self.git = Git(path)
        self._changing = anyio.Lock()
        self._telling = anyio.Lock()
        self._untold: deque[tuple[RefMove, str | None]] = deque()
        self._teller: int | None = None

    @classmethod
    async def create(cls, path: Path, full_name: str, default_branch: str, files: Mapping[str, str]) -> Bare:
        """A new repository with one commit of `files` (path -> text) on its default branch; none, no commit."""
        await anyio.to_thread.run_sync(_make, path, default_branch, files)
        return cls(path, full_name, default_branch)

    @classmethod
    async def open(cls, path: Path, full_name: str, default_branch: str) -> Bare:
        """The repository that `create` made at `path`; raises CommandFailed when there is none."""
        bare = cls(path, full_name, default_branch)
        await bare.git.check(f"--git-dir={path}", "rev-parse", "--git-dir")
        return bare

    async def sha(self, ref: str) -> str | None:
        """The object a full ref names, or the commit that a branch, a tag or a commit id names; else None."""
        if "\n" in ref or not ref:
            return None
        tip = ref_files.tip(self.path, ref if ref.startswith("refs/") else f"refs/heads/{ref}")
        if tip or (tip is not None and ref.startswith("refs/")):
            return tip or None
        candidates = [ref]
        if not ref.startswith("refs/"):
            candidates = [f"refs/heads/{ref}^{{commit}}", f"refs/tags/{ref}^{{commit}}", f"{ref}^{{commit}}"]
        finished = await self.git.check("cat-file", "--batch-check=%(objectname)", stdin="\n".join(candidates).encode())
        found = (line for line in finished.text.split("\n") if " " not in line)
        return next(found, None)

    async def refs(self, prefix: str) -> dict[str, str]:
        """Full ref -> object id of every ref whose name starts with `prefix`, in the order of names."""
        directory = prefix[: prefix.rfind("/") + 1] or "refs/"
        found = None if ".." in directory else ref_files.below(self.path, directory)
        if found is None:
            finished = await self.git.check("for-each-ref", "--format=%(refname) %(objectname)", directory)
            rows = (line.split(" ") for line in finished.text.splitlines())
            found = {row[0]: row[1] for row in rows}
        return {ref: found[ref] for ref in sorted(found) if ref.startswith(prefix)}

    async def update_ref(self, ref: str, new: str | None, *, expected: str | None = None) -> bool:
        """Set a full ref, or delete it when `new` is None; `expected` is its value now, or `ABSENT`.

        False when the ref has another value, or git refuses the name or the object.
        """
        change = ["update-ref", "--no-deref", *(("-d", ref) if new is None else (ref, new))]
        async with self.changing():
            finished = await self.git.run(*change, *([] if expected is None else [expected]))
        return finished.code == 0

    async def log(self, base: str | None, head: str, limit: int) -> list[CommitInfo]:
        """At most `limit` commits of `head` that `base` does not have, newest first."""
        commits = head if base is None else f"{base}..{head}"
        arguments = ("-z", f"--max-count={limit}", changes.LOG_FORMAT, "--end-of-options", commits, "--")
        return changes.commits((await self.git.check("log", *arguments)).stdout)

    async def commit(self, sha: str) -> CommitInfo:
        """The commit of that id."""
        return (await self.log(None, sha, 1))[0]

    async def commits(self, shas: Iterable[str]) -> dict[str, CommitInfo]:
        """The commits of these ids that are there, by id."""
        arguments = ("-z", "--no-walk=unsorted", "--ignore-missing", changes.LOG_FORMAT, "--stdin")
        finished = await self.git.check("log", *arguments, stdin="".join(f"{sha}\n" for sha in shas).encode())
        return {info.sha: info for info in changes.commits(finished.stdout)}

    async def merge_base(self, a: str, b: str) -> str | None:
        """The best common ancestor, or None for unrelated histories."""
        return (await self.git.run("merge-base", a, b)).text or None

    async def diff(self, base: str, head: str) -> str:
        """Return the changes of `head` since it left `base`, as a unified diff."""
        finished = await self.git.check("diff", "--find-renames", "--end-of-options", f"{base}...{head}", "--")
        return finished.stdout.decode("utf-8", "replace")

    async def patch(self, base: str, head: str) -> str:
        """Return the commits of `head` that `base` does not have, a mail for each."""
        finished = await self.git.check("format-patch", "--stdout", "--end-of-options", f"{base}..{head}", "--")
        return finished.stdout.decode("utf-8", "replace")

    async def changed_files(self, base: str, head: str) -> list[ChangedFile]:
        """The files of `diff`, in the order of paths."""
        arguments = ("--find-renames", "--raw", "-p", "--no-abbrev", "-z", "--end-of-options", f"{base}...{head}")
        return changes.files((await self.git.check("diff", *arguments, "--")).stdout)

    async def mergeable(self, base: str, head: str) -> bool:
        """Return whether `head` merges into `base` without a conflict."""
        return await git_objects.merged_tree(self.git, base, head) is not None

    async def merge(
        self, base_branch: str, head: str, *, method: str, title: str, message: str, author: tuple[str, str]
    ) -> str | None:
        """Merge `head` into a branch by `method` (merge, squash, rebase) for `author` (name, address).

        The branch's new commit id; None when it conflicts, and then nothing has changed.
        """
        ref = f"refs/heads/{base_branch}"
        text = f"{title}\n\n{message}".strip()
        async with self.changing():
            base = (await self.git.check("rev-parse", "--verify", f"{ref}^{{commit}}")).text
            match method:
                case "merge" | "squash":
                    new = await git_objects.merge_commit(self.git, base, head, text, author, squash=method == "squash")
                case "rebase":
                    new = await git_objects.rebased(self.git, base, head, author)
                case _:
                    raise ValueError(f"Unknown merge method {method!r}.")
            if new is not None:
                await self.git.check("update-ref", ref, new, base)
        return new

    async def read(self, ref: str, path: str) -> bytes | None:
        """A file's content at a branch, tag, full ref or commit; None when either does not exist."""
        commit = await self.sha(ref)
        if commit is None:
            return None
        finished = await self.git.run("cat-file", "blob", f"{commit}:{path}")
        return finished.stdout if finished.code == 0 else None

    async def checkout(self, sha: str, directory: Path) -> None:
        """Write the files of a commit into an empty `directory`, without a `.git`."""
        index = f"{directory}.index"
        places = {"GIT_DIR": str(self.path), "GIT_WORK_TREE": str(directory), "GIT_INDEX_FILE": index}
        await self.git.check("read-tree", sha, env=places)
        await self.git.check("checkout-index", "--all", env=places)
        await anyio.Path(index).unlink()

    @asynccontextmanager
    async def changing(self, pusher: str | None = None) -> AsyncIterator[None]:
        """Change refs inside the block: one block at a time; `on_update` knows each change when the block is left.

        `on_update` may change refs itself; those changes are reported after it returns.
        """
        try:
            async with self._changing:
                before = await self.refs("refs/")
                try:
                    yield
                finally:
                    with anyio.CancelScope(shield=True):
                        self._note(_moves(before, await self.refs("refs/")), pusher or called_by.get())
        finally:
            with anyio.CancelScope(shield=True):
                await self._tell()

    def _note(self, moves: list[RefMove], pusher: str | None) -> None:
        if self.log_of_refs is not None:
            self.log_of_refs.add(pusher, moves)
        self._untold.extend((move, pusher) for move in moves)

    async def _tell(self) -> None:
        task = anyio.get_current_task().id
        if self._teller == task:
            return  # called from inside on_update: the loop below goes on with what this added
        async with self._telling:
            self._teller = task
            try:
                while self._untold:
                    await self._tell_one(*self._untold.popleft())
            finally:
                self._teller = None

    async def _tell_one(self, move: RefMove, pusher: str | None) -> None:
        if self.on_update is None:
            return
        token = pushed_by.set(pusher)
        try:
            await self.on_update(*move)
        finally:
            pushed_by.reset(token)


def _moves(before: dict[str, str], after: dict[str, str]) -> list[RefMove]:
    return [
        RefMove(ref, before.get(ref), after.get(ref))
        for ref in sorted(before.keys() | after.keys())
        if before.get(ref) != after.get(ref)
    ]


def _make(path: Path, default_branch: str, files: Mapping[str, str]) -> None:
    bare_directory.make(path)
    (path / "HEAD").write_text(f"ref: refs/heads/{default_branch}\n", encoding="utf-8")
    (path / "config").write_text(CONFIG)
    if files:
        _write_first_commit(path, default_branch, files)


def _write_first_commit(git_dir: Path, branch: str, files: Mapping[str, str]) -> None:
    """Point a branch at a commit of GitHub's with these files; a script can be executed. No process is needed."""
    tree: dict[str, Any] = {}
    for path, text in files.items():
        *folders, name = path.split("/")
        place = tree
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = text
    words = Words(_write_tree(git_dir, tree), (), *GITHUB, b"Initial commit")
    oid = loose_objects.commit(git_dir, words)
    ref = git_dir / "refs" / "heads" / branch
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text(f"{oid}\n", encoding="ascii")


def _write_tree(git_dir: Path, tree: Mapping[str, Any]) -> str:
    """Write a tree and all below it; return its id."""
    rows = sorted(_row(git_dir, name, content) for name, content in tree.items())
    return loose_objects.write(git_dir, "tree", b"".join(row for _, row in rows))


def _row(git_dir: Path, name: str, content: str | Mapping[str, Any]) -> tuple[bytes, bytes]:
    """Return the key by which git sorts an entry, and the entry's line."""
    if isinstance(content, str):
        mode = _EXECUTABLE if content.startswith("#!") else _ORDINARY
        oid = loose_objects.write(git_dir, "blob", content.encode())
    else:
        mode, oid = _DIRECTORY, _write_tree(git_dir, content)
    line = f"{mode} {name}".encode() + b"\0" + bytes.fromhex(oid)
    return f"{name}/".encode() if mode == _DIRECTORY else name.encode(), line
