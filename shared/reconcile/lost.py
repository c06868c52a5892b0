"""Labels that vanished with their definition: nobody took them off, so nobody ordered anything."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

import structlog

from shared.models import Issue, LabelEvent, PullRequest
from shared.reconcile.labels import was_taken_off
from shared.workflow import Labels, Stage

Item = TypeVar("Item", Issue, PullRequest)

log = structlog.get_logger()

QUIET = timedelta(seconds=60)
"""GitHub's lists of events lag behind its items: an item that changed later than this may hide a removal."""


class Threads(Protocol):
    """What is asked about one item."""

    async def issue(self, number: int) -> Issue: ...

    async def label_events(self, number: int) -> tuple[LabelEvent, ...]: ...


class Definitions(Protocol):
    """What is asked about a repository's labels."""

    async def is_defined(self, stage: Stage) -> bool: ...


class LostLabels:
    """Tells a stage label that was lost from one that a person took off; a doubt counts for the person."""

    def __init__(self, threads: Threads, definitions: Definitions, names: Labels) -> None:
        self._threads = threads
        self._definitions = definitions
        self._names = names

    async def restored(self, item: Item, recorded: Stage | None, now: datetime) -> Item:
        """`item`, with the label of the `recorded` stage if that was lost; `now` is server time.

        Nothing is written. Asks GitHub only about an item without any stage label. Raises `Transient`.
        """
        if recorded is None or not item.open or self._names.read(item.labels).stages:
            return item
        label = self._names.of(recorded)
        if was_taken_off(await self._threads.label_events(item.number), label):
            return item
        if await self._definitions.is_defined(recorded):
            fresh = await self._threads.issue(item.number)
            if now - fresh.updated_at < QUIET:
                return item
        log.warning("label_lost", outcome="retrying", number=item.number, label=label)
        return replace(item, labels=item.labels | {label})
