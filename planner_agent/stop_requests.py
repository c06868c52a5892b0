"""Orders that people give by closing, locking, pausing or relabelling a story that the planner holds (pure)."""

from __future__ import annotations

from planner_agent.decide import ordered_to_stop
from shared.lock.record import Fence
from shared.models import Issue
from shared.workflow import UNLABELLED, Stage
from shared.workflow.labels import Flag, Labels


def stop_request(issue: Issue, fence: Fence, names: Labels, *, labelled: bool, unasked: bool = False) -> str | None:
    """Return the reason to stop, or None; `labelled` once the story's label was shown in this lease.

    A story that is `unasked` has no label before that.
    """
    labels = names.read(issue.labels)
    if not issue.open or issue.locked:
        return None if fence.stage is Stage.SPECIFIED else "the story was closed or locked"
    if Flag.PAUSED in labels.flags:
        return f"'{names.of(Flag.PAUSED)}' was set"
    if not labels.story and (labelled or not unasked):
        return f"the label '{names.story}' was removed"
    unshown = not labels.stages and not labelled and fence.stage in {Stage.PLANNING, Stage.FAILED}
    if fence.stage in UNLABELLED or unshown:
        return None
    return "a person moved or removed the stage label" if ordered_to_stop(labels.stages, fence.stage) else None
