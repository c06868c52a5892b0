"""The text about an epoch that has just begun, before its agent has anything else to tell (pure)."""

from __future__ import annotations

from collections.abc import Mapping

from shared.lock.record import Fence
from shared.workflow import Role, Stage

_OF_PHASES: Mapping[str, str] = {
    "red": "writing the tests",
    "green": "writing the code",
    "refactor": "tidying up the code",
    "ci": "repairing what CI reports",
    "rounds": "answering the review",
}

_OF_STAGES: Mapping[Stage, str] = {
    Stage.PLANNING: "writing the plan",
    Stage.IMPLEMENTING: "writing the change",
    Stage.TESTING: "watching CI",
    Stage.IN_REVIEW: "reviewing it",
    Stage.APPROVED: "looking whether it can be merged",
}


def beginning(fence: Fence, *, most: int = 0) -> str:
    """Return the text, for example "writing the tests, attempt 1 of 3"; empty if nothing is known.

    `most` is how many attempts a worker has; a fence counts those that are over.
    """
    what = _OF_STAGES.get(fence.stage, "")
    if fence.stage is Stage.IMPLEMENTING:
        what = _OF_PHASES.get(fence.phase, what)
    if not what or fence.key.kind is not Role.WORKER or fence.stage is not Stage.IMPLEMENTING or fence.round:
        return what
    return f"{what}, attempt {min(fence.attempt + 1, most)} of {most}" if most else what
