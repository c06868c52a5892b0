"""Fences and notes from which a report is made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from console.history.fences import Chain
from console.report.item import Item, items
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.workflow import Role, Stage

START = datetime(2026, 11, 1, 10, 0, tzinfo=UTC)

WORKER, REVIEWER = ItemKey(Role.WORKER, 7), ItemKey(Role.REVIEWER, 9)

IMPLEMENTING, TESTING, REVIEWING = Stage.IMPLEMENTING, Stage.TESTING, Stage.REVIEWING

IN_REVIEW, APPROVED, ASKED, DONE = Stage.IN_REVIEW, Stage.APPROVED, Stage.CHANGES_REQUESTED, Stage.DONE

Said = tuple[int, Stage] | tuple[int, Stage, dict[str, Any]]
"""Minutes after the start, the stage, and other fields of a fence."""


def chain(key: ItemKey, *said: Said, foreign: tuple[str, ...] = ()) -> Chain:
    more: dict[str, Any] = {"pr": 9} if key.kind is Role.WORKER else {}
    fences = tuple(
        Fence(
            key, 1, "a" * 32, "x", one[1], START + timedelta(minutes=one[0]), **more | (one[2] if len(one) > 2 else {})
        )
        for one in said
    )
    return Chain(fences, foreign)


WORK: tuple[Said, ...] = ((0, IMPLEMENTING), (20, TESTING, {"attempt": 1}), (30, REVIEWING, {"attempt": 1}))

REVIEW: tuple[Said, ...] = ((30, IN_REVIEW), (36, APPROVED), (40, DONE))


def item(
    work: tuple[Said, ...] = (*WORK, (40, DONE, {"attempt": 1})), review: tuple[Said, ...] = REVIEW, **more: Any
) -> Item:
    chains = {WORKER: chain(WORKER, *work, **more)}
    if review:
        chains[REVIEWER] = chain(REVIEWER, *review)
    (found,) = items(chains)
    return found
