"""In which order an agent tries its candidates, and which label keeps it from one (pure)."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence

from shared.models import Issue


def ordered(issues: Iterable[Issue], *, agent: str, priorities: Sequence[str], slots: int) -> tuple[Issue, ...]:
    """Priority label, then age, then number; the first `2 * slots + 8` in an order of this agent's own.

    A total order would send every agent to the same issue at the same moment.
    """
    ranks = {label.casefold(): rank for rank, label in enumerate(priorities)}

    def urgency(issue: Issue) -> tuple[int, float, int]:
        rank = min((ranks.get(label.casefold(), len(ranks)) for label in issue.labels), default=len(ranks))
        return rank, issue.created_at.timestamp(), issue.number

    queue = sorted(issues, key=urgency)
    window = 2 * slots + 8
    first = sorted(queue[:window], key=lambda issue: _ticket(agent, issue.number))
    return (*first, *queue[window:])


def excluded(labels: Iterable[str], exclude: Collection[str]) -> str:
    """The sentence why an item with these labels is left alone; empty when none of them is in `exclude`."""
    barred = {label.casefold() for label in exclude}
    found = sorted(label for label in labels if label.casefold() in barred)
    return f"it carries the excluded label '{found[0]}'" if found else ""


def _ticket(agent: str, number: int) -> str:
    return hashlib.sha256(f"{agent}/{number}".encode()).hexdigest()
