"""People's orders to stop: by closing, locking, pausing or relabelling an item that the worker holds (pure)."""

from __future__ import annotations

from shared.models import Issue, PullRequest
from shared.workflow import Stage
from shared.workflow.labels import Flag, Labels
from worker_agent.expected_labels import ordered_to_stop


def stop_request(item: Issue | PullRequest, shown: Stage | None, names: Labels) -> str | None:
    """Return the reason why the work ends, or None. `shown` is the stage that the item should show, None for none."""
    kind = "pull request" if isinstance(item, PullRequest) or item.is_pull_request else "issue"
    if not item.open or (isinstance(item, Issue) and item.locked):
        return f"the {kind} was {'locked' if item.open else 'closed'}"
    labels = names.read(item.labels)
    if Flag.PAUSED in labels.flags:
        return f"'{names.of(Flag.PAUSED)}' was set"
    if shown is not None and ordered_to_stop(labels.stages, shown):
        return "a person moved or removed the stage label"
    return None


def paused(names: Labels, *items: Issue | PullRequest | None) -> bool:
    """Return whether one of these items carries the flag that pauses."""
    return any(item is not None and Flag.PAUSED in names.read(item.labels).flags for item in items)
