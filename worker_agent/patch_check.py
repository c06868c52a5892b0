"""By which patch policy a tree of one item may be published."""

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
    """What a change may touch for one specification; `allowed` are protected files that it may touch besides."""
    return Policy(planned=frozenset(specification.files) | frozenset(specification.may_change), allowed=allowed)


async def vetted(publisher: Publisher, fence: Fence, space: Workspace, base: str, tree: str, policy: Policy) -> Policy:
    """The policy by which a tree (or commit) passes: `policy`, or it with the workflow files that the branch has.

    An earlier repair changed those, or a person did: what leaves them as they are publishes nothing new.
    Raises `PatchRefused` when there is none.
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
    """The refused workflow files that are in `tree` what they are at the fence's commit."""
    paths = sorted(refusal.path for refusal in refused.refusals if WORKFLOW.fullmatch(refusal.path))
    if not paths or not fence.work_head:
        return frozenset()
    head = await objects.read(space.git, [f"{fence.work_head}:{path}" for path in paths])
    now = await objects.read(space.git, [f"{tree}:{path}" for path in paths])
    return frozenset(path for path, old, new in zip(paths, head, now, strict=True) if old is not None and old == new)
