"""One agent's use of the lock: look, claim, hold, and watch over held items."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Protocol

import structlog

from shared.budget.budgets import Shortage
from shared.errors import Gone
from shared.lock.claim import Intent, claim
from shared.lock.claimant import Claimant
from shared.lock.codec import ItemKey
from shared.lock.fence import Wait
from shared.lock.hold import Held
from shared.lock.lease import Lease
from shared.lock.port import Port, ReadFence
from shared.lock.scope import hold
from shared.lock.view import LockView, observe
from shared.models import Issue
from shared.retry.failures import Category
from shared.scheduling.agent_contract import Claim, Skip
from shared.workflow import Role, Stage

log = structlog.get_logger()

Order = Callable[[Issue, Held], str | None]
"""Returns the order of a person that an item shows to its holder; None if it shows none."""


PAYING = frozenset({Stage.PLANNING, Stage.IMPLEMENTING, Stage.IN_REVIEW})
"""Stages whose first step is a paid run; work that begins in other stages can do much without one."""

SHORT_SECONDS = 900.0
"""Longest pause in seconds for an item without money: a person may have raised the limit meanwhile."""

PATIENT_SECONDS = 5.0
"""Seconds that a claim may wait for its turn to write."""

OLD_LOOK_SECONDS = 5.0
"""Age in seconds from which the fence is read again before a claim: while GitHub answers slowly, another agent may have
begun. Reading a fence is not charged."""

PACED_SECONDS = 300.0
"""Longest pause in seconds for an item while writes have to wait: the process's share may have become larger."""

LOST, OVERTAKEN = "another agent won the claim", "another agent has claimed it meanwhile"
"""Reasons to skip an item that another agent has claimed since the look: found by the push, or right before it."""

_WHAT = {Role.PLANNER: "story", Role.WORKER: "issue", Role.REVIEWER: "pull request"}
"""Noun for the items of each kind of agent."""


class BudgetCheck(Protocol):
    """Check that a run could be paid for."""

    async def shortage(self, number: int) -> Shortage | None:
        """Return why no run for this item could be paid for now; None if one could."""
        ...


class Claims:
    """The claims of one agent in one repository; every decision is in the log.

    Without a `budget_check` nothing that it begins costs money.
    """

    def __init__(self, role: Role, port: Port, claimant: Claimant, budget_check: BudgetCheck | None = None) -> None:
        self._role = role
        self.port = port
        self.claimant = claimant
        self._budget_check = budget_check
        self._holding: dict[ItemKey, Held] = {}

    @property
    def numbers(self) -> frozenset[int]:
        """Numbers of the items that are held now."""
        return frozenset(key.number for key in self._holding)

    @property
    def holding(self) -> Mapping[ItemKey, Held]:
        """Live mapping of the held items to their proofs, until each is released."""
        return self._holding

    async def look(self, number: int) -> LockView | Skip:
        """Return the view of an item's lock, or a `Skip` if it cannot be claimed just now. Raises `Transient`.

        Skips if the claim would wait long for its turn to write: the loop has held items to look after.
        """
        if (seconds := self.claimant.delay()) > PATIENT_SECONDS:
            return Skip("this process's share of GitHub's limits on writes is used up", min(seconds, PACED_SECONDS))
        breaker = self.claimant.breaker
        if breaker.is_open and (left := breaker.remaining_seconds(self.port.boot())):
            return Skip(f"the git server refuses fences: {breaker.why}", left, failed=True)
        view = await observe(self.port, ItemKey(self._role, number), self.claimant)
        _log_view(view)
        other = view.other_holder
        return Skip(f"{other} holds it", view.again) if other else view

    async def prepare(self, view: LockView, intent: Intent | Skip | str) -> Claim | Skip:
        """Return the claim of the item that `view` shows; a sentence instead of an intent is the reason to skip it."""
        if isinstance(intent, str):
            return Skip(intent, self.claimant.times.timeout)
        if isinstance(intent, Skip):
            return intent
        wait = _current_wait(view, intent)
        left = (
            await self._skip_shortage(view, intent, wait)
            if wait is None or wait.reason == Category.PERIOD_BUDGET
            else _skip_until(view, wait)
        )
        return left if left is not None else partial(self._claim, view, intent)

    async def _claim(self, view: LockView, intent: Intent) -> Lease | Skip:
        if await self._is_overtaken(view):
            return Skip(OVERTAKEN)
        lease = await claim(self.port, view, self.claimant, intent)
        _log_claim(view, lease)
        return lease or Skip(LOST)

    async def _is_overtaken(self, view: LockView) -> bool:
        """Return whether the fence has moved since an old look; this only ends claims that the push would lose.

        Raises what reading a fence raises.
        """
        if self.port.boot() - view.asked_at < OLD_LOOK_SECONDS:
            return False
        fence = (await self.port.request(ReadFence(view.key))).value
        moved = (fence.oid if fence else "") != (view.fence.oid if view.fence else "")
        if moved:
            log.debug("claim_overtaken", lock=view.key.ref)
        return moved

    async def _skip_shortage(self, view: LockView, intent: Intent, wait: Wait | None) -> Skip | None:
        """Return a `Skip` if work that begins with a paid run, or has a `wait` for money, cannot be paid for now.

        Such a wait only informs: it is over as soon as there is money. If only a person can provide money, the
        claim goes on: the reservation refuses the run at no cost, and the person is told.
        """
        pays = wait is not None or intent.stage in PAYING
        check = self._budget_check
        short = await check.shortage(view.key.number) if check is not None and pays else None
        if short is None or (short.until is None and not _just_refused(view, wait)):
            return None
        seconds = (short.until - view.at).total_seconds() if short.until else SHORT_SECONDS
        return Skip(short.sentence, min(max(seconds, 1.0), SHORT_SECONDS))

    @asynccontextmanager
    async def hold(self, lease: Lease) -> AsyncIterator[Held]:
        """Hold the lease for the length of the block; meanwhile `revoked` watches over the item."""
        key = lease.fence.key
        try:
            async with hold(self.port, lease, self.claimant) as held:
                self._holding[key] = held
                yield held
        finally:
            self._holding.pop(key, None)

    def held(self, number: int) -> Held | None:
        """Return the proof for an item, None if we do not hold it."""
        return self._holding.get(ItemKey(self._role, number))

    async def revoked(
        self, number: int, listed: Issue | None, read: Callable[[Held], Awaitable[Issue]], order: Order
    ) -> str | None:
        """Return the order that ends the work on a held item. Lists only hint: the item is read first."""
        held = self.held(number)
        if held is None or (listed is not None and not order(listed, held)):
            return None
        try:
            return order(await read(held), held)
        except Gone:
            return f"the {_WHAT[self._role]} is gone"


def _current_wait(view: LockView, intent: Intent) -> Wait | None:
    """Return the fence's wait if it concerns what `intent` begins; a person's new order does not wait."""
    fence = view.fence
    if fence is None or fence.wait is None or fence.wait.until <= view.at:
        return None
    same = (intent.stage, intent.phase, intent.attempt, intent.round) == (fence.stage, fence.phase, None, None)
    return fence.wait if same else None


def _skip_until(view: LockView, wait: Wait) -> Skip:
    until = f"{wait.until:%Y-%m-%d %H:%M:%S} UTC"
    return Skip(f"waits until {until}: {wait.reason}", (wait.until - view.at).total_seconds())


def _just_refused(view: LockView, wait: Wait | None) -> bool:
    """Return whether a reservation has just made the item wait.

    Its wait ends before the shortage that the budget check names: the two are about different limits.
    """
    fence = view.fence
    return wait is not None and fence is not None and (view.at - fence.at).total_seconds() < SHORT_SECONDS


def _log_view(view: LockView) -> None:
    """Log one view of a lock, with the server's time."""
    log.debug(
        "lock_seen",
        lock=view.key.ref,
        server_time=view.at.isoformat(),
        standing=str(view.standing),
        holder=view.agent,
        again_seconds=round(view.again),
        fence=view.fence.oid[:12] if view.fence else "",
        epoch=view.fence.epoch if view.fence else 0,
        comment=view.fence.ack_id if view.fence else 0,
    )


def _log_claim(view: LockView, lease: Lease | None) -> None:
    """Log the result of a claim, and the reason if it was lost."""
    if lease is None:
        log.debug("claim_lost", lock=view.key.ref, reason="the fence had moved")
    else:
        log.debug(
            "claim_won", lock=view.key.ref, epoch=lease.fence.epoch, comment=lease.ack.id, fence=lease.fence.oid[:12]
        )
