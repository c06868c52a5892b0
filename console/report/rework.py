"""Rework: repairs within a week after a merge, judged by the base branch's history (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from console.report.item import Item

WINDOW = timedelta(days=7)
"""Time after a merge in which a repair counts as rework."""

_FIX = re.compile(r"(?:\[[^\]]*\]\s*)?(?:(?:hot|bug)?fix(?:es|ed|up)?|revert(?:s|ed)?)\b", re.IGNORECASE)
_REPAIR = "Fix CI for "
"""Beginning of the subject of the engine's own commits that get the checks of their pull request green."""

_REVERTS = re.compile(r"This reverts commit ([0-9a-f]{7,64})")


class Reason(StrEnum):
    """Reason why a merged item counts as reworked."""

    REVERTED = "reverted"
    TURNED_RED = "turned its base red"
    FIXED = "fixed"
    REOPENED = "reopened"


@dataclass(frozen=True, slots=True)
class Landed:
    """One commit of the base branch, with the files that it changed."""

    oid: str
    at: datetime
    message: str
    files: frozenset[str] = frozenset()

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]


def read(output: str) -> tuple[Landed, ...]:
    """Parse the output of `git log` in the layout `LAYOUT`, oldest first; entries that do not parse are left out."""
    found = []
    for entry in output.split("\x01")[1:]:
        parts = entry.split("\x02")
        if len(parts) == 4:
            files = frozenset(name for name in parts[3].strip("\0\n").split("\0") if name.strip())
            found.append(Landed(parts[0], datetime.fromisoformat(parts[1]), parts[2], files))
    return tuple(found[::-1])


LAYOUT = "%x01%H%x02%cI%x02%B%x02"
"""For `git log --format`, with the names of files after it, each ended by NUL."""


def rework(
    merged: Iterable[Item], history: Sequence[Landed], red: Collection[int] = frozenset()
) -> Mapping[int, Reason]:
    """Return the items that were repaired within `WINDOW` of their merge, with the reason.

    `history` is the base's, oldest first; `red` are the pull requests of which the reviewer found that their merge had
    turned the base's checks red.
    """
    reasons = ((item.number, _reason(item, history, red)) for item in merged)
    return {number: reason for number, reason in reasons if reason is not None}


def _reason(item: Item, history: Sequence[Landed], red: Collection[int]) -> Reason | None:
    changed = _repair_in_history(item, history)
    if changed is not Reason.REVERTED and item.pull_request in red:
        return Reason.TURNED_RED
    reopened = item.reopened_at
    again = reopened is not None and reopened - item.ended_at <= WINDOW
    return changed or (Reason.REOPENED if again else None)


def _repair_in_history(item: Item, history: Sequence[Landed]) -> Reason | None:
    """Return REVERTED or FIXED if later commits of the base reverted or repaired the item's own; else None."""
    own = [place for place, commit in enumerate(history) if _is_of(item, commit)]
    if own:
        files = frozenset().union(*(history[place].files for place in own))
        oids, subjects = [history[place].oid for place in own], [history[place].subject for place in own]
        end = history[own[-1]].at + WINDOW
        later = [commit for commit in history[own[-1] + 1 :] if commit.at <= end]
        if any(_undoes(commit, oids, subjects) for commit in later):
            return Reason.REVERTED
        if any(_mends(commit) and commit.files & files for commit in later):
            return Reason.FIXED
    return None


def _is_of(item: Item, commit: Landed) -> bool:
    """Return whether a commit is the item's: a squash or merge names the pull request, a rebased commit its issue."""
    if not item.pull_request:
        return False
    named = commit.subject.rstrip().endswith(f"(#{item.pull_request})")
    merge = commit.subject.startswith(f"Merge pull request #{item.pull_request} ")
    lines = commit.message.splitlines()
    phase = f"Issue: #{item.number}" in lines and any(line.startswith("Agent: ") for line in lines)
    return named or merge or phase


def _undoes(commit: Landed, oids: Sequence[str], subjects: Sequence[str]) -> bool:
    named = _REVERTS.findall(commit.message)
    if any(oid.startswith(one) for one in named for oid in oids):
        return True
    return any(commit.subject.startswith(f'Revert "{subject}"') for subject in subjects)


def _mends(commit: Landed) -> bool:
    return _FIX.match(commit.subject) is not None and not commit.subject.startswith(_REPAIR)
