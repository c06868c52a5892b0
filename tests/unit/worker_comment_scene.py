"""An issue and its fence."""

from __future__ import annotations

from datetime import UTC, datetime

from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.models import Account, Issue
from shared.workflow import Role, Stage

AT = datetime(2026, 1, 5, 10, 32, tzinfo=UTC)

FENCE = Fence(ItemKey(Role.WORKER, 42), 7, "ab" * 16, "worker-a1b2c3d4", Stage.IMPLEMENTING, AT, attempt=1)

ISSUE = Issue(42, "Search users", "", frozenset(), Account(1, "ada"), AT, AT)
