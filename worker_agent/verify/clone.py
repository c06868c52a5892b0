"""A fresh clone for one examination, and the relations of a claim's commits in it."""

from __future__ import annotations

from pathlib import Path

from shared.git import names
from shared.git.command import Git, Identity
from shared.git.failures import NoSuchRef
from shared.git.mirror import Mirror
from shared.git.proof_claim import Claim
from shared.git.workspace import Workspace
from shared.process import CommandFailed
from worker_agent.verify.compare import History

NOBODY = Identity("verify", "verify@localhost")
"""The author of commits that never leave the clone."""


async def cloned(git: Git, url: str, root: Path) -> tuple[Mirror, Workspace]:
    """Clone `url` below `root`, sharing nothing with any other directory; errors as `Git.fetch`.

    `git` signs in to the server.
    """
    mirror = Mirror(git.at(root / "mirror.git"), url)
    await mirror.ensure()
    return mirror, await Workspace.open(root / "space", mirror, NOBODY)


async def brought(mirror: Mirror, commit: str) -> bool:
    """Return whether the server has this commit; if so, the clone has it too."""
    names.oid(commit)
    if await mirror.sha(commit) is None:
        try:
            await mirror.fetch(commit)
        except (NoSuchRef, CommandFailed):
            return False
    return await mirror.sha(commit) is not None


async def placed(mirror: Mirror, claim: Claim, head: str, branch: str, *, merged: bool) -> tuple[History, str]:
    """Return the relations of the claimed commits to `head` and to the base branch, and the base to examine.

    That is the claimed one, unless the base branch was merged into the head since. All commits are in the clone.
    """
    tip = await mirror.tip(branch)
    reasons = []
    if tip is None or not await mirror.is_ancestor(claim.base, tip):
        reasons.append(f"The claimed base {claim.base[:12]} is no commit of the base branch '{branch}'.")
    if not await mirror.is_ancestor(claim.base, head):
        reasons.append(f"The head {head[:12]} is not built on the claimed base {claim.base[:12]}.")
    if not await mirror.is_ancestor(claim.head, head):
        reasons.append(f"The claimed head {claim.head[:12]} is not in the history of the head {head[:12]}.")
    base = claim.base
    if tip is not None and not merged and not reasons:
        common = (await mirror.git.run("merge-base", names.oid(tip), names.oid(head), ok=(0, 1))).text
        base = common if common and common != head else base
    return History(tuple(reasons), same_base=base == claim.base, same_head=claim.head == head), base


async def later(mirror: Mirror, claimed: str, head: str) -> tuple[str, ...]:
    """Return the remark for a pull request that moved on after its claim: by repairs, a review round, or a merge."""
    if claimed == head:
        return ()
    count = (await mirror.git.run("rev-list", "--count", "--first-parent", f"{claimed}..{head}", "--")).text
    came = "1 commit came" if count == "1" else f"{count} commits came"
    told = f"the claim, its runs and its damages are about {claimed[:12]}; {came} after it, and {head[:12]} is examined"
    return (told,)
