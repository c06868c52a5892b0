"""The only way to a push: commits that leave for the server are judged and brought into the mirror here.

The push itself is the fence's (`Fences.advance`), so that state, code and lock move together. Looks for secrets in
a change before a commit is made of it: in what it adds, binary files and names included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import anyio.to_thread

from shared.filesystem import directories
from shared.filesystem.disk_space import as_disk_full
from shared.git import changes, history, names, objects
from shared.git.command import Git
from shared.git.mirror import Mirror
from shared.git.patch_policy import WORKFLOW, PatchPolicy, PatchRefusal, PatchRefused, PathChange, judge
from shared.git.workspace import Workspace
from shared.lock.port import RefUpdate
from shared.outgoing.outbound_filter import Outgoing
from shared.process import CommandFailed

OURS = re.compile(
    r"refs/(?:heads/(?:auto/issue-[0-9]+(?:-[a-z0-9-]+)?|tdd/[0-9]+-[a-z0-9-]+)|notes/workflow/issue-[0-9]+)"
)
"""The only refs that move with a fence: work branches and phase notes."""

NOTHING_PLANNED = PatchPolicy()
"""The policy for a change of which no specification lists a path."""


class Publisher:
    """Prepares the refs and commits that a fence carries to one repository."""

    def __init__(self, mirror: Mirror, outgoing: Outgoing | None = None) -> None:
        """`outgoing` knows the secrets that no change may have; without one, only credentials are found."""
        self._mirror = mirror
        self._outgoing = outgoing or Outgoing()
        self._passed: tuple[str, str, PatchPolicy] | None = None

    async def judge(self, workspace: Workspace, base: str, tree: str, *, policy: PatchPolicy = NOTHING_PLANNED) -> None:
        """Judge everything between the fenced base and a tree object, before a commit is made of it.

        Raises `PatchRefused`. A commit of a tree that has just passed passes for nothing.
        """
        asked = (base, tree, policy)
        if asked == self._passed:
            return
        differing = await workspace.changes(base, tree)
        refusals = judge(differing, policy=await _with_workflows_of_head(workspace.git, differing, tree, policy))
        refusals += await leaks(workspace.git, differing, tree, self._outgoing)
        if refusals:
            raise PatchRefused(refusals)
        self._passed = asked

    async def prepare(
        self,
        workspace: Workspace,
        base: str,
        commit: str,
        updates: Sequence[RefUpdate],
        *,
        policy: PatchPolicy = NOTHING_PLANNED,
        since: str = "",
    ) -> tuple[RefUpdate, ...]:
        """Judge everything between the fenced base and `commit`, bring it into the mirror, return `updates`.

        They are then moved by the lock together with its fence. With `since`, a commit or tree, only the difference
        from that is judged: the rest is not the engine's. Raises `PatchRefused`, and ValueError for an update of a ref
        that is not ours or of a branch to another commit.
        """
        for update in updates:
            _expect_ours(update, commit)
        await self._expect_descent(workspace, [base, *_branch_tips(updates)], commit)
        await self.judge(workspace, since or base, await workspace.tree_of(commit), policy=policy)
        await self._mirror.adopt(workspace.git, *dict.fromkeys([commit, *(update.new for update in updates)]))
        return tuple(updates)

    async def _expect_descent(self, workspace: Workspace, ancestors: Sequence[str], commit: str) -> None:
        for ancestor in ancestors:
            if not await _is_built_on(workspace.git, names.oid(ancestor), names.oid(commit)):
                raise PatchRefused([PatchRefusal("", f"The commit is not built on {ancestor[:12]}.")])


async def _with_workflows_of_head(
    git: Git, changes: Sequence[PathChange], tree: str, policy: PatchPolicy
) -> PatchPolicy:
    """Return the policy that also allows the workflow files that are the same in `tree` as at the policy's head.

    An earlier repair or a person changed those: a tree that leaves them unchanged publishes nothing new.
    """
    paths = [one.path for one in changes if WORKFLOW.fullmatch(one.path) and one.path not in policy.allowed]
    if not paths or not policy.head:
        return policy
    head = await objects.read(git, [f"{policy.head}:{path}" for path in paths])
    now = await objects.read(git, [f"{tree}:{path}" for path in paths])
    same = {path for path, old, new in zip(paths, head, now, strict=True) if old is not None and old == new}
    return replace(policy, allowed=policy.allowed | same)


async def _is_built_on(git: Git, ancestor: str, commit: str) -> bool:
    """Return whether a commit has another one in its history; False if one is not here."""
    try:
        return await history.is_ancestor(git, ancestor, commit)
    except CommandFailed:
        return False


async def keep(git: Git, old: str, new: str, directory: Path) -> Path | None:
    """Save the difference of two commits or trees as `patch.diff`, readable by us alone; None if there is none.

    It is there whole or not at all. Raises `DiskFull` if the disk is full.
    """
    patch = await changes.patch(git, old, new)
    return await anyio.to_thread.run_sync(_replace, directory / "patch.diff", patch) if patch else None


def _replace(path: Path, content: bytes) -> Path:
    fresh = path.with_name(f"{path.name}.new")
    try:
        directories.remove(fresh)
        directories.write(fresh, content, durable=True)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        raise as_disk_full(error, path) or error from error
    return fresh.replace(path)


def _expect_ours(update: RefUpdate, commit: str) -> None:
    if not OURS.fullmatch(update.ref):
        raise ValueError(f"{update.ref} is not a ref of ours")
    if update.ref.startswith("refs/heads/") and update.new != commit:
        raise ValueError(f"{update.ref} would move to a commit that nobody judged")


def _branch_tips(updates: Sequence[RefUpdate]) -> list[str]:
    return [update.expected for update in updates if update.expected and update.ref.startswith("refs/heads/")]


SCANNED_BYTES = 4 * 2**20
"""Bytes above which a change is refused unread; the policy itself refuses much smaller patches for their size."""


async def leaks(git: Git, changes: Sequence[PathChange], tree: str, outgoing: Outgoing) -> tuple[PatchRefusal, ...]:
    """Return a refusal for each file of `tree` that would give a secret away; none of them repeats it."""
    binary = [change for change in changes if change.binary and 0 < change.size <= SCANNED_BYTES]
    contents = await objects.read(git, [f"{tree}:{change.path}" for change in binary])
    read = {change.path: content or b"" for change, content in zip(binary, contents, strict=True)}
    if sum(len(change.added_text) or change.size for change in changes) > SCANNED_BYTES:
        return (PatchRefusal("", f"More than {SCANNED_BYTES} bytes cannot be searched for secrets."),)
    return await anyio.to_thread.run_sync(lambda: tuple(_find_leaks(changes, read, outgoing)))


def _find_leaks(changes: Iterable[PathChange], read: dict[str, bytes], outgoing: Outgoing) -> Iterator[PatchRefusal]:
    for change in changes:
        if kind := outgoing.leak(change.path):
            yield PatchRefusal("", f"The name of a file holds {kind}.")
        elif kind := outgoing.leak(change.added_text or _plain(read.get(change.path, b""))):
            yield PatchRefusal(change.path, f"It adds {kind}; secrets are never published.")


def _plain(content: bytes) -> str:
    """Return a binary file's characters, those of UTF-16 too."""
    return content.decode("latin-1").replace("\0", "")
