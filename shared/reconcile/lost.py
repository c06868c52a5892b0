"""Lost labels: they vanished with their definition, or by a late write of ours; nobody ordered it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

import structlog

from shared.errors import EngineError, NotAllowed, Transient
from shared.github.ports import Issues, LabelBoard
from shared.lock.write_permit import OperatorPermit
from shared.models import Issue, LabelEvent, PullRequest
from shared.reconcile.label_drift import is_half_a_move, was_taken_off
from shared.workflow import UNLABELLED, Stage
from shared.workflow.labels import Labels

Item = TypeVar("Item", Issue, PullRequest)

log = structlog.get_logger()

QUIET = timedelta(seconds=60)
"""Time by which GitHub's lists of events may lag behind its items: a later change of an item may hide a removal."""

START = OperatorPermit("start of an agent")
"""Permit to create labels: whoever starts an agent wants its labels to exist."""


class LostLabels:
    """Distinguishes a lost stage label from one that a person took off; a doubt counts for the person.

    `ours` are the ids of the engine's accounts, `before` the stages from which an agent of this kind moves to one.
    """

    def __init__(
        self,
        issues: Issues,
        board: LabelBoard,
        names: Labels,
        ours: Collection[int],
        before: Callable[[Stage], frozenset[Stage]],
    ) -> None:
        self._issues = issues
        self._board = board
        self._names = names
        self._ours = ours
        self._before = before

    async def restored(self, item: Item, recorded: Stage | None, now: datetime) -> Item:
        """Return `item`, with the label of the `recorded` stage if that was lost; `now` is server time.

        Nothing is written. Asks GitHub only about an item without any stage label. Raises `Transient`.
        """
        if recorded is None or not item.open or self._names.read(item.labels).stages:
            return item
        label = self._names.of(recorded)
        events = await self._issues.label_events(item.number)
        halved = is_half_a_move(self._of_stages(events), self._old(recorded), self._ours)
        if not halved and was_taken_off(events, label):
            return item
        if halved or await self._board.is_defined(recorded):
            fresh = await self._issues.issue(item.number)
            if now - fresh.updated_at < QUIET:
                if halved:
                    raise Transient("A label of ours was taken off late; its events are read again in a minute.")
                return item
        log.warning("label_lost", outcome="retrying", number=item.number, label=label)
        return replace(item, labels=item.labels | {label})

    def _of_stages(self, events: tuple[LabelEvent, ...]) -> tuple[LabelEvent, ...]:
        stages = {self._names.of(stage).casefold() for stage in Stage if stage not in UNLABELLED}
        return tuple(event for event in events if event.label.casefold() in stages)

    def _old(self, recorded: Stage) -> frozenset[str]:
        return frozenset(self._names.of(stage) for stage in self._before(recorded) - UNLABELLED - {recorded})


async def restore_definitions(board: LabelBoard, repository: str) -> None:
    """Define the labels that `repository` lacks, once; a refusal becomes one instruction in the log, never an error."""
    try:
        created = await board.create_all(START)
    except NotAllowed as error:
        log.error(
            "labels_missing",
            outcome="failed",
            repo=repository,
            error=str(error),
            next_step="run `workflow-engine init` with a token that may write issues, or create the labels by hand",
        )
    except EngineError as error:
        log.warning("labels_not_looked_at", outcome="skipped", repo=repository, error=str(error))
    else:
        if created:
            log.warning("labels_restored", outcome="completed", repo=repository, labels=list(created))
