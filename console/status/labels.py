"""Labels and assignees for which the engine leaves an item, or its merge, to people: what they have to do (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from console.status.row import Terms
from shared.labels import HOLDING_OF_ISSUE, Flag
from shared.models import Issue
from shared.order import assigned


def passed_over(item: Issue, issue: Issue | None, terms: Terms, *, begun: bool, taken_up: bool = False) -> str:
    """What a person does before any agent takes `item`; empty when nothing has to be done.

    `issue` is the one that a pull request implements. `begun`: it has a pull request, so no label has to ask for it.
    `taken_up`: an agent has begun it, so it does not matter who is assigned.
    """
    if found := _among(item.labels, terms.exclude):
        return f"take the label '{found[0]}' off"
    if issue is not None and (found := _among(issue.labels, terms.exclude)):
        return f"take the label '{found[0]}' off #{issue.number}"
    if not taken_up and not item.is_pull_request and (told := _assigned(item, terms)):
        return told
    if item.draft:
        return "mark it as ready for review: it is a draft"
    if begun or item.is_pull_request or not terms.include or _among(item.labels, terms.include):
        return ""
    wanted = ", ".join(f"'{label}'" for label in terms.include)
    return f"give it the label {wanted}" if len(terms.include) == 1 else f"give it one of the labels {wanted}"


def _assigned(item: Issue, terms: Terms) -> str:
    if terms.own is None:
        return ""
    own = {login.casefold() for login in terms.own}
    return assigned(item, lambda one: one.login.casefold() in own)


def unmerged(item: Issue, issue: Issue | None, terms: Terms) -> str:
    """What keeps the engine from merging a pull request, whatever is ordered; empty when no label does."""
    if found := _holding(item, Flag, terms):
        return f"merge it, or take '{found[0]}' off"
    if issue is not None and (found := _holding(issue, HOLDING_OF_ISSUE, terms)):
        return f"merge it, or take '{found[0]}' off #{issue.number}"
    return ""


def _holding(item: Issue, flags: Iterable[Flag], terms: Terms) -> list[str]:
    return [*_among(item.labels, [terms.names.of(flag) for flag in flags]), *_among(item.labels, terms.barring)]


def _among(labels: Iterable[str], named: Collection[str]) -> list[str]:
    """Those of `labels` that are named; comparing ignores case, as GitHub does."""
    folded = {label.casefold() for label in named}
    return sorted(label for label in labels if label.casefold() in folded)
