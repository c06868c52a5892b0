"""Items and their fences, as a sweep sees them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.models import Account, Issue
from shared.workflow import Role, Stage
from shared.workflow.labels import Labels

NOW = datetime(2026, 3, 1, tzinfo=UTC)

NAMES = Labels()

ADA, BOT = Account(7, "ada"), Account(99, "engine-bot")

READY, IMPLEMENTING, TESTING, REVIEWING = Stage.READY, Stage.IMPLEMENTING, Stage.TESTING, Stage.REVIEWING


def item(*labels: Stage | str, open: bool = True, locked: bool = False, closed: timedelta | None = None) -> Issue:
    names = frozenset(NAMES.of(one) if isinstance(one, Stage) else one for one in labels)
    at = NOW - timedelta(hours=1)
    return Issue(42, "T", "", names, ADA, at, at, open, locked, closed_at=None if closed is None else NOW - closed)


def fence(stage: Stage, *, role: Role = Role.WORKER, age: timedelta = timedelta(hours=1)) -> Fence:
    return Fence(ItemKey(role, 42), 7, "a" * 32, "agent-1", stage, NOW - age, oid="f" * 40)
