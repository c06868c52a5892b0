"""The commit that a merge put on its base, and one that reverts it: made in the mirror, without a checkout."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from shared.errors import EngineError
from shared.git import merging, objects
from shared.git.command import Identity, Signature
from shared.git.history import Commit
from shared.git.mirror import Mirror
from shared.models import PullRequest

MOST_COMMITS = 500
"""Commits that are searched for those that a rebase put on the base."""


@dataclass(frozen=True, slots=True)
class MergeCommit:
    """The commit that merging a pull request put on its base, and the base's head before it."""

    pull_request: PullRequest
    oid: str
    before: str


async def find(mirror: Mirror, pull_request: PullRequest) -> MergeCommit | None:
    """Return the merge commit of a pull request; None if GitHub does not name it, or the base was empty before.

    Raises `Transient`.
    """
    oid = pull_request.merge_sha
    if not pull_request.merged or not oid:
        return None
    if await mirror.sha(oid) is None:
        await mirror.refresh(f"refs/heads/{pull_request.base_branch}")
    history = {commit.oid: commit for commit in await mirror.log(oid, MOST_COMMITS)}
    place = history[oid]
    own = await _own_messages(mirror, pull_request, place)
    while len(place.parents) == 1 and place.message in own and place.parents[0] in history:
        place = history[place.parents[0]]
    before = place.oid if place.oid != oid else next(iter(place.parents), "")
    return MergeCommit(pull_request, oid, before) if before else None


async def _own_messages(mirror: Mirror, pull_request: PullRequest, merged: Commit) -> frozenset[str]:
    """Return its commits' messages if the merge put them on the base one by one; a rebase keeps the messages."""
    if len(merged.parents) != 1 or merged.subject.endswith(f"(#{pull_request.number})"):
        return frozenset()
    head = pull_request.head_sha
    with suppress(EngineError):  # its branch is gone: what a rebase has made of it cannot be told
        if await mirror.sha(head) is None:
            await mirror.fetch(head)
    if await mirror.sha(head) is None:
        return frozenset()
    base = await mirror.merge_base(head, merged.oid)
    own = await mirror.log(head, MOST_COMMITS, without=base or "")
    messages = frozenset(commit.message for commit in own)
    return messages if merged.message in messages else frozenset()


async def taken_back(mirror: Mirror, merge: MergeCommit, identity: Identity, message: str) -> str | None:
    """Return a commit on the base's head that reverts the merge; None if later commits are in the way.

    Returns an empty string if there is nothing to revert any more. No ref moves. Raises `Transient`.
    """
    git, tip = mirror.git, await mirror.refresh(f"refs/heads/{merge.pull_request.base_branch}")
    if tip is None or not await mirror.is_ancestor(merge.oid, tip):
        return None
    # A child of the merge with the tree from before it, merged into the head, is what `git revert` does.
    undone = await git.commit(await objects.tree_of(git, merge.before), (merge.oid,), message, Signature(identity))
    merged = await merging.merge(git, tip, undone)
    if merged.conflicts:
        return None
    if merged.tree == await objects.tree_of(git, tip):
        return ""
    return await git.commit(merged.tree, (tip,), message, Signature(identity))
