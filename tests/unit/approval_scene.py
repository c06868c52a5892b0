"""Items that wait for people, and whom it is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from fakes.unasked import UnaskedReplies, UnaskedStatus

from shared.errors import Blocked
from shared.escalation.approvals import Approvals
from shared.escalation.delivery import Escalation
from shared.escalation.notifier import Notifier, Whom
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, Wait
from shared.lock.port import Operation, ReadFence, Reply
from shared.models import Account, Issue
from shared.workflow import Role, Stage
from shared.workflow.labels import Labels

AT = datetime(2026, 1, 5, tzinfo=UTC)

STORY = Issue(7, "Title", "", frozenset({"story", "status:awaiting-approval"}), Account(1, "ada"), AT, AT)

PLAN = Fence(ItemKey(Role.PLANNER, 7), 5, "n" * 32, "planner-a", Stage.AWAITING_APPROVAL, AT, attempt=2)


@dataclass
class World(UnaskedStatus, UnaskedReplies):
    """A fence, a status comment, what was posted and what was put into the outbox."""

    fence: Fence | None = PLAN
    waiting: str = ""
    said_of: str = "a" * 40
    now: datetime = AT
    asked: int = 0
    read: int = 0
    broken: int = 0
    """The number of an item whose fence cannot be read."""
    posted: dict[str, str] = field(default_factory=dict)
    sent: dict[str, Escalation] = field(default_factory=dict)

    async def request(self, operation: Operation[Any]) -> Reply[Any]:
        assert isinstance(operation, ReadFence)
        self.asked += 1
        if operation.item.number == self.broken:
            raise Blocked("the fence of #3 cannot be read")
        return Reply(self.fence, self.now)

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nobody waits here")

    def boot(self) -> float:
        return 0.0

    async def data(self, number: int) -> Mapping[str, Any]:
        self.read += 1
        return {"head": self.said_of, "waiting": {"why": self.waiting}} if self.waiting else {}

    async def once(self, number: int, purpose: str, text: str, mention: Sequence[str] = ()) -> bool:
        fresh = purpose not in self.posted
        self.posted.setdefault(purpose, text)
        return fresh

    def put(self, escalation: Escalation) -> None:
        self.sent.setdefault(escalation.id, escalation)


class Port:
    """The world as a lock's port."""

    def __init__(self, world: World) -> None:
        self.request, self.sleep, self.boot = world.request, world.sleep, world.boot

    def now(self) -> float:
        return 0.0


def alarm(world: World, role: Role = Role.PLANNER) -> Notifier:
    approvals = Approvals(role, Port(world), Labels(), world, 24.0, barring=("do-not-merge",))
    return Notifier(world, world, approvals, Whom("ada/directory", "https://h/ada/directory"), lambda: world.now)


BASE = replace(
    PLAN, key=ItemKey(Role.WORKER, 7), stage=Stage.TESTING, work_head="a" * 40, wait=Wait("red-base", AT + timedelta(1))
)

TESTING = replace(STORY, labels=frozenset({"status:testing"}))

MERGE = replace(BASE, key=ItemKey(Role.REVIEWER, 7), stage=Stage.APPROVED)

APPROVED = replace(TESTING, labels=frozenset({"status:approved"}), is_pull_request=True)
