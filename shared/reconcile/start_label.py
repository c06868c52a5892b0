"""The first label of a start: the reply to it shows if the order to start is still there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

import structlog

from shared.github.errors import NotShown
from shared.github.ports import Issues, LabelBoard
from shared.github.replica_lag import PATIENCE_SECONDS, PAUSES_SECONDS
from shared.lock.hold import Held
from shared.models import LabelEvent
from shared.reconcile.label_drift import newest_event
from shared.reconcile.lost import Item
from shared.workflow import Stage
from shared.workflow.labels import Labels, folded

log = structlog.get_logger()


@dataclass(slots=True)
class _BegunLabels:
    """The labels that this lease has set, once each, as pairs of item number and label.

    `doubts` holds, by item number and label, since when no event says who took off the label that asked for a start.
    """

    labels: set[tuple[int, str]] = field(default_factory=set)
    doubts: dict[tuple[int, str], datetime] = field(default_factory=dict)


class StartLabel:
    """Sets the first label of a start unless a person took the order back after it was read.

    Costs no request of its own: the label is set in any case, and GitHub answers with all that are there. The stage
    that asked for the start goes with the same request where GraphQL can be had.
    """

    def __init__(self, issues: Issues, board: LabelBoard, names: Labels) -> None:
        self._issues = issues
        self._board = board
        self._names = names

    async def label(self, held: Held, item: Item, request_label: str, stage: Stage) -> Item | None:
        """Set `stage` beside the label `request_label`; return the item as it is then, or None if `request_label` was
        taken off.

        If None, our label is gone again. An item that was read without `request_label` or with the stage, or that this
        lease has begun before, comes back as it is. Raises `NotShown` while it is unknown who took `request_label`
        off, which the next call asks again; `Transient`, and what `Held.check` does.
        """
        ours, known = self._names.of(stage), folded(item.labels)
        begun, doubt = _begun_labels(held), (item.number, request_label.casefold())
        begins = doubt in begun.doubts or (request_label.casefold() in known and ours.casefold() not in known)
        if (item.number, ours) in begun.labels or not begins:
            return item
        labels, left = await self._exchange(item.number, ours, request_label, held)
        if request_label.casefold() not in folded(labels) and not await self._is_ours(held, *doubt):
            await self._board.remove(item.number, ours, held)
            log.info("start_not_wanted", outcome="skipped", number=item.number, label=request_label)
            return None
        begun.doubts.pop(doubt, None)
        begun.labels.add((item.number, ours))
        return replace(item, labels=left)

    async def _exchange(
        self, number: int, stage_label: str, request_label: str, held: Held
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Return all labels after ours was set, and those left: an asking stage label goes, a story label stays."""
        if self._names.read([request_label]).stages:
            return await self._board.exchange(number, stage_label, request_label, held)
        labels = await self._board.add(number, [stage_label], held)
        return labels, labels

    async def _is_ours(self, held: Held, number: int, request_label: str) -> bool:
        """Return the same as `was_us`; raise `NotShown` in doubt, while the list of events may be late."""
        newest, doubts = await self._newest_event(number, request_label), _begun_labels(held).doubts
        if newest is None or newest.added:
            since = doubts.setdefault((number, request_label), held.server_now())
            if (held.server_now() - since).total_seconds() < PATIENCE_SECONDS:
                raise NotShown(f"who took '{request_label}' off #{number}", PAUSES_SECONDS[0])
        doubts.pop((number, request_label), None)
        return _is_by_us(newest, held)

    async def was_us(self, held: Held, number: int, request_label: str, *, since: datetime | None = None) -> bool:
        """Return whether we removed the label ourselves: before this epoch, unseen by a stale read, or from `since` on.

        The account alone does not tell, because its owner may share it. A list of events that shows no
        removal yet is a doubt, which counts for the person.
        """
        return _is_by_us(await self._newest_event(number, request_label), held, since)

    async def _newest_event(self, number: int, label: str) -> LabelEvent | None:
        return newest_event(await self._issues.label_events(number), label)


def in_doubt(held: Held) -> bool:
    """Return whether a start may have been taken back, and it is unknown by whom."""
    return bool(_begun_labels(held).doubts)


def _is_by_us(newest: LabelEvent | None, held: Held, since: datetime | None = None) -> bool:
    if newest is None or newest.added:
        return False
    ours = newest.at <= held.fence.at or (since is not None and newest.at >= since)
    return newest.actor.id in held.claimant.accounts and ours


def _begun_labels(held: Held) -> _BegunLabels:
    return held.memory.get(_BegunLabels) or held.memory.keep(_BegunLabels())
