"""Decisions that people are asked for, and bases that stay red: who waits since when, and which waits are too long."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from shared.labels import Labels
from shared.lock.codec import ItemKey
from shared.lock.port import Port, ReadFence
from shared.lock.record import Fence
from shared.models import Issue
from shared.workflow import Role, Stage

BY_ORDER = frozenset({"not_ordered", "own_order", "fork", "breaking", "protected", "disputed", "large"})
"""Why an approved pull request waits for `/merge`, in the words of its status comment."""


class StatusData(Protocol):
    """What a status comment says to programs."""

    async def data(self, number: int) -> Mapping[str, Any]: ...


RED_BASE = "red-base"
"""The reason in the fence of what waits for the checks of its base branch, and what of it people may have to mend."""

AGAIN = timedelta(hours=1)
"""So often the fence of an item that waits for nobody is read again: a wait for the base need not change the item."""

_CLOSES = re.compile(r"^Closes #(\d{1,10})\b", re.MULTILINE)
"""How a pull request names the issue under whose number its worker's fence stands."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A decision that is waited for since `at`: of a plan, a refactoring or a merge, or a red base that holds it up.

    `epoch` names what it is about.
    """

    number: int
    what: str
    epoch: str
    at: datetime

    def sentence(self, hours: float) -> str:
        """What people are told once it has waited for so long."""
        if self.what == RED_BASE:
            since = f"This has waited since the checks of the base branch were found red, {hours:g} hours ago or more"
            return f"{since}. It goes on by itself when they are green."
        return f"The {self.what} has waited for a decision for {hours:g} hours. It stays open."


class Approvals:
    """The waiting decisions of one kind of agent; a fence is read again only when its item has changed."""

    def __init__(self, role: Role, port: Port, names: Labels, status: StatusData, hours: float) -> None:
        self._role = role
        self._port = port
        self._names = names
        self._status = status
        self.hours = hours
        self._seen: dict[int, tuple[datetime, datetime, Asked | None]] = {}
        self._settled: set[tuple[int, str]] = set()

    async def overdue(self, known: Mapping[int, Issue], now: datetime) -> AsyncIterator[Asked]:
        """The decisions that have waited longer than configured, at server time `now`. Raises `Transient`."""
        waiting = {number: item for number, item in known.items() if self._may_wait(item)}
        self._seen = {number: seen for number, seen in self._seen.items() if number in waiting}
        for number, item in waiting.items():
            version, looked, asked = self._seen.get(number, (None, now, None))
            if version != item.updated_at or (asked is None and now - looked >= AGAIN):
                asked = await self._asked(item)
                self._seen[number] = item.updated_at, now, asked
            if asked is None or (asked.number, asked.epoch) in self._settled:
                continue
            if now - asked.at >= timedelta(hours=self.hours):
                yield asked

    def settle(self, late: Asked) -> None:
        """It was escalated: no more of this occasion."""
        self._settled.add((late.number, late.epoch))

    def _may_wait(self, item: Issue) -> bool:
        labels = self._names.read(item.labels)
        if self._role is Role.REVIEWER:
            return item.is_pull_request and labels.stages == {Stage.APPROVED}
        if self._role is Role.WORKER and labels.stages == {Stage.TESTING}:
            return not labels.story
        return labels.stages == {Stage.AWAITING_APPROVAL} and labels.story is (self._role is Role.PLANNER)

    async def _asked(self, item: Issue) -> Asked | None:
        number = item.number
        if self._role is Role.WORKER and item.is_pull_request:
            found = _CLOSES.search(item.body)
            if found is None:
                return None
            number = int(found[1])
        fence = (await self._port.request(ReadFence(ItemKey(self._role, number)))).value
        return None if fence is None else held_up(fence) or await self.wanted(fence)

    async def wanted(self, fence: Fence) -> Asked | None:
        """The decision that an item waits for: of a merge only where its status comment says that one is missing.

        Raises `Transient`, `Blocked`.
        """
        found = asked(fence)
        if found is None or found.what != "merge":
            return found
        why = (await self._status.data(found.number)).get("waiting")
        return found if isinstance(why, Mapping) and why.get("why") in BY_ORDER else None


def held_up(fence: Fence) -> Asked | None:
    """The red base that a fence waits for; None when it waits for none."""
    if fence.wait is None or fence.wait.reason != RED_BASE:
        return None
    return Asked(fence.key.number, RED_BASE, f"{RED_BASE}-{fence.work_head[:12]}", fence.at)


def asked(fence: Fence) -> Asked | None:
    """The decision that a fence at rest may wait for; None when it waits for none."""
    what = {
        (Role.PLANNER, Stage.AWAITING_APPROVAL): "plan",
        (Role.WORKER, Stage.AWAITING_APPROVAL): "refactoring",
        (Role.REVIEWER, Stage.APPROVED): "merge",
    }.get((fence.key.kind, fence.stage))
    if what is None:
        return None
    epoch = f"{what}-{fence.attempt}" if what == "plan" else f"{what}-{fence.work_head[:12]}"
    return Asked(fence.key.number, what, epoch, fence.at)
