"""Issue, pull request and fence on which the worker decides."""

from __future__ import annotations

from datetime import UTC, datetime

from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.models import Account, PullRequest
from shared.workflow import Role, Stage
from shared.workflow.labels import Labels

AT = datetime(2026, 1, 5, tzinfo=UTC)

NAMES = Labels()

BOT = Account(99, "engine-bot")


def pull(*labels: Stage, open: bool = True, merged: bool = False, branch: str = "auto/issue-42") -> PullRequest:
    names = frozenset(map(NAMES.of, labels))
    return PullRequest(57, "Title", "", BOT, names, branch, "b" * 40, "main", open, merged)


def fence(stage: Stage, phase: str = "", *, attempt: int = 0, round: int = 0, pr: int = 0) -> Fence:
    return Fence(
        ItemKey(Role.WORKER, 42), 7, "a" * 32, "worker-1", stage, AT, phase=phase, attempt=attempt, round=round, pr=pr
    )
