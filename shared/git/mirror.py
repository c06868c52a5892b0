"""One bare mirror per repository: the local copy of the remote, and the start of every push.

It fetches by explicit URL and refspec, under one lock, and has no remote configured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import anyio
import anyio.to_thread
import structlog

from shared.errors import Transient
from shared.filesystem import directories
from shared.filesystem.file_lock import FileLock
from shared.git import (
    bare_directory,
    history,
    linked_objects,
    names,
    objects,
    one_look,
    ref_files,
    tree_files,
)
from shared.git.command import NETWORK_SECONDS, Git
from shared.git.failures import NoSuchRef, StaleLock, TooMuchOutput
from shared.git.history import Commit
from shared.lock.port import RefUpdate
from shared.process import CommandFailed

log = structlog.get_logger()

BRANCHES = "+refs/heads/*:refs/heads/*"

PROOF = "HEAD"
"""Ref asked for with every fetch, because every repository has it. git takes a web page or an empty answer of
status 200 for an old server without refs: then no fence would exist, and all branches would be forgotten."""

LOOSE_OBJECTS, PACKS = 1000, 30
"""Numbers above which a mirror is packed: every fetch and every push gets slower with them."""

PACKING_SECONDS = 300.0
"""Seconds for which packing may block fetches; less than leases last, and the next packing goes on from there."""

FORGOTTEN = "2.days.ago"
"""Age at which unreachable objects are dropped; not earlier, as a push in preparation has no ref yet."""

FIRST_FETCH_SECONDS = 3600.0
"""Seconds that the first fetch of a whole repository may take."""


class Mirror:
    """The local copy of one repository; many tasks and processes may use it at once."""

    def __init__(self, git: Git, url: str) -> None:
        """`git` is bound to the mirror's directory (`names.mirror_path`) and has credentials for the URL's server."""
        self.git = git
        self.url = url
        self.lock = FileLock(git.git_dir.with_name(f"{git.git_dir.name}.lock"))
        self._examined = False

    async def ensure(self) -> None:
        """Make the mirror and fetch all branches, unless it is there already; errors as `Git.fetch`."""
        async with self.lock.held():
            await anyio.to_thread.run_sync(clear_locks, self.git.git_dir)
            if not (self.git.git_dir / "HEAD").is_file():
                await self._make()

    async def _make(self) -> None:
        fresh = self.git.at(self.git.git_dir.with_name(f"{self.git.git_dir.name}.new"))
        await anyio.to_thread.run_sync(directories.remove, fresh.git_dir)
        await fresh.make()
        await fresh.fetch(self.url, PROOF, BRANCHES, deadline_seconds=FIRST_FETCH_SECONDS)
        await self.git.leave()
        await anyio.to_thread.run_sync(directories.remove, self.git.git_dir)
        fresh.git_dir.rename(self.git.git_dir)

    async def fetch(self, *refspecs: str) -> None:
        """Fetch all branches and forget deleted ones, or fetch exactly `refspecs`; errors as `Git.fetch`."""
        async with self.lock.held():
            await self._fetch(*(refspecs or (BRANCHES,)), prune=not refspecs)

    async def renew(self, prefix: str) -> None:
        """Fetch all branches and the refs that begin with `prefix`, forget deleted ones; errors as `Git.fetch`."""
        names.ref(prefix)
        async with self.lock.held():
            await self._fetch(BRANCHES, f"+{prefix}*:{prefix}*", prune=True)

    async def note(self, moves: Sequence[RefUpdate]) -> None:
        """Move refs here as the server's reply to a push proves, without a fetch.

        A ref that cannot be written here stays behind until it is fetched; the push has happened all the same.
        """
        async with self.lock.held():
            left = [one for one in moves if not await self._move_ref(one)]
            orders = [f"update {one.ref} {one.new}" if one.new else f"delete {one.ref}" for one in left]
            stdin = "".join(f"option no-deref\n{order}\n" for order in orders).encode()
            finished = await self.git.run("update-ref", "--stdin", stdin=stdin, ok=range(256)) if left else None
        if finished is not None and finished.code != 0:
            log.info("refs_not_noted", outcome="skipped", code=finished.code)

    async def _move_ref(self, move: RefUpdate) -> bool:
        is_here = not move.new or await objects.peeled(self.git, move.new, "commit") is not None
        return is_here and await anyio.to_thread.run_sync(ref_files.move, self.git.git_dir, move.ref, move.new)

    async def refresh(self, ref: str) -> str | None:
        """Fetch one ref as the server has it now; None, and the local copy removed, if the server has none.

        Refs of `read_together` are returned as they were then, as long as the look of this task lasts.
        """
        names.ref(ref)
        if one_look.knows(self.git.git_dir, ref):
            return one_look.known_commit(self.git.git_dir, ref)
        async with self.lock.held():
            try:
                await self._fetch(f"+{ref}:{ref}")
            except NoSuchRef:
                await forget(self.git, ref)
                return None
            return await self.sha(ref)

    async def read_together(self, *refs: str) -> None:
        """Fetch the refs at once that a look will pass to `refresh`; outside of a look nothing happens."""
        git_dir = self.git.git_dir
        left = [names.ref(ref) for ref in refs if not one_look.knows(git_dir, ref)]
        if not left or not one_look.goes_on():
            return
        async with self.lock.held():
            # An exact refspec fails where there is no such ref, so only what was here before is asked for by one.
            here = [ref for ref in left if await self.sha(ref) is not None]
            specs = [f"+{ref}:{ref}" if ref in here else f"+{ref}*:{ref}*" for ref in left]
            try:
                await self._fetch(*specs, prune=True)
            except NoSuchRef:
                return  # one of them is gone: each is asked for by itself
            one_look.keep(git_dir, {ref: await self.sha(ref) for ref in left})

    def forget_told(self, refs: Iterable[str]) -> None:
        """Make the look of this task ask again for refs that are about to be pushed."""
        one_look.forget(self.git.git_dir, refs)

    async def refresh_all(self, prefix: str) -> dict[str, tuple[str, str]]:
        """Fetch every ref below `prefix` (ends with a slash), forget deleted ones: ref -> (commit id, message)."""
        names.ref(prefix.removesuffix("/"))
        async with self.lock.held():
            await self._fetch(f"+{prefix}*:{prefix}*", prune=True)
            return {one.ref: (one.oid, one.message) for one in await history.tips_below(self.git, prefix)}

    async def pack(self) -> bool:
        """Pack many loose objects; return whether they were. Raises `StaleLock`, `Transient` or `CommandFailed`."""
        try:
            loose, packs = await anyio.to_thread.run_sync(bare_directory.lying_about, self.git.git_dir)
        except OSError as error:
            raise Transient(f"The objects of {self.git.git_dir.name} cannot be counted: {error}") from error
        if loose <= LOOSE_OBJECTS and packs <= PACKS:
            return False
        async with self.lock.held():
            with anyio.move_on_after(PACKING_SECONDS):
                await self.git.run("pack-refs", "--all")
                await self.git.run("repack", "--geometric=2", "-d", "-q")
                await self.git.run("prune", f"--expire={FORGOTTEN}")
        await self.git.leave()  # a reader would keep the old packs on the disk
        return True

    async def adopt(self, git: Git, *commits: str) -> None:
        """Bring commits, with all they need, from another git directory of ours."""
        if await linked_objects.adopt(git, self.git, [names.oid(commit) for commit in commits]):
            return
        await self.git.fetch(git.git_dir, *map(names.oid, commits), deadline_seconds=NETWORK_SECONDS)

    async def sha(self, ref: str) -> str | None:
        """Return the commit that a full ref or object id names here; None if there is none."""
        return await objects.peeled(self.git, ref, "commit")

    async def obtain(self, commit: str, ref: str) -> bool:
        """Return whether a commit is here, after fetching the `ref` that leads to it if it was made elsewhere."""
        if await self.sha(commit) is not None:
            return True
        await self.refresh(ref)
        return await self.sha(commit) is not None

    async def tip(self, branch: str) -> str | None:
        """Return the commit at the head of a branch (a name without `refs/heads/`), as last fetched."""
        return await self.sha(f"refs/heads/{branch}")

    async def message(self, oid: str) -> str:
        """Return a commit's whole message."""
        return await objects.message(self.git, oid)

    async def is_ancestor(self, ancestor: str, commit: str) -> bool:
        """Return whether `commit` has `ancestor` in its history; a commit is its own ancestor."""
        return await history.is_ancestor(self.git, ancestor, commit)

    async def merge_base(self, commit: str, other: str) -> str | None:
        """Return the newest commit that both have in their history; None if they share none."""
        return await history.merge_base(self.git, commit, other)

    async def show(self, commit: str, path: str) -> bytes | None:
        """Return a file at a commit; None if the commit has no such file (at most 16 MiB)."""
        (found,) = await objects.read(self.git, [f"{names.revision(commit)}:{path}"])
        return found

    async def contents(self, commit: str, paths: Sequence[str]) -> tuple[bytes | None, ...]:
        """Return many files with one command, together at most 16 MiB; raises `TooMuchOutput` above that."""
        return await objects.read(self.git, [f"{names.revision(commit)}:{path}" for path in paths])

    async def paths(self, commit: str) -> tuple[str, ...]:
        """Return every path at a commit, in git's order; bytes that are not UTF-8 come as surrogates."""
        return tuple(file.path for file in await tree_files.listed(self.git, commit))

    async def diff(self, base: str, head: str) -> str:
        """Return the changes of `head` since it left `base`, as a unified diff with renames."""
        span = f"{names.revision(base)}...{names.revision(head)}"
        ask = self.git.settled if names.are_oids(base, head) else self.git.run
        finished = await ask("diff", "--no-ext-diff", "--no-textconv", "--no-color", "-M", span, "--")
        return finished.stdout.decode("utf-8", "replace")

    async def log(self, ref: str, limit: int, *, without: str = "") -> tuple[Commit, ...]:
        """Return at most `limit` commits of a ref's history, newest first; not those in the history of `without`."""
        return await history.log(self.git, ref, limit, without)

    async def _fetch(self, *refspecs: str, prune: bool = False) -> None:
        """Fetch; under the lock, a lock file of git is a dead git's: remove it and try once more."""
        options = ("--prune",) if prune else ()
        try:
            await self.git.fetch(self.url, PROOF, *refspecs, options=options)
        except StaleLock:
            await anyio.to_thread.run_sync(clear_locks, self.git.git_dir)
            await self.git.fetch(self.url, PROOF, *refspecs, options=options)
        except CommandFailed as error:
            if not await self._is_damaged():
                raise
            log.warning("mirror_made_anew", outcome="retrying", path=str(self.git.git_dir), error=str(error))
            await self._make()
            await self.git.fetch(self.url, PROOF, *refspecs, options=options)

    async def _is_damaged(self) -> bool:
        """Return whether files are damaged, as a power cut leaves them; asked once, because it may take minutes."""
        if self._examined:
            return False
        self._examined = True
        try:
            await self.git.run("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
        except (CommandFailed, TooMuchOutput):
            return True
        return False


async def forget(git: Git, ref: str) -> None:
    """Remove a ref if there is one, also one that leads nowhere: it would block the next fetch."""
    if await objects.exists(git, ref) or await anyio.Path(git.git_dir / ref).exists():
        await git.run("update-ref", "--no-deref", "-d", ref)


def clear_locks(git_dir: Path) -> None:
    """Remove the lock files that a killed git left; only if the caller holds the directory alone."""
    for path in (*git_dir.glob("*.lock"), *git_dir.glob("refs/**/*.lock")):
        path.unlink(missing_ok=True)
