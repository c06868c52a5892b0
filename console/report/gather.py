"""Reads what a report is made of with one fetch: fences, notes, the ledger, and the base branch's history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from console.history import accounts, fences
from console.history.fences import MOST_BYTES
from console.history.repository_reader import OpenRepository
from console.report.figures import Facts, within
from console.report.item import Item, Outcome, items, stories
from console.report.rework import LAYOUT, Landed, read, rework
from shared.git import notes
from shared.git.command import Identity
from shared.git.mirror import BRANCHES, Mirror
from shared.git.notes import Note, Notes
from shared.lock.codec import FENCE_NAMESPACE

NOTES = "refs/notes/workflow"

SLACK = timedelta(days=1)
"""How long before the first merge the base's history is read: commits are dated by others' clocks."""

_NOBODY = Identity("", "")
"""Reading notes needs no name."""


@dataclass(frozen=True, slots=True)
class _Told:
    costs: dict[int, float | None]
    setbacks: dict[str, int]


async def gathered(visit: OpenRepository, since: datetime) -> Facts:
    """Everything since a time (server's). Raises `Transient` and `Blocked`."""
    mirror, until = visit.mirror, visit.server_time()
    spaces = (f"+{space}/*:{space}/*" for space in (FENCE_NAMESPACE, NOTES))
    await mirror.fetch(BRANCHES, *spaces)
    chains = await fences.chains(mirror)
    found = items(chains)
    merged = [item for item in within(found, since, until) if item.outcome is Outcome.MERGED]
    told = await _noted(visit, merged)
    base = visit.configured.base_branch or visit.hub.repository.default_branch
    return Facts(
        since=since,
        until=until,
        items=found,
        stories=stories(chains),
        rework=rework(merged, await _history(mirror, base, merged)),
        ledger=await accounts.entries(mirror, whole=True),
        notes=told.costs,
        setbacks=told.setbacks,
    )


async def _history(mirror: Mirror, base: str, merged: Sequence[Item]) -> tuple[Landed, ...]:
    """The base's own commits since the first merge, each with what it changed there."""
    if not merged or await mirror.tip(base) is None:
        return ()
    start = min(item.ended_at for item in merged) - SLACK
    verb = ("log", "--first-parent", "--diff-merges=first-parent", "-z", "--name-only", "--no-renames")
    span = (f"--format={LAYOUT}", f"--since-as-filter={start.isoformat()}", f"refs/heads/{base}", "--")
    return read((await mirror.git.run(*verb, *span, cap=MOST_BYTES)).stdout.decode("utf-8", "replace"))


async def _noted(visit: OpenRepository, merged: Iterable[Item]) -> _Told:
    """What the authentic notes of merged items say; of those that another key has signed nothing."""
    told, setbacks = Notes(visit.mirror.git, _NOBODY), Counter[str]()
    costs: dict[int, float | None] = {}
    for item in merged:
        texts = await told.all(f"{NOTES}/issue-{item.number}")
        found = [note for text in texts.values() if (note := notes.read(text, visit.keys)) is not None]
        costs[item.number] = _cost(found)
        setbacks.update(error.type for note in found for error in (note.error, *note.rolled_back) if error is not None)
    return _Told(costs, dict(setbacks))


def _cost(found: Sequence[Note]) -> float | None:
    """None where there is no note, or one of a phase whose cost nobody knows."""
    known = [note.cost_usd for note in found if note.cost_usd is not None]
    return sum(known) if found and len(known) == len(found) else None
