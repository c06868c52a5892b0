"""GitHub's ports of which nothing may be asked: a fake extends one and answers what its test expects, and no more."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from shared.lock.write_permit import WritePermit
from shared.models import Assignment, Blocker, Issue, LabelEvent


def unasked(what: str) -> AssertionError:
    """What a test fails with that asks for more than its fake answers."""
    return AssertionError(f"not asked for here: {what}")


class UnaskedIssues:
    """Issues."""

    async def recent(self) -> tuple[Issue, ...] | None:
        raise unasked("recent")

    async def open(self) -> tuple[Issue, ...]:
        raise unasked("open")

    async def labelled(self, label: str) -> tuple[Issue, ...]:
        raise unasked("labelled")

    async def assigned(self, login: str) -> tuple[Issue, ...]:
        raise unasked("assigned")

    async def created_by(self, login: str, since: datetime) -> tuple[Issue, ...]:
        raise unasked("created_by")

    async def issue(self, number: int) -> Issue:
        raise unasked("issue")

    async def named(self, number: int, at: datetime) -> Issue:
        raise unasked("named")

    async def blocked_by(self, number: int) -> tuple[Blocker, ...]:
        raise unasked("blocked_by")

    async def label_events(self, number: int) -> tuple[LabelEvent, ...]:
        raise unasked("label_events")

    async def assignments(self, number: int) -> tuple[Assignment, ...]:
        raise unasked("assignments")

    async def create(self, title: str, body: str, labels: Collection[str], permit: WritePermit) -> Issue:
        raise unasked("create")

    async def close(self, number: int, permit: WritePermit) -> Issue:
        raise unasked("close")

    async def retitle(self, number: int, title: str, permit: WritePermit) -> Issue:
        raise unasked("retitle")

    async def assign(self, number: int, login: str, permit: WritePermit) -> None:
        raise unasked("assign")

    async def unassign(self, number: int, login: str, permit: WritePermit) -> None:
        raise unasked("unassign")
