"""Rules of agents about labels and fences: the labels that the worker expects, and the rules for a person's order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from shared.lock.fence import Fence
from shared.reconcile.label_drift import ordered_to_stop
from shared.workflow import HALTED, UNLABELLED, Stage
from worker_agent.decide import WORKING
from worker_agent.expected_labels import before, expected_labels

from .github import BOT
from .records import LabelChange

ISSUE = 42
WORK_BRANCH = "refs/heads/auto/issue-42"
STAGES = {str(stage): stage for stage in Stage if stage not in UNLABELLED}
"""Labels of stages; in a simulation a label is the bare stage."""

__all__ = ["WORKING", "expected_labels"]


class Stale(Exception):
    """The parts that were read of an item do not fit together: one is older than the other."""


@cache
def stages_of(labels: frozenset[str]) -> frozenset[Stage]:
    """The stages that labels show."""
    return frozenset(STAGES[label] for label in labels if label in STAGES)


@cache
def is_odd(labels: frozenset[str], shown: Stage) -> bool:
    """Return whether the engine's own moves cannot leave such labels behind."""
    return ordered_to_stop(stages_of(labels), shown, before(shown))


def newest(timeline: Sequence[LabelChange], labels: frozenset[str]) -> LabelChange | None:
    """The newest change of a stage label; raises `Stale` unless the timeline explains `labels`."""
    told: set[str] = set()
    last = None
    for change in timeline:
        (told.add if change.added else told.discard)(change.label)
        last = change
    if told != labels:
        raise Stale
    return last


def by_person(change: LabelChange | None) -> bool:
    """Return whether a person made a change."""
    return change is not None and change.actor != BOT


def last_of_people(timeline: Sequence[LabelChange]) -> LabelChange | None:
    """The newest change that a person made: a late write of ours after it takes nothing back."""
    return next((change for change in reversed(timeline) if by_person(change)), None)


def asked_again(change: LabelChange | None) -> bool:
    """Return whether the last order of a person was to begin."""
    return by_person(change) and change is not None and change.added and change.label == Stage.READY


def unfinished(fence: Fence | None) -> bool:
    """Return whether the fence says that there is work, whatever the labels say."""
    return fence is not None and fence.stage in WORKING


def halted(fence: Fence | None) -> bool:
    """Return whether only a person can go on."""
    return fence is not None and fence.stage in HALTED | {Stage.WITHDRAWN}
