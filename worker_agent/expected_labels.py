"""The stage labels that an item should show by its fence, and the orders to stop that a person gives by them (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from shared.lock.fence import Fence
from shared.models import Issue, PullRequest
from shared.reconcile import label_drift
from shared.workflow import HALTED, TERMINAL, Event, Role, Stage, Track
from shared.workflow.labels import Flag, Labels
from worker_agent.decide import WORKING

TAKEN_UP = frozenset({Stage.IN_REVIEW, Stage.APPROVED, Stage.CHANGES_REQUESTED, Stage.FAILED})
"""Stages that a reviewer gives a pull request after the hand-over."""


@dataclass(frozen=True, slots=True)
class ExpectedLabels:
    """The stage labels that the issue and its pull request should carry; None leaves an item's labels alone."""

    issue: Stage | None
    pull_request: Stage | None


def expected_labels(fence: Fence) -> ExpectedLabels:
    """Return the labels that follow from the fence; from round 1 on, the issue stays at `reviewing`."""
    if fence.stage in TERMINAL:
        return ExpectedLabels(None, None)
    if fence.stage in HALTED:
        return ExpectedLabels(fence.stage, fence.stage)
    if fence.round:
        return ExpectedLabels(Stage.REVIEWING, fence.stage)
    return ExpectedLabels(fence.stage, fence.stage if fence.stage is Stage.REVIEWING else None)


def of_pull_request(fence: Fence, shown: frozenset[Stage]) -> Stage | None:
    """Return the stage label for a pull request that shows the labels `shown`; None leaves its labels alone.

    Once it is handed over, its stage is the reviewer's. A label of the worker's own work beside it means
    that the hand-over is not finished.
    """
    if fence.stage is Stage.REVIEWING and shown & TAKEN_UP and not shown & WORKING:
        return None
    return expected_labels(fence).pull_request


def is_doubled(shown: frozenset[Stage]) -> bool:
    """Return whether an issue in review carries a second stage label: the fence decides which of them stays."""
    return Stage.REVIEWING in shown and len(shown) > 1


def stop_request(item: Issue | PullRequest, shown: Stage | None, names: Labels) -> str | None:
    """Return the reason why the work ends, or None. `shown` is the stage that the item should show, None for none."""
    kind = "pull request" if isinstance(item, PullRequest) or item.is_pull_request else "issue"
    if not item.open or (isinstance(item, Issue) and item.locked):
        return f"the {kind} was {'locked' if item.open else 'closed'}"
    labels = names.read(item.labels)
    if Flag.PAUSED in labels.flags:
        return f"'{names.of(Flag.PAUSED)}' was set"
    if shown is not None and label_drift.ordered_to_stop(labels.stages, shown, before(shown)):
        return "a person moved or removed the stage label"
    return None


def paused(names: Labels, *items: Issue | PullRequest | None) -> bool:
    """Return whether one of these items carries the flag that pauses."""
    return any(item is not None and Flag.PAUSED in names.read(item.labels).flags for item in items)


def before(stage: Stage) -> frozenset[Stage]:
    """Return the stages from which an item reaches `stage`.

    These are the stages from which the worker itself moves (the old label of a move whose second half has not
    happened), and the halt from which a person's label on the pull request continues.
    """
    movers, events = {Role.WORKER, Role.PLANNER}, {Event.RETRIED_PULL_REQUEST}
    return label_drift.before(stage, tracks=tuple(Track), movers=movers, events=events)
