"""The first label of a start: the reply to it says whether what asked for the start is still there."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime

import structlog

from shared.github.ports import Issues, LabelBoard
from shared.lock.hold import Held
from shared.reconcile.lost import Item
from shared.workflow import Stage
from shared.workflow.labels import Labels

log = structlog.get_logger()


@dataclass(slots=True)
class _Begun:
    """The stages whose labels this lease has set, each once: item and label."""

    labels: set[tuple[int, str]] = field(default_factory=set)


class StartLabel:
    """Between the reading that led to a start and its first label, a person may have taken the order back.

    Costs no request of its own: the label is set in any case, and GitHub answers with all that are there. The stage
    that asked for the start goes with the same request where GraphQL can be had.
    """

    def __init__(self, issues: Issues, board: LabelBoard, names: Labels) -> None:
        self._issues = issues
        self._board = board
        self._names = names

    async def label(self, held: Held, item: Item, asked: str, stage: Stage) -> Item | None:
        """Set `stage` beside the label `asked`; the item as it is then, or None when `asked` was taken off meanwhile.

        Then our label is gone again. An item that was read without `asked` or with the stage, or that this
        lease has begun before, comes back as it is. Raises `Transient`, and what `Held.check` does.
        """
        ours, known = self._names.of(stage), _folded(item.labels)
        begun = held.memory.get(_Begun) or held.memory.keep(_Begun())
        if (item.number, ours) in begun.labels or asked.casefold() not in known or ours.casefold() in known:
            return item
        labels, left = await self._exchanged(item.number, ours, asked, held)
        if asked.casefold() not in _folded(labels) and not await self.was_us(held, item.number, asked):
            await self._board.remove(item.number, ours, held)
            log.info("start_not_wanted", outcome="skipped", number=item.number, label=asked)
            return None
        begun.labels.add((item.number, ours))
        return replace(item, labels=left)

    async def _exchanged(self, number: int, ours: str, asked: str, held: Held) -> tuple[frozenset[str], frozenset[str]]:
        """All labels when ours was set, and what is left: a stage that asked for the start goes, a story stays one."""
        if self._names.read([asked]).stages:
            return await self._board.exchange(number, ours, asked, held)
        labels = await self._board.add(number, [ours], held)
        return labels, labels

    async def was_us(self, held: Held, number: int, asked: str, *, since: datetime | None = None) -> bool:
        """Whether the removal is our own, from before this epoch: a stale reading had not shown it. Or `since` then.

        The account alone does not tell, because its owner may share it. A list of events that shows no
        removal yet is a doubt, which counts for the person.
        """
        events = await self._issues.label_events(number)
        newest = next((event for event in reversed(events) if event.label.casefold() == asked.casefold()), None)
        if newest is None or newest.added:
            return False
        ours = newest.at <= held.fence.at or (since is not None and newest.at >= since)
        return newest.actor.id in held.claimant.accounts and ours


def _folded(names: Collection[str]) -> frozenset[str]:
    return frozenset(name.casefold() for name in names)
