"""The patch policy by which a tree of one item may be published."""

from __future__ import annotations

from dataclasses import replace

from shared.git import objects
from shared.git.patch_policy import PatchRefused, Policy
from shared.git.publisher import Publisher
from shared.git.workspace import Workspace
from shared.lock.record import Fence
from shared.specification import Specification
from worker_agent.workflow_files import WORKFLOW


def policy_of(specification: Specification, allowed: frozenset[str] = frozenset()) -> Policy:
    """Return the policy for one specification's change; `allowed` are protected files that it may touch besides."""
    return Policy(planned=frozenset(specification.files) | frozenset(specification.may_change), allowed=allowed)


async def vetted(publisher: Publisher, fence: Fence, space: Workspace, base: str, tree: str, policy: Policy) -> Policy:
    """Return the policy by which a tree (or commit) passes: `policy`, or it with the branch's own workflow files.

    An earlier repair or a person changed those: a tree that leaves them unchanged publishes nothing new. Raises
    `PatchRefused` if the tree passes neither.
    """
    try:
        await publisher.judge(space, base, tree, policy=policy)
    except PatchRefused as refused:
        wider = replace(policy, allowed=policy.allowed | await _as_before(refused, fence, space, tree))
        if wider == policy:
            raise
        await publisher.judge(space, base, tree, policy=wider)
        return wider
    return policy


async def _as_before(refused: PatchRefused, fence: Fence, space: Workspace, tree: str) -> frozenset[str]:
    """Return the refused workflow files that have the same content in `tree` and at the fence's commit."""
    paths = sorted(refusal.path for refusal in refused.refusals if WORKFLOW.fullmatch(refusal.path))
    if not paths or not fence.work_head:
        return frozenset()
    head = await objects.read(space.git, [f"{fence.work_head}:{path}" for path in paths])
    now = await objects.read(space.git, [f"{tree}:{path}" for path in paths])
    return frozenset(path for path, old, new in zip(paths, head, now, strict=True) if old is not None and old == new)
