"""Orders that people give by closing, locking, pausing or relabelling a pull request in work (pure)."""

from __future__ import annotations

from reviewer_agent.candidates import expected_stage, ordered_to_stop
from shared.lock.record import Fence
from shared.models import Issue, PullRequest
from shared.workflow.labels import Flag, Labels


def stop_request(item: Issue | PullRequest, fence: Fence, names: Labels) -> str | None:
    """Return the reason to stop, as a part of a sentence; None if nobody orders it."""
    labels = names.read(item.labels)
    shown = expected_stage(fence)
    if not item.open or (isinstance(item, Issue) and item.locked):
        return "the pull request was closed or locked"
    if Flag.PAUSED in labels.flags:
        return f"'{names.of(Flag.PAUSED)}' was set"
    if shown is not None and ordered_to_stop(labels.stages, shown):
        return "a person moved or removed the stage label"
    return None
