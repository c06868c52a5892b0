"""The spelling of stages and flags as labels, and their parsing from the labels of one item (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from shared.workflow import UNLABELLED, Stage


class Flag(StrEnum):
    """A mark beside the stage."""

    MANUAL_INTERVENTION = "manual-intervention"
    HAD_CONFLICT = "had-conflict"
    SPEC_REVIEW_NEEDED = "spec-review-needed"
    BUDGET_EXCEEDED = "budget-exceeded"
    PROBLEMATIC_TEST = "problematic-test"
    NEEDS_ANSWER = "needs-answer"
    PAUSED = "paused"


OF_AN_END = (
    Flag.MANUAL_INTERVENTION,
    Flag.SPEC_REVIEW_NEEDED,
    Flag.BUDGET_EXCEEDED,
    Flag.PROBLEMATIC_TEST,
)
"""Flags of work that was given up; they are removed when a person has it continue, by a command or by a label."""


def overcome(of_issue: frozenset[Flag]) -> tuple[Flag, ...]:
    """Return the flags to remove from an issue and its pull request when a person has the work continue.

    `had-conflict` is on an issue only if the conflict could not be resolved: then the person did it. On a pull
    request alone it asks for a review of the coder's resolution, and stays.
    """
    return (*OF_AN_END, Flag.HAD_CONFLICT) if Flag.HAD_CONFLICT in of_issue else OF_AN_END


HOLDING_OF_ISSUE = frozenset(Flag) - {Flag.PROBLEMATIC_TEST}
"""Flags of an issue that keep its pull request from being merged; on the pull request itself every flag does.

The worker itself flags a problematic test and goes on: the pull request says what was left out, and its review judges
the criterion.
"""


def folded(labels: Iterable[str]) -> frozenset[str]:
    """Return label names in lower case: GitHub ignores case when it compares them."""
    return frozenset(label.casefold() for label in labels)


@dataclass(frozen=True, slots=True)
class StageLabels:
    """The stages and flags that the labels of one item show, folded once at the edge."""

    stages: frozenset[Stage]
    flags: frozenset[Flag]
    story: bool

    @property
    def stage(self) -> Stage | None:
        """The one stage; NEW if there is none; None if several disagree (a fault to repair)."""
        if len(self.stages) > 1:
            return None
        return next(iter(self.stages), Stage.NEW)


@dataclass(frozen=True, slots=True)
class Labels:
    """The configured spelling of stages and flags; comparing ignores case, as GitHub does."""

    status_prefix: str = "status:"
    flag_prefix: str = "flag:"
    story: str = "story"

    def of(self, name: Stage | Flag) -> str:
        """Return the label that shows a stage or flag."""
        if isinstance(name, Flag):
            return self.flag_prefix + name
        if name in UNLABELLED:
            raise ValueError(f"stage '{name}' has no label")
        return self.status_prefix + name

    def engine_labels(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Return those of `labels` that show a stage or a flag, as they are spelled there: flags first."""
        flags, stages = ({self.of(one).casefold() for one in kind} for kind in (Flag, set(Stage) - UNLABELLED))
        names = sorted(labels)
        return (*(n for n in names if n.casefold() in flags), *(n for n in names if n.casefold() in stages))

    def read(self, labels: Iterable[str]) -> StageLabels:
        """Fold raw label names; unknown `status:` names are not ours and are left alone."""
        return _stage_labels(self, frozenset(labels))


@lru_cache(maxsize=1024)
def _stage_labels(spelling: Labels, labels: frozenset[str]) -> StageLabels:
    """Return the reading of a set of labels: every look at every open item asks for it, and most have the same few."""
    names = folded(labels)
    return StageLabels(
        frozenset(s for s in Stage if s not in UNLABELLED and spelling.of(s).casefold() in names),
        frozenset(f for f in Flag if spelling.of(f).casefold() in names),
        spelling.story.casefold() in names,
    )
