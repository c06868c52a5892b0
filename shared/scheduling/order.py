"""The order in which an agent tries its candidates, and the labels and assignees that exclude one."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from shared.models import Account, Issue
from shared.scheduling.agent_contract import Candidate
from shared.workflow.labels import folded

WIDEST = 64
"""Largest number of candidates over which an agent spreads."""


class Urgency(NamedTuple):
    """Sort key of an item, the smallest first: its priority label, then its age, then its number."""

    rank: int
    since: float
    number: int


def urgency(issue: Issue, priorities: Sequence[str]) -> Urgency:
    """Return the sort key; `priorities` are labels, the most urgent first, and items without any of them come last."""
    ranks = {label.casefold(): rank for rank, label in enumerate(priorities)}
    rank = min((ranks.get(label.casefold(), len(ranks)) for label in issue.labels), default=len(ranks))
    return Urgency(rank, issue.created_at.timestamp(), issue.number)


class Spread:
    """The choice of the next candidate: strictly the first, as long as the agent meets no other agent.

    A claim that another agent won shows that they meet: from then on it picks at random among twice as many of the
    oldest candidates. A claim that it wins takes a quarter of their number off again. It never reaches beyond one rank:
    urgent items are always tried before others.
    """

    def __init__(self, pick: Callable[[int], int] = random.randrange) -> None:
        """`pick` returns a number below its argument."""
        self._pick = pick
        self.width = 1

    def lost(self) -> None:
        """Note that another agent won a claim."""
        self.width = min(2 * self.width, WIDEST)

    def won(self) -> None:
        """Note that this agent won a claim."""
        self.width = max(3 * self.width // 4, 1)

    def next(self, queue: Sequence[Candidate]) -> Candidate:
        """Return the candidate of `queue`, which is in order and not empty, to try now."""
        near = [one for one in queue[: self.width] if one.rank == queue[0].rank]
        return near[self._pick(len(near))]


def exclusion_reason(labels: Iterable[str], exclude: Collection[str]) -> str:
    """Return why an item with these labels is left alone, as a sentence; empty if none of them is in `exclude`."""
    barred = folded(exclude)
    found = sorted(label for label in labels if label.casefold() in barred)
    return f"it carries the excluded label '{found[0]}'" if found else ""


def assigned(issue: Issue, ours: Callable[[Account], bool]) -> str:
    """Return why an issue is left to its assignees, as a sentence; empty if all of them are `ours` or it has none."""
    people = sorted(one.login for one in issue.assignees if not ours(one))
    return f"it is assigned to {', '.join(people)}" if people else ""
