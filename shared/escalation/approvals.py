"""Decisions that people are asked for, and items held up by failed checks and the like: which have waited too long."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from shared.errors import EngineError
from shared.github.ports import StatusComments
from shared.github.pulls import issue_named_by
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.lock.port import Port, ReadFence
from shared.models import Issue
from shared.newest import Newest
from shared.scheduling.order import exclusion_reason
from shared.workflow import Role, Stage
from shared.workflow.labels import Flag, Labels

log = structlog.get_logger()

BY_ORDER = frozenset(
    {
        "not_ordered",
        "own_order",
        "fork",
        "breaking",
        "protected",
        "unsigned",
        "unasked",
        "disputed",
        "large",
        "required",
        "no_ci",
        "taken_out",
        "reworded",
        "remarked",
    }
)
"""Reasons, as in its status comment, for which an approved pull request waits for people."""


HELD_UP = {
    "red-base": "This has waited for {hours:g} hours or more, since the checks of the base branch failed. "
    "It continues by itself when they pass.",
    "red-head": "This has waited for {hours:g} hours or more, since its checks failed again. It continues by "
    "itself when they pass.",
    "edited": "This has waited for {hours:g} hours or more, since its issue was found edited after its text was "
    "approved. The status comment says what to do.",
    "head_moved": "The review has waited for {hours:g} hours or more: commits were pushed, and nobody has asked "
    "for a review of them. The status comment says how.",
    "flagged": "This was approved {hours:g} hours ago or more and is not merged: a flag asks for a maintainer.",
    "resolved": "This was approved {hours:g} hours ago or more and is not merged: a conflict was resolved in it, and "
    "a maintainer has to check that.",
    "checks_red": "This was approved {hours:g} hours ago or more and is not merged: its checks fail.",
    "checks_missing": "This was approved {hours:g} hours ago or more and is not merged: it had no checks.",
}
"""Sentences for waits that end by themselves or never, and that nobody is asked about; shown if they last too long."""

_BY_FENCE = frozenset({"red-base", "red-head", "edited"})
"""The reasons of `HELD_UP` that are in fences; the others are in status comments of reviews."""

_OF_REVIEWS = frozenset({Stage.REVIEWING, Stage.IN_REVIEW, Stage.APPROVED})

AGAIN = timedelta(hours=1)
"""Interval after which the fence of an item that waits for nobody is read again: a wait may begin without a change."""


@dataclass(frozen=True, slots=True)
class PendingDecision:
    """A decision (plan, refactoring, merge) that is due since `at`, or the reason of `HELD_UP` that holds since then.

    `epoch` identifies the occasion.
    """

    number: int
    what: str
    epoch: str
    at: datetime

    @property
    def category(self) -> str:
        """`approval` if people have to decide, `held_up` if they should look at the reason."""
        return "held_up" if self.what in HELD_UP else "approval"

    def sentence(self, hours: float) -> str:
        """Return the sentence that tells people that it has waited for `hours`."""
        if self.what in HELD_UP:
            return HELD_UP[self.what].format(hours=hours)
        return f"The {self.what} has waited for a decision for {hours:g} hours. It stays open."


class Approvals:
    """The pending decisions of one kind of agent; a fence is read again only when its item has changed.

    Items younger than the limit are not read: none can have waited longer than it exists.
    """

    def __init__(
        self,
        role: Role,
        port: Port,
        names: Labels,
        status: StatusComments,
        hours: float,
        *,
        barring: Collection[str] = (),
    ) -> None:
        """`barring` are labels by which people keep an item from going on: they need no reminder of it."""
        self._role = role
        self._port = port
        self._names = names
        self._status = status
        self.hours = hours
        self._barring = barring
        self._seen: dict[int, tuple[datetime, datetime, PendingDecision | None]] = {}
        self._settled: Newest[tuple[int, str], None] = Newest()

    async def overdue(self, items: Mapping[int, Issue], now: datetime) -> AsyncIterator[PendingDecision]:
        """Yield the decisions that have waited longer than configured, at server time `now`."""
        late = timedelta(hours=self.hours)
        waiting = {n: item for n, item in items.items() if now - item.created_at >= late and self._may_wait(item)}
        self._seen = {number: seen for number, seen in self._seen.items() if number in waiting}
        for number, item in waiting.items():
            version, looked, asked = self._seen.get(number, (None, now, None))
            if version != item.updated_at or (asked is None and now - looked >= AGAIN):
                asked = await self._read_decision(item, now)
                self._seen[number] = item.updated_at, now, asked
            if asked is None or (asked.number, asked.epoch) in self._settled:
                continue
            if now - asked.at >= late:
                yield asked

    def settle(self, late: PendingDecision) -> None:
        """Remember that it was escalated: `overdue` yields it no more."""
        self._settled[late.number, late.epoch] = None

    def _may_wait(self, item: Issue) -> bool:
        labels = self._names.read(item.labels)
        if Flag.PAUSED in labels.flags or exclusion_reason(item.labels, self._barring):
            return False
        if self._role is Role.REVIEWER:
            return item.is_pull_request and len(labels.stages) == 1 and labels.stages <= _OF_REVIEWS
        if self._role is Role.WORKER and labels.stages == {Stage.TESTING}:
            return not labels.story
        return labels.stages == {Stage.AWAITING_APPROVAL} and labels.story is (self._role is Role.PLANNER)

    async def _read_decision(self, item: Issue, now: datetime) -> PendingDecision | None:
        """Return the decision that an item waits for; an error is logged, so that other items are still read."""
        try:
            return await self._find_decision(item, now)
        except EngineError as error:
            log.warning("approvals_not_looked_at", outcome="retrying", number=item.number, error=str(error))
            return None

    async def _find_decision(self, item: Issue, now: datetime) -> PendingDecision | None:
        number = item.number
        if self._role is Role.WORKER and item.is_pull_request:
            named = issue_named_by(item.body)
            if named is None:
                return None
            number = named
        fence = (await self._port.request(ReadFence(ItemKey(self._role, number)))).value
        if fence is None:
            return None
        held, decision = held_up(fence), pending_decision(fence)
        if held is not None or self._role is not Role.REVIEWER:
            return held or decision
        shown = self._names.read(item.labels).stages == {fence.stage}
        overdue = now - fence.at >= timedelta(hours=self.hours)  # before that, its thread need not be read
        return await self._of_review(fence, decision) if shown and overdue else None

    async def _of_review(self, fence: Fence, merge: PendingDecision | None) -> PendingDecision | None:
        reason = await self._waiting_reason(fence)
        if reason == "head_moved" or (merge is not None and reason in HELD_UP):
            return _decision_of(fence, reason)
        return merge if reason in BY_ORDER else None

    async def pending(self, fence: Fence) -> PendingDecision | None:
        """Return the decision that an item waits for; a merge only if its status comment says that one is missing.

        Raises `Transient`, `Blocked`.
        """
        found = pending_decision(fence)
        if found is None or found.what != "merge":
            return found
        return found if await self._waiting_reason(fence) in BY_ORDER else None

    async def _waiting_reason(self, fence: Fence) -> str:
        """Return the status comment's reason for waiting, if it is about the fence's commit; else empty."""
        data = await self._status.data(fence.key.number)
        waiting = data.get("waiting") if data.get("head") == fence.work_head else None
        return str(waiting.get("why", "")) if isinstance(waiting, Mapping) else ""


def held_up(fence: Fence) -> PendingDecision | None:
    """Return the wait of a fence that may never end and that nobody is asked about; None if there is none."""
    return _decision_of(fence, fence.wait.reason) if fence.wait is not None and fence.wait.reason in _BY_FENCE else None


def _decision_of(fence: Fence, waits_for: str) -> PendingDecision:
    return PendingDecision(fence.key.number, waits_for, f"{waits_for}-{fence.work_head[:12]}", fence.at)


def pending_decision(fence: Fence) -> PendingDecision | None:
    """Return the decision that a fence at rest may wait for; None if it waits for none."""
    waits_for = {
        (Role.PLANNER, Stage.AWAITING_APPROVAL): "plan",
        (Role.WORKER, Stage.AWAITING_APPROVAL): "refactoring",
        (Role.REVIEWER, Stage.APPROVED): "merge",
    }.get((fence.key.kind, fence.stage))
    if waits_for is None:
        return None
    return (
        PendingDecision(fence.key.number, waits_for, f"plan-{fence.attempt}", fence.at)
        if waits_for == "plan"
        else _decision_of(fence, waits_for)
    )
