"""In which order an agent tries its candidates, and which label keeps it from one."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from shared.models import Account, Issue
from shared.scheduling.items import Candidate

WIDEST = 64
"""Over so many candidates an agent spreads at most."""


class Urgency(NamedTuple):
    """How an item compares with others, the smallest first: by its priority label, then its age, then its number."""

    rank: int
    since: float
    number: int


def urgency(issue: Issue, priorities: Sequence[str]) -> Urgency:
    """`priorities` are labels, the most urgent first; what carries none of them comes after all that do."""
    ranks = {label.casefold(): rank for rank, label in enumerate(priorities)}
    rank = min((ranks.get(label.casefold(), len(ranks)) for label in issue.labels), default=len(ranks))
    return Urgency(rank, issue.created_at.timestamp(), issue.number)


class Spread:
    """Which of several candidates an agent tries next: strictly the first, as long as it meets no other agent.

    A claim that another agent won shows that they meet: from then on it picks at random among twice as many of the
    oldest candidates. A claim that it wins halves them again. It never reaches beyond one rank: what is urgent is
    always tried before what is not.
    """

    def __init__(self, pick: Callable[[int], int] = random.randrange) -> None:
        """`pick` gives a number below its argument."""
        self._pick = pick
        self.width = 1

    def lost(self) -> None:
        """Another agent won a claim."""
        self.width = min(2 * self.width, WIDEST)

    def won(self) -> None:
        """A claim was won."""
        self.width = max(self.width // 2, 1)

    def next(self, queue: Sequence[Candidate]) -> Candidate:
        """The one of `queue`, which is in order and not empty, to try now."""
        near = [one for one in queue[: self.width] if one.rank == queue[0].rank]
        return near[self._pick(len(near))]


def excluded(labels: Iterable[str], exclude: Collection[str]) -> str:
    """The sentence why an item with these labels is left alone; empty when none of them is in `exclude`."""
    barred = {label.casefold() for label in exclude}
    found = sorted(label for label in labels if label.casefold() in barred)
    return f"it carries the excluded label '{found[0]}'" if found else ""


def assigned(issue: Issue, ours: Callable[[Account], bool]) -> str:
    """The sentence why an issue is left to the people who are assigned to it; empty where nobody but `ours` is."""
    people = sorted(one.login for one in issue.assignees if not ours(one))
    return f"it is assigned to {', '.join(people)}" if people else ""
