"""Issues that name the same files are built one after the other: the issue that each one waits for, and how long."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from shared.models import Issue
from shared.scheduling.order import urgency
from shared.specification import touched
from shared.workflow import Stage
from shared.workflow.labels import Labels

BEGUN = frozenset({Stage.IMPLEMENTING, Stage.TESTING, Stage.AWAITING_APPROVAL, Stage.REVIEWING})
"""Stages of an issue whose work will be merged if nothing happens; work that was given up blocks nothing."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """An issue waits for issue `on`, because both name `files`."""

    on: int
    files: tuple[str, ...]


def find_sharing(number: int, files: Collection[str], others: Iterable[Issue], names: Labels) -> Sharing | None:
    """Return the oldest begun issue among `others` that names one of `files`; None if there is none."""
    sharing = (Sharing(one.number, _shared_files(one, files)) for one in others if _is_begun(one, names))
    found = (one for one in sharing if one.files and one.on != number)
    return min(found, key=lambda one: one.on, default=None)


class SameFiles:
    """Remembers which issue waits for which. An issue that an agent is about to begin counts as begun."""

    def __init__(self, names: Labels, priorities: tuple[str, ...]) -> None:
        self._names = names
        self._priorities = priorities
        self._known: Mapping[int, Issue] = {}
        self._beginning: set[int] = set()
        self._waiting: dict[int, Sharing] = {}
        self._freed: dict[int, int] = {}

    def note_start(self, number: int, *, begins: bool) -> None:
        """Record whether an issue was beginning, by any agent, at the last look."""
        (self._beginning.add if begins else self._beginning.discard)(number)

    def first(self, issue: Issue) -> tuple[Sharing, bool] | None:
        """Return the issue that has to be merged before this one begins, and whether that is new; None for none."""
        before = self._waiting.pop(issue.number, None)
        if not (files := touched(issue.body)):
            return None
        ahead = [one for one in self._known.values() if self._is_ahead(one, issue)]
        found = find_sharing(issue.number, files, self._known.values(), self._names) or self._next(ahead, files)
        if found is None:
            return None
        self._waiting[issue.number] = found
        return found, found != before

    def look(self, known: Mapping[int, Issue]) -> None:
        """Look in the list of open items whether blockers have gone, or do not name the files any more."""
        if known is self._known:
            return
        self._known = known
        self._beginning &= known.keys()
        self._freed = {number: times for number, times in self._freed.items() if number in known}
        for number, sharing in tuple(self._waiting.items()):
            other = known.get(sharing.on)
            if other is None or not (self._stands(other) and _shared_files(other, sharing.files)):
                del self._waiting[number]
                self._freed[number] = self._freed.get(number, 0) + 1

    def times_freed(self, number: int) -> int:
        """Return how often a blocker of this issue has gone: a new number means that the issue is worth a look."""
        return self._freed.get(number, 0)

    def _stands(self, other: Issue) -> bool:
        return _is_begun(other, self._names) or self._begins(other)

    def _begins(self, item: Issue) -> bool:
        ready = Stage.READY in self._names.read(item.labels).stages
        return item.number in self._beginning and ready and item.open and not item.is_pull_request

    def _is_ahead(self, other: Issue, issue: Issue) -> bool:
        if other.number == issue.number or not self._begins(other):
            return False
        return urgency(other, self._priorities) < urgency(issue, self._priorities)

    def _next(self, ahead: Iterable[Issue], files: Collection[str]) -> Sharing | None:
        ordered = sorted(ahead, key=lambda one: urgency(one, self._priorities))
        sharing = (Sharing(one.number, _shared_files(one, files)) for one in ordered)
        return next((one for one in sharing if one.files), None)


def _is_begun(item: Issue, names: Labels) -> bool:
    labels = names.read(item.labels)
    return item.open and not item.is_pull_request and not labels.story and bool(labels.stages & BEGUN)


def _shared_files(item: Issue, files: Collection[str]) -> tuple[str, ...]:
    return tuple(path for path in item.files if path in files)
