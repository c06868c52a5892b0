"""Reasons, besides the stage, why a command has no effect: the configuration, or what blocks a merge (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.commands.command import Verb
from shared.commands.command_rules import CommandRefused

BY_CONFIGURATION: Mapping[Verb, CommandRefused] = {
    Verb.MERGE: CommandRefused("Maintainers merge here (`merge: never` is configured): use the merge button."),
    Verb.APPROVE: CommandRefused("Plans are approved at a terminal here: run `planner-agent` for this repository."),
}
"""Refusals of commands that the configuration leaves to people."""

NOT_CLEARED: Mapping[str, str] = {
    "flagged": "a flag asks for a maintainer; remove it first",
    "resolved": "a merge conflict was resolved in it; check that and remove the flag first",
    "barred": "a label forbids merging; remove it first",
    "unseen": "this commit has no review by the engine",
    "requested": "changes are requested; whoever asked for them approves or dismisses that first",
    "own_order": "somebody else than its requester has to ask for the merge",
    "checks_red": "its checks fail; it is merged when they pass",
    "checks_missing": "this commit has no CI checks; at least one must pass",
    "checks_running": "its checks are running; it is merged when they pass",
    "checks_awaited": "required checks are missing; it is merged when they pass",
    "base_red": "the checks of the base branch fail; it is merged when they pass",
    "base_running": "the checks of the base branch are running; it is merged when they pass",
    "required": "the base branch requires more than it has; the status comment says what",
    "conflict": "it conflicts with the base branch",
    "refused": "GitHub refused the merge; it is tried again by itself",
    "queued": "it is in GitHub's merge queue already",
    "stopped": "its issue is gone, or was closed, paused or taken back",
    "edited": "its issue was edited after its text was approved",
    "blocked": "its issue is blocked by another open issue",
    "head_moved": "commits were pushed that nobody has reviewed",
}
"""Obstacles that a person's `/merge` does not clear, by the reason in an approved pull request's status comment."""


def not_merged(data: Mapping[str, Any]) -> str:
    """Return why a `/merge` has no effect now, from the status comment's machine-readable data; or empty."""
    waiting = data.get("waiting")
    reason = NOT_CLEARED.get(str(waiting.get("why", ""))) if isinstance(waiting, Mapping) else None
    return f"not merged yet: {reason}" if reason else ""
