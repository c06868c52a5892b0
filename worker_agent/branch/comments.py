"""The posted texts about a work branch: kept aside, people's commits, merges of the base; facts to Markdown only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shared.github.status import Status
from shared.lock.fence import Fence
from shared.text import one_line
from worker_agent.comments import branch, progress

SHOWN = 10
"""The most tests or files that are named."""


def started_anew(fence: Fence, kept: str) -> Status:
    """Return the status after the branch of an earlier start was renamed to `kept`."""
    told = f"`{branch(fence)}` of an earlier start is kept as `{kept}`. Starting from the current base."
    return progress(fence, told, kept=kept)


def adopted(fence: Fence, ours: str, newly_failing: Sequence[str]) -> Status:
    """Return the status after adopting a person's commits; `newly_failing` are tests that passed before."""
    sentence = f"`{branch(fence)}` has new commits by somebody else; continuing from {fence.work_head[:12]}."
    notes = _list("Passed before these commits and fail now:", newly_failing)
    return _without_round(fence, sentence, notes, adopted={"from": ours, "to": fence.work_head})


def in_step(fence: Fence, base_branch: str, conflicts: Sequence[str]) -> Status:
    """Return the status after the base was merged; `conflicts` were resolved and need a person's look."""
    resolved = "; its conflicts were resolved, so a maintainer merges" if conflicts else ""
    sentence = f"Merged `{one_line(base_branch, 100)}` ({fence.base[:12]}); the tests pass{resolved}."
    notes = _list("Conflicts that were resolved:", conflicts)
    return _without_round(fence, sentence, notes, synced={"base": fence.base, "conflicts": list(conflicts)})


def _without_round(fence: Fence, sentence: str, notes: str, **more: object) -> Status:
    """Return a status whose table leaves the round of review out: these texts are about the branch alone."""
    return progress(replace(fence, round=0), sentence, notes, **more)


def _list(head: str, lines: Sequence[str]) -> str:
    return "\n".join([head, "", *(f"- {one_line(line, 300)}" for line in lines[:SHOWN])]) if lines else ""
