"""The open items of a repository, kept fresh with one conditional request per poll."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.clock import Clock
from shared.errors import Gone
from shared.github.errors import NotShown
from shared.github.listing import brief
from shared.github.ports import Issues
from shared.models import Account, Issue
from shared.workflow.labels import folded

SWEEP_SECONDS = 600.0
"""Seconds between two listings of everything, independent of the change list."""

PAGE = 100
"""Items of a page. A change list shorter than one page is the whole list of open items; a full one has all that
changed after its last.
"""


DOUBT_SECONDS = 120.0
"""Seconds for which an item is read again if a list lacks it but a reading says it is open: one of them is old."""


@dataclass(frozen=True, slots=True)
class Ties:
    """Reasons, beside its labels, to follow an item or to act upon it.

    `needs_followup`: true if the disappearance of an item requires work, given those still listed; else it
    is just forgotten until a list shows it again. `belongs`: true if an item without one of the labels is followed
    all the same, because of those that are known. Items that are assigned to `assignee` are followed as well.
    """

    needs_followup: Callable[[Issue, Mapping[int, Issue]], bool] = lambda issue, listed: True
    belongs: Callable[[Issue, Mapping[int, Issue]], bool] = lambda issue, known: False
    assignee: Account | None = None


class Inbox:
    """The open items that carry one of an agent's labels, or are assigned to it. Lists only hint: re-read to act."""

    def __init__(
        self,
        issues: Issues,
        labels: Iterable[str],
        clock: Clock,
        *,
        concerns: Callable[[Issue], bool] = lambda issue: True,
        notice: Callable[[Sequence[Issue]], None] = lambda issues: None,
        ties: Ties | None = None,
    ) -> None:
        """`concerns` is true for items that can be this agent's business at all; the others are never followed.

        `notice` receives every list of changed items, including items that do not concern this agent.
        """
        self._issues = issues
        self._labels = tuple(labels)
        self._clock = clock
        self._concerns = concerns
        self._notice = notice
        self._ties = ties or Ties()
        self._assignee = self._ties.assignee
        self._known: dict[int, Issue] = {}
        self._missing: dict[int, float] = {}
        self._found_closed: dict[int, Issue] = {}
        self._gone: dict[int, Issue] = {}
        self._versions: dict[int, datetime] = {}
        self._next_sweep: float | None = None
        self._unmerged: tuple[Issue, ...] | None = None
        self._is_whole = False

    @property
    def known(self) -> Mapping[int, Issue]:
        """Items that the last look showed; the same mapping as long as nothing has changed."""
        return self._known

    @property
    def gone(self) -> Mapping[int, Issue]:
        """Known items that the last look found closed; told once."""
        return self._gone

    def dismiss(self, number: int) -> None:
        """Forget an item that we ended ourselves: its absence from the lists is no news, and nobody has to look."""
        self._drop(number)
        self._missing.pop(number, None)

    def follow(self, listed: Issue) -> None:
        """Follow an item that a list has shown, whatever its labels, until it is closed."""
        if listed.number not in self._known:
            self._known = {**self._known, listed.number: listed}

    def version(self, number: int) -> datetime | None:
        """Return when an open item last changed, by the change list; None if the list does not reach to it."""
        return self._versions.get(number)

    async def look(self) -> Mapping[int, Issue]:
        """Refresh: one conditional request, and every ten minutes a sweep, at first only if that list is full.

        The same list is not sent twice: it is kept until it is merged, whatever fails before.
        """
        recent = await self._issues.recent()
        if recent is not None:
            self._unmerged = recent
            self._is_whole = len(recent) < PAGE
        if self._next_sweep is None and self._is_whole:
            self._next_sweep = self._clock.boot() + SWEEP_SECONDS
        if self._next_sweep is None or self._clock.boot() >= self._next_sweep:
            await self._sweep()
        if self._unmerged is not None:
            self._merge(self._unmerged)
            self._unmerged = None
        for number in sorted(self._missing):
            await self._read_missing(number)
        self._gone, self._found_closed = self._found_closed, {}
        return self._known

    async def _sweep(self) -> None:
        """Read the other lists: they have other addresses, so an answer that stays old for ever at one is noticed."""
        found: dict[int, Issue] = {}
        if self._is_whole:
            every = {item.number: item for item in await self._issues.open()}
            found = {n: item for n, item in every.items() if n in self._known or self._is_marked(item)}
        else:
            for label in self._labels:
                found |= {item.number: item for item in await self._issues.labelled(label)}
            if self._assignee is not None:
                found |= {item.number: item for item in await self._issues.assigned(self._assignee.login)}
        found = {number: item for number, item in found.items() if self._concerns(item)}
        old = {number for number, item in found.items() if self._is_older(item)}
        doubted = old | (self._known.keys() - found.keys())
        self._missing |= dict.fromkeys(doubted, self._clock.boot() - DOUBT_SECONDS)
        found = {number: item for number, item in found.items() if number not in old}
        if any(self._known.get(number) != item for number, item in found.items()):
            self._known = self._known | found
        self._next_sweep = self._clock.boot() + SWEEP_SECONDS

    def _is_older(self, listed: Issue) -> bool:
        """Return whether a list shows another state of an item than the known one, and no newer: then it is read."""
        known = self._known.get(listed.number)
        return known is not None and known != listed and listed.updated_at <= known.updated_at

    def _merge(self, recent: tuple[Issue, ...]) -> None:
        """Take over the listed items at once."""
        listed = {issue.number: issue for issue in recent}
        self._notice(recent)
        self._versions = {number: issue.updated_at for number, issue in listed.items()}
        oldest = min(self._versions.values()) if len(recent) >= PAGE else None
        self._miss(listed, newer_than=oldest)
        for number in self._missing.keys() & listed.keys():
            del self._missing[number]
        ours = {number: issue for number, issue in listed.items() if self._concerns(issue)}
        known = self._known | {n: issue for n, issue in ours.items() if n in self._known or self._is_marked(issue)}
        self._known = known | {number: issue for number, issue in ours.items() if self._ties.belongs(issue, known)}

    def _miss(self, listed: Mapping[int, Issue], *, newer_than: datetime | None) -> None:
        """Have known items that the list lacks read, or just forget them. None: the list is the whole one."""
        for number in self._known.keys() - listed.keys():
            if newer_than is not None and self._known[number].updated_at <= newer_than:
                continue  # beyond the last row: the page says nothing about it
            if self._ties.needs_followup(self._known[number], listed):
                self._missing[number] = self._clock.boot()
            else:
                self.dismiss(number)

    async def _read_missing(self, number: int) -> None:
        """Read a missing item; list and item can both be stale with status 200: only a closed item is sure."""
        try:
            issue: Issue | None = await self._issues.issue(number)
        except NotShown:
            return  # it stays missing until the next look
        except Gone:
            issue = None
        if number not in self._missing:
            return  # it has ended by our own hand in the meantime
        if issue is not None and issue.open:
            if (shown := brief(issue)) != self._known.get(number):
                self._known = {**self._known, number: shown}
            if self._clock.boot() >= self._missing[number] + DOUBT_SECONDS:
                del self._missing[number]
            return
        del self._missing[number]
        if self._drop(number) and issue is not None:
            self._found_closed[number] = issue  # kept until a whole look succeeds, or it would not be told

    def _drop(self, number: int) -> bool:
        """Forget an item; return whether it was known. Copies the mapping: readers tell changes by its identity."""
        if number not in self._known:
            return False
        self._known = {other: issue for other, issue in self._known.items() if other != number}
        return True

    def _is_marked(self, issue: Issue) -> bool:
        if not folded(self._labels).isdisjoint(folded(issue.labels)):
            return True
        return self._assignee is not None and any(one.id == self._assignee.id for one in issue.assignees)
